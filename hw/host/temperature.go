package host

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pinch/agent/command"
	"pinch/channels"
	"pinch/hw"
)

// Names of sensors of the processor, best first, as the kernel's drivers give them.
var processorNames = []string{
	"cpu-thermal", "cpu_thermal", "x86_pkg_temp", "coretemp", "k10temp", "zenpower", "soc-thermal", "soc_thermal",
	"cpu0-thermal", "cpu-0-0-thermal", "bigcore0-thermal",
}

// otherNames are sensors of something else, which is often much cooler or hotter than the processor.
var otherNames = []string{
	"nvme", "drivetemp", "iwlwifi", "ath", "mt79", "bat", "rp1", "gpu", "amdgpu", "pmic", "jc42", "spd", "r8169", "charger",
}

// temperature returns the processor's temperature in °C, or the best guess at it.
func (h Host) temperature() (float64, bool) {
	best, rank, found := 0.0, len(processorNames)+2, false
	try := func(kind, file string) {
		milli, err := strconv.ParseFloat(h.read(file), 64)
		r := rankOf(kind)
		if c := milli / 1000; err == nil && c > -60 && c < 150 && c != 0 && (r < rank || r == rank && c > best) {
			best, rank, found = c, r, true
		}
	}
	for _, zone := range h.glob("sys/class/thermal/thermal_zone*") {
		if kind := h.read(zone + "/type"); rankOf(kind) >= 0 {
			try(kind, zone+"/temp")
		}
	}
	for _, chip := range h.glob("sys/class/hwmon/hwmon*") {
		kind := h.read(chip + "/name")
		if rankOf(kind) < 0 {
			continue
		}
		for _, input := range h.glob(chip + "/temp*_input") {
			try(kind, input)
		}
	}
	return best, found
}

// rankOf orders sensors, smaller is better; -1 = not of the processor.
func rankOf(kind string) int {
	kind = strings.ToLower(kind)
	if i := slices.Index(processorNames, kind); i >= 0 {
		return i
	}
	for _, other := range otherNames {
		if strings.HasPrefix(kind, other) {
			return -1
		}
	}
	if kind == "acpitz" { // on many PCs a number that never changes
		return len(processorNames) + 1
	}
	return len(processorNames)
}

// glob returns the matching names relative to the root, in order.
func (h Host) glob(pattern string) []string {
	found, err := filepath.Glob(filepath.Join(h.root, pattern))
	if err != nil {
		return nil
	}
	for i, f := range found {
		if rel, err := filepath.Rel(h.root, f); err == nil {
			found[i] = rel
		}
	}
	return found
}

// Operations returns what people can ask of the board: temperature.
func (h Host) Operations() []command.Op {
	return []command.Op{{
		Name: "temperature", Who: command.Anyone, Run: h.tell,
		Doc: channels.Phrase{EN: "how warm the board is", ZH: "板子的温度"},
	}}
}

func (h Host) tell(ctx context.Context, c command.Call) (command.Result, error) {
	r, err := h.Read(ctx)
	if err != nil && !errors.Is(err, hw.ErrAbsent) {
		return command.Result{}, err
	}
	v, ok := r.Get("temperature")
	if !ok {
		p := channels.Phrase{EN: "This board has no temperature sensor that I can read.", ZH: "这块板子没有我能读取的温度传感器。"}
		return command.Result{Text: p.In(c.Language), Failed: true}, nil
	}
	degrees := strconv.FormatFloat(v.Value, 'f', 1, 64)
	p := channels.Phrase{EN: "The board is at " + degrees + " °C.", ZH: "板子现在 " + degrees + " °C。"}
	return command.Result{Text: p.In(c.Language), Data: v}, nil
}
