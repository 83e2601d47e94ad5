package agent_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
)

var update = flag.Bool("update", false, "write the golden files")

var clock = regexp.MustCompile(`\[\w{3} \d{1,2} \w{3} \d\d:\d\d`)

// TestRequestsGolden holds whole requests, at four windows, in a fresh workspace and in one whose files are large.
func TestRequestsGolden(t *testing.T) {
	for _, size := range []int{2048, 4096, 8192, 32768} {
		for _, full := range []bool{false, true} {
			name := fmt.Sprintf("request-%d-fresh", size)
			if full {
				name = fmt.Sprintf("request-%d-full", size)
			}
			t.Run(name, func(t *testing.T) {
				m := modeltest.NewScript(t, modeltest.Call("list", `{}`), modeltest.Say("Done."))
				w := newWorld(t, t.TempDir(), m)
				w.persona.Model.Prober = window(size)
				if full {
					for _, file := range []string{"SOUL.md", "AGENTS.md", "USER.md", "IDENTITY.md", "TOOLS.md", "MEMORY.md"} {
						var b strings.Builder
						for i := range 400 {
							fmt.Fprintf(&b, "- line %d of %s\n", i+1, file)
						}
						w.write(file, b.String())
					}
				}
				w.start()
				w.say("Hello! What is in your workspace?")
				part := w.want("Done.")
				got := show(m.Requests()[1]) + "left out: " + strings.Join(part.About.LeftOut, "; ") + "\n"
				golden(t, name, got)
			})
		}
	}
}

// show writes a request for people.
func show(r model.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "reply: at most %d tokens\n", r.Reply)
	for _, s := range r.Tools {
		fmt.Fprintf(&b, "tool %s: %s %s\n", s.Name, s.Doc, s.Schema)
	}
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "--- %s %s\n%s\n", m.Role, m.Name, m.Text)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "call %s %s\n", c.Name, c.Arguments)
		}
	}
	return clock.ReplaceAllString(b.String(), "[Mon 2 Jan 15:04")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it):\n%s", path, got)
	}
}
