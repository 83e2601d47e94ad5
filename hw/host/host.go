// Package host reads the board that we run on: its temperature, load, memory, disk, uptime and name, from /proc
// and /sys. It runs no command and needs no rights.
package host

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pinch/hw"
)

// Host is the board under a root directory: "/" in production, a recorded tree in tests.
type Host struct {
	root string
	disk string
}

// New returns the host whose /proc and /sys are under root.
func New(root string) Host { return Host{root: root, disk: root} }

// WithDisk returns a host that tells the free space where path is.
func (h Host) WithDisk(path string) Host {
	h.disk = path
	return h
}

// Read measures the board: temperature in °C; load (over one minute); memory and memory_free, disk and disk_free in
// MB; uptime in s. A value that this board does not tell is not in the reading; hw.ErrAbsent when none is.
func (h Host) Read(ctx context.Context) (hw.Reading, error) {
	if err := ctx.Err(); err != nil {
		return hw.Reading{}, err
	}
	r := hw.Reading{At: time.Now()}
	add := func(name string, value float64, unit string) {
		r.Values = append(r.Values, hw.Value{Name: name, Value: value, Unit: unit})
	}
	if c, ok := h.temperature(); ok {
		add("temperature", c, "°C")
	}
	if f, ok := h.number("proc/loadavg"); ok {
		add("load", f, "")
	}
	if total, free, ok := h.memory(); ok {
		add("memory", total, "MB")
		add("memory_free", free, "MB")
	}
	if total, free, ok := space(h.disk); ok {
		add("disk", total, "MB")
		add("disk_free", free, "MB")
	}
	if s, ok := h.number("proc/uptime"); ok {
		add("uptime", s, "s")
	}
	if len(r.Values) == 0 {
		return r, fmt.Errorf("read the board under %s: %w", h.root, hw.ErrAbsent)
	}
	return r, nil
}

// number reads the first field of a file.
func (h Host) number(name string) (float64, bool) {
	first, _, _ := strings.Cut(h.read(name), " ")
	f, err := strconv.ParseFloat(first, 64)
	return f, err == nil && f >= 0 && !math.IsInf(f, 0)
}

// memory returns what the board has, and what a program could still get.
func (h Host) memory() (total, free float64, ok bool) {
	values := map[string]float64{}
	for line := range strings.Lines(h.read("proc/meminfo")) {
		key, rest, _ := strings.Cut(line, ":")
		if fields := strings.Fields(rest); len(fields) > 0 {
			if kb, err := strconv.ParseFloat(fields[0], 64); err == nil {
				values[key] = kb / 1024
			}
		}
	}
	total, free = values["MemTotal"], values["MemAvailable"]
	if _, told := values["MemAvailable"]; !told { // kernels before 3.14
		free = values["MemFree"] + values["Cached"] + values["Buffers"]
	}
	return total, free, total > 0
}

func space(path string) (total, free float64, ok bool) {
	var s syscall.Statfs_t
	if path == "" || syscall.Statfs(path, &s) != nil || s.Blocks == 0 {
		return 0, 0, false
	}
	block := float64(s.Bsize) / (1 << 20)
	return float64(s.Blocks) * block, float64(s.Bavail) * block, true
}

// Model returns the board's name, such as "Raspberry Pi 4 Model B Rev 1.4"; "" = unknown.
func (h Host) Model() string {
	for _, name := range []string{"proc/device-tree/model", "sys/firmware/devicetree/base/model"} {
		if s := clean(h.read(name)); s != "" {
			return s
		}
	}
	vendor, product := clean(h.read("sys/class/dmi/id/sys_vendor")), clean(h.read("sys/class/dmi/id/product_name"))
	if product != "" {
		return strings.TrimSpace(vendor + " " + strings.TrimPrefix(product, vendor+" "))
	}
	info := h.read("proc/cpuinfo")
	for _, key := range []string{"Model", "Hardware", "model name"} {
		for line := range strings.Lines(info) {
			k, v, _ := strings.Cut(line, ":")
			if strings.TrimSpace(k) == key && clean(v) != "" {
				return clean(v)
			}
		}
	}
	return ""
}

// OS returns the system's name, such as "Debian GNU/Linux 13 (trixie)"; "" = unknown.
func (h Host) OS() string {
	for line := range strings.Lines(h.read("etc/os-release")) {
		if v, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return clean(strings.Trim(strings.TrimSpace(v), `"'`))
		}
	}
	return ""
}

// clean takes out the NUL that ends device-tree strings, and the words that boards say when nobody named them.
func clean(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "\x00", " ")), " ")
	for _, nothing := range []string{"To Be Filled By O.E.M.", "System Product Name", "System manufacturer", "Default string"} {
		if strings.EqualFold(s, nothing) {
			return ""
		}
	}
	return s
}

// ClockSet reports whether now can be true. A board without a battery starts in 1970, or at the time when its
// system was built, until the network tells the time.
func (h Host) ClockSet(now time.Time) bool { return now.Year() >= 2026 }

// mostRead is the bytes of a file that matter.
const mostRead = 64 << 10

// read returns the beginning of a small file, trimmed; "" when it cannot be read. It asks the kernel without the
// runtime's poller: some sensor drivers answer EAGAIN for ever, and os.ReadFile would wait with them.
func (h Host) read(name string) string {
	fd, err := syscall.Open(filepath.Join(h.root, name), syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer syscall.Close(fd)
	buf := make([]byte, mostRead)
	used := 0
	for tries := 0; used < len(buf) && tries < 64; tries++ { // /proc gives a page a time
		n, err := syscall.Read(fd, buf[used:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		used += n
	}
	return strings.TrimSpace(string(buf[:used]))
}
