package host_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pinch/agent/command"
	"pinch/hw"
	"pinch/hw/host"
)

func TestReadBoards(t *testing.T) {
	for _, c := range []struct{ board, want string }{
		{"pi4", "temperature 48.2, load 0.5, memory 3793.2, memory_free 3224.4, uptime 350735.5"},
		{"pi5", "temperature 55.5, load 1.0, memory 8063.0, memory_free 7324.2, uptime 61.0"},
		{"zero2", "temperature -2.1, load 0.0, memory 427.3, memory_free 293.0, uptime 12.3"},
		{"pc", "temperature 52.0, load 2.1, memory 15835.0, memory_free 8789.1, uptime 8000.0"},
		{"vm", ""},
	} {
		r, err := host.New(filepath.Join("testdata", c.board)).WithDisk("").Read(t.Context())
		var parts []string
		for _, v := range r.Values {
			parts = append(parts, fmt.Sprintf("%s %.1f", v.Name, v.Value))
		}
		if got := strings.Join(parts, ", "); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %s, %v; want %s", c.board, got, err, c.want)
		}
		if c.want == "" && !errors.Is(err, hw.ErrAbsent) {
			t.Errorf("%s: %v is not ErrAbsent", c.board, err)
		}
		if time.Since(r.At) > time.Minute {
			t.Errorf("%s: measured at %v", c.board, r.At)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ board, model, os string }{
		{"pi4", "Raspberry Pi 4 Model B Rev 1.4", "Debian GNU/Linux 13 (trixie)"},
		{"pi5", "Raspberry Pi 5 Model B Rev 1.0", "Raspberry Pi OS"},
		{"zero2", "Raspberry Pi Zero 2 W Rev 1.0", ""},
		{"pc", "LENOVO 20XW0026GE", ""},
		{"vm", "Some CPU @ 3.00GHz", ""},
		{"none", "", ""},
	} {
		h := host.New(filepath.Join("testdata", c.board))
		if got := h.Model(); got != c.model {
			t.Errorf("%s is a %q, want %q", c.board, got, c.model)
		}
		if got := h.OS(); got != c.os {
			t.Errorf("%s runs %q, want %q", c.board, got, c.os)
		}
	}
}

func TestDiskIsThatOfThePath(t *testing.T) {
	dir := t.TempDir()
	r, err := host.New("testdata/none").WithDisk(dir).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	total, _ := r.Get("disk")
	free, ok := r.Get("disk_free")
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	want := float64(s.Blocks) * float64(s.Bsize) / (1 << 20)
	if !ok || free.Unit != "MB" || math.Abs(total.Value-want) > 1 || free.Value > total.Value {
		t.Errorf("disk %+v, free %+v; want %.1f MB", total, free, want)
	}
	if _, err := host.New("testdata/none").WithDisk(filepath.Join(dir, "gone")).Read(t.Context()); !errors.Is(err, hw.ErrAbsent) {
		t.Errorf("a disk that is not there: %v", err)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := host.New("testdata/pi4").Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestASensorThatNeverAnswers: a pipe without a writer blocks a plain read for ever, as some drivers do.
func TestASensorThatNeverAnswers(t *testing.T) {
	root := t.TempDir()
	zone := filepath.Join(root, "sys/class/thermal/thermal_zone0")
	if err := errors.Join(os.MkdirAll(zone, 0o700), os.WriteFile(filepath.Join(zone, "type"), []byte("cpu-thermal\n"), 0o600),
		syscall.Mkfifo(filepath.Join(zone, "temp"), 0o600)); err != nil {
		t.Fatal(err)
	}
	keep, err := os.OpenFile(filepath.Join(zone, "temp"), os.O_RDWR, 0) // a writer that says nothing: EAGAIN
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	if _, err := host.New(root).WithDisk("").Read(t.Context()); !errors.Is(err, hw.ErrAbsent) {
		t.Errorf("got %v", err)
	}
}

func TestClockSet(t *testing.T) {
	h := host.New("testdata/pi4")
	for year, want := range map[int]bool{1970: false, 2025: false, 2026: true, 2031: true} {
		if got := h.ClockSet(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("a clock in %d is set: %v", year, got)
		}
	}
}

func TestTemperatureInWords(t *testing.T) {
	for _, c := range []struct {
		board, language, want string
		failed                bool
	}{
		{"pi4", "en", "The board is at 48.2 °C.", false},
		{"pi4", "zh", "板子现在 48.2 °C。", false},
		{"vm", "en", "This board has no temperature sensor that I can read.", true},
		{"none", "zh", "这块板子没有我能读取的温度传感器。", true},
	} {
		table := command.NewTable(host.New(filepath.Join("testdata", c.board)).Operations())
		r, err := table.Call(t.Context(), command.Call{Name: "temperature", Language: c.language})
		if err != nil || r.Text != c.want || r.Failed != c.failed {
			t.Errorf("%s: %+v, %v; want %q", c.board, r, err, c.want)
		}
	}
}

func TestThisMachine(t *testing.T) {
	r, err := host.New("/").Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := r.Get("memory"); !ok || v.Value < 100 {
		t.Errorf("memory %+v", v)
	}
}
