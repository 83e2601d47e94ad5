package packaging_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The command line by itself: help, version, what it refuses.

func TestCommandLine(t *testing.T) {
	dir := state(t, local(nobody))
	for _, args := range []string{"--help", "-h", "help", "chat --help", "run --help", "status -h"} {
		r := pinch(t, dir, strings.Fields(args)...)
		for _, name := range []string{"run", "chat", "context", "status", "doctor", "config example", "version", "--state", "--json", "--session"} {
			if !strings.Contains(r.out, name) {
				t.Errorf("%s: %s is missing", args, name)
			}
		}
		if r.code != 0 || r.err != "" {
			t.Errorf("%s: exit %d: %s", args, r.code, r.err)
		}
	}
	if r := pinch(t, dir, "version"); r.code != 0 || r.err != "" || !strings.HasPrefix(r.out, "pinch ") || strings.Count(r.out, "\n") != 1 {
		t.Errorf("version: %+v", r)
	}
	for args, part := range map[string]string{
		"--nonsense": "-nonsense", "chat --nonsense": "-nonsense", "status --jason": "-jason",
		"run now": "no arguments", "chat hello": "no arguments", "version 2": "no arguments", "config": "config example",
		"nonsense": `"nonsense" is not a command`,
	} {
		if r := pinch(t, dir, strings.Fields(args)...); r.code != 2 || r.out != "" || !sentence(r.err, part) {
			t.Errorf("%s: exit %d, %s%s", args, r.code, r.out, r.err)
		}
	}
	if r := pinch(t, dir); r.code != 2 || r.out != "" || !strings.Contains(r.err, "usage:") {
		t.Errorf("nothing: %+v", r)
	}
}

func TestStateDirectory(t *testing.T) {
	flag, own, service := state(t, local(nobody)), state(t, local(nobody)), state(t, local(nobody))
	home := filepath.Join(own, ".pinch")
	for _, c := range []struct {
		env  []string // behind HOME=own
		args []string
		want string
	}{
		{[]string{"PINCH_STATE=" + own, "STATE_DIRECTORY=" + service}, []string{"--state", flag, "doctor"}, flag + " (from --state)"},
		{[]string{"PINCH_STATE=" + own, "STATE_DIRECTORY=" + service}, []string{"doctor"}, own + " (from $PINCH_STATE)"},
		{[]string{"STATE_DIRECTORY=" + service}, []string{"doctor"}, service + " (from $STATE_DIRECTORY)"},
		{nil, []string{"doctor"}, home + " (from home)"},
	} {
		cmd := command(t.Context(), t, own, c.args...)
		cmd.Env = append([]string{"HOME=" + own}, c.env...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
			if _, service := os.Stat("/var/lib/pinch/pinch.db"); c.env == nil && service == nil {
				continue // a service is installed on this machine
			}
			t.Errorf("%v %v: %v; want %s in\n%s", c.env, c.args, err, c.want, out)
		}
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("~/.pinch: %v, %v", info, err)
	}
}
