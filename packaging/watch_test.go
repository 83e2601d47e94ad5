package packaging_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the kernel knows about a running process, for the figures.

// cpuTime is the processor time that a process has used so far, of all its threads, in user and kernel mode.
func cpuTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	var ts unix.Timespec
	// The clock of another process: its id inverted, shifted by three, and 2 for the scheduler's exact count.
	if err := unix.ClockGettime(int32(^pid)<<3|2, &ts); err != nil {
		t.Fatalf("reading the processor time of %d: %v", pid, err)
	}
	return time.Duration(ts.Nano())
}

// field is a number of a file under /proc/PID, by the name in front of it.
func field(t testing.TB, path, name string) (n float64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			if _, err := fmt.Sscan(rest, &n); err != nil {
				t.Fatalf("%s of %s: %v", name, path, err)
			}
			return n
		}
	}
	t.Fatalf("%s has no %s", path, name)
	return 0
}

// memory is what a process has in RAM, in MB: all of it, and what it shares with no file.
func memory(t testing.TB, pid int) (rss, anon float64) {
	t.Helper()
	path := fmt.Sprintf("/proc/%d/status", pid)
	return field(t, path, "VmRSS") * 1024 / 1e6, field(t, path, "RssAnon") * 1024 / 1e6
}

// wakeups is how often the threads of a process have gone to sleep so far.
func wakeups(t testing.TB, pid int) (n float64) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("process %d has no threads: %v", pid, err)
	}
	for _, path := range threads {
		n += field(t, path, "voluntary_ctxt_switches")
	}
	return n
}

// trace is what strace saw of a process.
type trace struct {
	syncs   int
	written int // bytes, to files of the state directory
}

var writeCall = regexp.MustCompile(`\bp?write(?:64)?\(\d+<([^>]*)>, "[^"]*"(?:\.\.\.)?, (\d+)`)

// readTrace reads a log of strace -y from an offset on, and returns where it ends.
func readTrace(t testing.TB, path, state string, from int64) (trace, int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := int64(bytes.LastIndexByte(data, '\n') + 1)
	var seen trace
	for lines := bufio.NewScanner(bytes.NewReader(data[from:end])); lines.Scan(); {
		line := lines.Text()
		if strings.Contains(line, "sync(") || strings.Contains(line, "sync_file_range(") {
			seen.syncs++
		}
		if m := writeCall.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], state+"/") {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			seen.written += n
		}
	}
	return seen, end
}
