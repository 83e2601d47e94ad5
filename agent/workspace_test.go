package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinch/agent"
	"pinch/agent/command"
	"pinch/agent/model/modeltest"
	"pinch/channels"
)

// talks says hello and returns the reply of the model, and what stood in front of the history of its request.
func (w *world) talks(m *modeltest.Script) (part channels.Part, front string) {
	w.t.Helper()
	m.Then(modeltest.Say("Hello back."))
	w.say("Hello!")
	part = w.want("Hello back.")
	r := m.Requests()
	messages := r[len(r)-1].Messages
	front = messages[0].Text
	if strings.HasPrefix(messages[1].Text, "## MEMORY.md") {
		front += "\n" + messages[1].Text
	}
	return part, front
}

func TestOwnerIsToldOnceOfEachChangeOfACut(t *testing.T) {
	m := modeltest.NewScript(t)
	w := newWorld(t, t.TempDir(), m)
	w.write("MEMORY.md", strings.Repeat("- a fact that is kept here\n", 400))
	w.start()
	told := func(step string, want bool, file string) {
		t.Helper()
		part, front := w.talks(m)
		if got := strings.Contains(part.Text, "only a part of "+file); got != want {
			t.Errorf("%s: %q", step, part.Text)
		}
		if !strings.Contains(front, "[… MEMORY.md goes on") {
			t.Errorf("%s: the model is not told", step)
		}
	}
	told("first", true, "MEMORY.md")
	told("the same epoch", false, "MEMORY.md")
	w.say("/new")
	w.want("fresh start")
	told("a new epoch", false, "MEMORY.md")
	w.write("MEMORY.md", strings.Repeat("- a fact that is kept here\n", 500))
	told("a change", true, "MEMORY.md")
	w.write("SOUL.md", strings.Repeat("You are kind and very patient.\n", 500))
	told("another file", true, "SOUL.md")
}

func TestFilesThatAreRefused(t *testing.T) {
	m := modeltest.NewScript(t)
	dir := t.TempDir()
	w := newWorld(t, dir, m)
	outside := filepath.Join(dir, "outside.md")
	if err := os.WriteFile(outside, []byte("not for the model"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "workspace", "SOUL.md")); err != nil {
		t.Fatal(err)
	}
	w.write("AGENTS.md", strings.Repeat("x", 2<<20+1))
	w.write("USER.md", "- upper")
	w.write("user.md", "- lower")
	w.start()
	part, front := w.talks(m)
	for _, want := range []string{"I do not read SOUL.md", "AGENTS.md is over 2 MB", "both USER.md and user.md"} {
		if !strings.Contains(part.Text, want) {
			t.Errorf("%q is missing in %q", want, part.Text)
		}
	}
	if strings.Contains(front, "not for the model") || strings.Contains(front, "AGENTS.md") || strings.Contains(front, "lower") || !strings.Contains(front, "- upper") {
		t.Errorf("the head is\n%s", front)
	}
	if part, _ = w.talks(m); part.Text != "Hello back." {
		t.Errorf("told again: %q", part.Text)
	}
	w.write("AGENTS.md", "Be brief.") // mended: it is read from the next message on
	if _, front = w.talks(m); !strings.Contains(front, "Be brief.") {
		t.Errorf("the head is\n%s", front)
	}
}

func TestTheFirstTalkEndsWithAMemory(t *testing.T) {
	m := modeltest.NewScript(t)
	w := newWorld(t, t.TempDir(), m)
	w.write("BOOTSTRAP.md", "Ask the person for a name and remember it.")
	w.start()
	for range 2 {
		if _, front := w.talks(m); !strings.Contains(front, "Ask the person for a name") {
			t.Errorf("the head is\n%s", front)
		}
	}
	w.say("remember that my name is Ana") // by its own hand: the epoch goes on
	w.want("Remembered")
	w.say("/new")
	w.want("fresh start")
	if _, front := w.talks(m); strings.Contains(front, "BOOTSTRAP") || !strings.Contains(front, "my name is Ana") {
		t.Errorf("the head is\n%s", front)
	}
}

func TestFilesKeepToTheConfiguredCharacters(t *testing.T) {
	m := modeltest.NewScript(t)
	w := newWorld(t, t.TempDir(), m)
	w.persona.Config.FileMax = 400
	w.write("SOUL.md", strings.Repeat("You are kind and patient.\n", 40)) // 1,040 characters would fit
	w.start()
	part, front := w.talks(m)
	if n := strings.Count(front, "kind"); n == 0 || n*26 > 400 || !strings.Contains(part.Text, "only a part of SOUL.md") {
		t.Errorf("%d lines; %q", n, part.Text)
	}
	config := agent.DefaultConfig()
	if config.FilesMax = -1; config.Validate() == nil {
		t.Error("a negative files_max is accepted")
	}
}

func TestContextSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t, t.TempDir(), modeltest.NewScript(t))
	w.persona.Model.Prober = window(2048)
	w.write("MEMORY.md", strings.Repeat("- a fact that is kept here\n", 400))
	w.start()
	result, err := w.agent.Call(t.Context(), command.Call{Name: "context", Owner: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(result.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"workspace note", "only a part of MEMORY.md"} {
		if !strings.Contains(result.Text, want) || !strings.Contains(string(data), want) {
			t.Errorf("%q is missing in %q or %s", want, result.Text, data)
		}
	}
}
