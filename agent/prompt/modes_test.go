package prompt_test

import (
	"reflect"
	"strings"
	"testing"

	"pinch/agent/prompt"
	"pinch/budget"
)

func TestModes(t *testing.T) {
	spec := prompt.Spec{Name: "Rosa", Board: "Raspberry Pi 5", Tools: true, Private: true, Files: workspace(2), Tokens: 800}
	heads := map[prompt.Mode]string{}
	for _, mode := range []prompt.Mode{prompt.Full, prompt.Minimal, prompt.None} {
		spec.Mode = mode
		heads[mode], _ = prompt.Head(spec)
	}
	for _, c := range []struct {
		part string
		in   []prompt.Mode
	}{
		{"You are Rosa", []prompt.Mode{prompt.Full, prompt.Minimal, prompt.None}},
		{"Never harm people", []prompt.Mode{prompt.Full, prompt.Minimal}},
		{"Use a tool", []prompt.Mode{prompt.Full, prompt.Minimal}},
		{"You run on", []prompt.Mode{prompt.Full, prompt.Minimal}},
		{"## SOUL.md", []prompt.Mode{prompt.Full, prompt.Minimal}},
		{"## AGENTS.md", []prompt.Mode{prompt.Full, prompt.Minimal}},
		{"Your workspace", []prompt.Mode{prompt.Full}},
		{"## USER.md", []prompt.Mode{prompt.Full}},
		{"## MEMORY.md", []prompt.Mode{prompt.Full}},
	} {
		for mode, head := range heads {
			want := false
			for _, m := range c.in {
				want = want || m == mode
			}
			if strings.Contains(head, c.part) != want {
				t.Errorf("mode %d, %q: %v", mode, c.part, !want)
			}
		}
	}
	if n := budget.Tokens(heads[prompt.None]); n > 20 {
		t.Errorf("mode none is %d tokens", n)
	}
}

func TestASmallWindowGetsAShorterHead(t *testing.T) {
	spec := prompt.Spec{Name: "Rosa", Board: "Raspberry Pi 5", Tools: true, Private: true, Tokens: 800, Window: 4096}
	whole, cuts := prompt.Head(spec)
	if len(cuts) != 0 {
		t.Errorf("a usual window: %+v", cuts)
	}
	spec.Window = 2048
	short, cuts := prompt.Head(spec)
	var names []string
	missing := 0
	for _, c := range cuts {
		names = append(names, c.File)
		missing += c.Raw - c.Used
	}
	if !reflect.DeepEqual(names, []string{"workspace note", "board"}) {
		t.Errorf("it is told that %q are missing", names)
	}
	if got := budget.Tokens(whole) - budget.Tokens(short); got < 30 || got < missing-4 || got > missing+4 {
		t.Errorf("%d tokens less, %d are told", got, missing)
	}
}

func TestFilesNearTheirLimitAreTold(t *testing.T) {
	for _, c := range []struct {
		lines int
		want  string
	}{{5, "whole"}, {40, "near"}, {60, "cut"}} {
		text := strings.Repeat("- a fact that is kept here.\n", c.lines)
		_, cuts := prompt.Head(prompt.Spec{Name: "Rosa", Private: true, Tokens: 420, Files: []prompt.File{{Name: "MEMORY.md", Text: text}}})
		got := "whole"
		if len(cuts) == 1 {
			if got = "near"; cuts[0].Used < cuts[0].Raw {
				got = "cut"
			}
		}
		if got != c.want {
			t.Errorf("%d lines, %d tokens: %s, want %s (%+v)", c.lines, budget.Tokens(text), got, c.want, cuts)
		}
	}
}

func TestFilesKeepToTheirCharacters(t *testing.T) {
	long := strings.Repeat("- a fact that is kept here.\n", 100) // 2,800 characters
	files := []prompt.File{{Name: "SOUL.md", Text: long}, {Name: "AGENTS.md", Text: long}, {Name: "USER.md", Text: "- Ana"}}
	spec := prompt.Spec{Name: "Rosa", Private: true, Tokens: 8000, Files: files}
	text, cuts := prompt.Head(spec)
	if len(cuts) != 0 || strings.Count(text, "a fact") != 200 {
		t.Errorf("without a limit: %+v", cuts)
	}
	spec.Most = prompt.Most{File: 1000}
	text, cuts = prompt.Head(spec)
	if n := strings.Count(text, "a fact"); len(cuts) != 2 || n > 2*1000/28 || n < 2*1000/28*7/10 || !strings.Contains(text, "- Ana") {
		t.Errorf("1,000 characters a file: %d facts, %+v", n, cuts)
	}
	spec.Most = prompt.Most{File: 2000, All: 2500}
	text, _ = prompt.Head(spec)
	if n := strings.Count(text, "a fact"); n > 2500/28 || n < 2500/28*7/10 {
		t.Errorf("2,500 characters together: %d facts", n)
	}
	spec.Most, spec.Tokens = prompt.Most{File: 100_000}, 600 // the window is a limit whatever the config says
	if text, _ = prompt.Head(spec); budget.Tokens(text) > 600 {
		t.Errorf("%d tokens of 600", budget.Tokens(text))
	}
}

func TestTheFirstTalkIsPrivateAndBeforeMemory(t *testing.T) {
	spec := prompt.Spec{Private: true, Tokens: 800, Files: []prompt.File{{Name: "MEMORY.md", Text: "- x"}, {Name: "bootstrap.md", Text: "Ask for the name."}}}
	text, _ := prompt.Head(spec)
	if !strings.HasSuffix(text, "## BOOTSTRAP.md\nAsk for the name.\n\n## MEMORY.md\n- x") {
		t.Errorf("the head is\n%s", text)
	}
	spec.Private = false
	if text, _ = prompt.Head(spec); strings.Contains(text, "Ask for the name") {
		t.Errorf("a public head is\n%s", text)
	}
}
