package packaging_test

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The binaries for boards, each run with the oldest processor of its kind.

var boards = []struct {
	target   string
	compiler string
	emulator []string
	class    elf.Machine
	arch     string // what readelf -A calls the processor, "" = it says nothing
}{
	{"arm64", "aarch64-linux-gnu-gcc", []string{"qemu-aarch64-static", "-cpu", "cortex-a53"}, elf.EM_AARCH64, ""},
	{"armv7", "arm-linux-gnueabihf-gcc", []string{"qemu-arm-static", "-cpu", "cortex-a7"}, elf.EM_ARM, "v7"},
	{"armv6", "arm-linux-gnueabi-gcc", []string{"qemu-arm-static", "-cpu", "arm1176"}, elf.EM_ARM, "v6"},
}

func TestBoards(t *testing.T) {
	for _, board := range boards {
		t.Run(board.target, func(t *testing.T) {
			for _, tool := range []string{board.compiler, board.emulator[0], "readelf"} {
				if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") != "true" {
					t.Skipf("%s is missing: make %s installs it", tool, board.target)
				}
			}
			path, err := build(board.target)
			if err != nil {
				t.Fatal(err)
			}
			linked(t, path, board.class)
			if arch := processor(t, path); arch != board.arch {
				t.Errorf("readelf says that it is for %q, want %q", arch, board.arch)
			}
			run := func(state, in string, args ...string) string {
				t.Helper()
				cmd := command(t.Context(), t, state, args...)
				emulated := exec.CommandContext(t.Context(), board.emulator[0], append(append(board.emulator[1:len(board.emulator):len(board.emulator)], path), args...)...)
				emulated.Env, emulated.Stdin, emulated.Stderr = cmd.Env, strings.NewReader(in), os.Stderr
				out, err := emulated.Output()
				if err != nil {
					t.Errorf("%v: %v", args, err)
				}
				return string(out)
			}
			dir := state(t, local(nobody))
			if out := run(dir, "", "version"); !strings.HasPrefix(out, "pinch ") {
				t.Errorf("version: %q", out)
			}
			// What was told is found by a full-text search.
			out := run(dir, "remember that the spare key is under the blue pot\nremember that Ana eats no nuts\nwhat did I tell you about the key?\n", "chat")
			if !strings.HasSuffix(out, "You told me:\n1. the spare key is under the blue pot ⚡\n\n") {
				t.Errorf("chat: %q", out)
			}
			intact(t, dir)
		})
	}
}

// linked checks that a binary needs nothing else to run, and holds nothing for a debugger.
func linked(t *testing.T, path string, machine elf.Machine) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine != machine || f.Type != elf.ET_EXEC {
		t.Errorf("it is a %v for %v", f.Type, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it is not static: it has a %v", p.Type)
		}
	}
	if _, err := f.Symbols(); !errors.Is(err, elf.ErrNoSymbols) {
		t.Errorf("it is not stripped: %v", err)
	}
	for _, s := range f.Sections {
		if strings.Contains(s.Name, "debug") {
			t.Errorf("it is not stripped: it has %s", s.Name)
		}
	}
}

// processor is the Tag_CPU_arch that readelf shows.
func processor(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("readelf", "-A", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^ *Tag_CPU_arch: (\S+)$`).FindSubmatch(out)
	if found == nil {
		return ""
	}
	return string(found[1])
}
