package packaging_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Disks that are full or read-only. They are small file systems in memory, which only root may mount.

// mount gives a state directory a file system of its own.
func mount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("mounting a small disk is not allowed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// fill leaves a number of bytes free.
func fill(t *testing.T, dir string, left int64) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Repeat("x", int(int64(disk.Bavail)*int64(disk.Bsize)-left)))
}

func TestFaultReadOnlyDisk(t *testing.T) {
	dir := state(t, "")
	mount(t, dir, syscall.MS_RDONLY, "size=1m")
	for _, args := range [][]string{{"run"}, {"chat"}, {"status"}} {
		pinch(t, dir, args...).fails(t, dir, "cannot be written", "read-only")
	}
	pinch(t, dir, "doctor").finds(t, dir, "cannot be written")
}

func TestFaultFullDiskAtStart(t *testing.T) {
	dir := state(t, "")
	mount(t, dir, 0, "size=1m")
	fill(t, dir, 0)
	for _, args := range [][]string{{"run"}, {"chat"}, {"status"}} {
		pinch(t, dir, args...).fails(t, "the disk is full", "free some space", dir)
	}
	pinch(t, dir, "doctor").finds(t, "the disk is full")
	fill(t, dir, 800<<10)
	if r := feed(t, dir, "what time is it?\n", "chat"); r.code != 0 || r.err != "" {
		t.Errorf("with some space: %+v", r)
	}
	intact(t, dir)
}

func TestFaultFullDisk(t *testing.T) {
	dir := state(t, "")
	mount(t, dir, 0, "size=1m")
	write(t, filepath.Join(dir, "pinch.toml"), local(nobody))
	p := serve(t, dir)
	if r := feed(t, dir, "remember that the lamp is broken\n", "chat"); r.code != 0 {
		t.Fatalf("before: %+v", r)
	}
	told := 0
	for left := int64(40 << 10); left >= 0; left -= 4 << 10 { // it runs out at every point of a turn
		fill(t, dir, left)
		r := feed(t, dir, "what time is it?\n", "chat")
		switch {
		case r.code == 1 && r.out == "" && sentence(r.err, "the disk is full", "free some space"):
			told++
		case r.code == 0 && strings.HasPrefix(r.out, "The disk is full"):
			told++ // on standard error may stand a reply that could not be marked as shown
		case r.code == 0 && strings.HasSuffix(r.out, "⚡\n\n") && told == 0:
		default:
			t.Errorf("with %d bytes left: %+v", left, r)
		}
	}
	if told == 0 {
		t.Error("the disk was never full")
	}
	pinch(t, dir, "doctor").finds(t, "the disk is full")
	if code := p.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("pinch run ended with %d", code)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	intact(t, dir)
	serve(t, dir)
	if r := feed(t, dir, "what did I tell you about the lamp?\n", "chat"); r.code != 0 || !strings.Contains(r.out, "the lamp is broken") {
		t.Errorf("after: %+v", r)
	}
	if n := ask(t, dir, "SELECT count(*) FROM inbox WHERE state = 0"); n != "0" {
		t.Errorf("%s messages that were taken have no answer", n)
	}
}
