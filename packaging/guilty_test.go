package packaging

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// good is a small house without guilt.
var good = map[string]string{
	"main.go": "// Command pinch.\npackage main\nimport (\"context\"; _ \"pinch/storage\"; _ \"pinch/agent\"; _ \"pinch/channels/qq\")\n" +
		"func main() { _ = context.Background() }\n",
	"agent/agent.go":           "// Package agent is the loop.\npackage agent\nimport (_ \"pinch/agent/engine\"; _ \"pinch/channels\")\n",
	"agent/engine/engine.go":   "// Package engine thinks.\npackage engine\nimport (_ \"pinch/agent/tool\"; _ \"pinch/budget\")\n",
	"agent/session/session.go": "// Package session has words.\npackage session\nimport _ \"pinch/agent/model\"\n",
	"channels/qq/qq.go":        "// Package qq is a channel.\npackage qq\nimport (\"time\"; _ \"pinch/channels\"; _ \"github.com/coder/websocket\")\nvar names = []string{\"a\"}\nfunc f(names []string, _ time.Time) { names[0] = \"b\" }\n",
	"channels/qq/qq_test.go":   "package qq_test\nimport (_ \"pinch/storage\"; _ \"context\"; _ \"pinch/channels/channeltest\"; _ \"pgregory.net/rapid\")\n",
	"hw/hw.go":                 "// Package hw has words.\npackage hw\nvar _ any = f\nfunc f() { _ = f }\n",
	"packaging/doc.go":         "// Package packaging ships.\npackage packaging\n",
	"packaging/e2e_test.go":    "package packaging\nimport _ \"os/exec\"\n",
}

func repeated(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// guilty are files that break one rule each, with the rules and the places that must be found, as rule|where, rule|where.
var guilty = []struct{ path, text, want string }{
	{"agent/agent.go", "\nimport _ \"pinch/storage\"", "floor|agent/agent.go"},
	{"agent/agent.go", "\nimport _ \"pinch/channels/qq\"", "floor|agent/agent.go"},
	{"agent/config/c.go", "\nimport _ \"pinch/budget\"", "floor|agent/config/c.go"},
	{"budget/b.go", "\nimport _ \"pinch/channels\"", "floor|budget/b.go"},
	{"agent/command/c.go", "\nimport _ \"pinch/agent/session\"", "floor|agent/command/c.go"},
	{"agent/model/m.go", "\nimport _ \"pinch/agent/prompt\"", "floor|agent/model/m.go"},
	{"agent/tool/t.go", "\nimport _ \"pinch/agent/memory\"", "floor|agent/tool/t.go"},
	{"agent/skill/s.go", "\nimport _ \"pinch/agent/memory\"", "floor|agent/skill/s.go"},
	{"agent/engine/e.go", "\nimport _ \"pinch/agent\"", "floor|agent/engine/e.go"},
	{"storage/s.go", "\nimport _ \"pinch/agent/tool\"", "floor|storage/s.go"},
	{"hw/gpio/g.go", "\nimport _ \"pinch/hw/host\"", "floor|hw/gpio/g.go"},
	{"channels/x/c.go", "\nimport _ \"pinch\"", "floor|channels/x/c.go"},
	{"agent/lanes/l.go", "", "floor|agent/lanes"},
	{"main.go", "\nimport _ \"pinch/channels/channeltest\"", "floor|main.go"},
	{"agent/agent.go", "\nimport _ \"github.com/mattn/go-sqlite3\"", "home|agent/agent.go"},
	{"channels/qq/q.go", "\nimport _ \"github.com/new/thing\"", "home|channels/qq/q.go"},
	{"channels/qq/q_test.go", "\nimport _ \"github.com/stretchr/testify/assert\"", "home|channels/qq/q_test.go"},
	{"channels/qq/q.go", "\nimport _ \"pgregory.net/rapid\"", "home|channels/qq/q.go"},
	{"hw/camera/c.go", "\nimport _ \"os/exec\"", "exec|hw/camera/c.go"},
	{"hw/c_test.go", "\nimport sh \"os/exec\"\nvar _ = sh.Command", "exec|hw/c_test.go"},
	{"packaging/p.go", "\nimport _ \"os/exec\"", "exec|packaging/p.go"},
	{"hw/camera/c.go", "\nimport \"os\"\nvar _ = os.StartProcess", "exec|hw/camera/c.go"},
	{"hw/h.go", "\nfunc init() {}", "global|hw/h.go"},
	{"hw/h_test.go", "\nfunc init() {}", "global|hw/h_test.go"},
	{"hw/h.go", "\nimport _ \"log\"", "global|hw/h.go"},
	{"hw/h.go", "\nimport \"log/slog\"\nfunc f() { slog.Info(``) }", "global|hw/h.go"},
	{"hw/h.go", "\nimport _ \"text/template\"", "global|hw/h.go"},
	{"hw/h_test.go", "\nimport \"time\"\nfunc f() { time.Sleep(1) }", "sleep|hw/h_test.go"},
	{"hw/h.go", "\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }", "sleep|hw/h.go"},
	{"hw/h.go", "\nimport \"context\"\nvar c = context.Background()", "context|hw/h.go"},
	{"hw/h.go", "\nimport \"context\"\nvar c = context.TODO()", "context|hw/h.go"},
	{"storage/utils/u.go", "", "name|storage/utils/u.go"},
	{"storage/types.go", "", "name|storage/types.go"},
	{"hw/h.go", "\nfunc f() { go f() }", "goroutine|hw/h.go"},
	{"hw/h.go", "\nimport \"sync\"\nfunc f() { var w sync.WaitGroup; w.Go(f) }", "goroutine|hw/h.go"},
	{"hw/h.go", "\nvar seen = map[string]bool{}\nfunc f() { seen[``] = true }", "variable|hw/h.go:f"},
	{"hw/h.go", "\nvar n int\nfunc f() { n++ }", "variable|hw/h.go:f"},
	{"hw/h.go", "\nvar m map[int]int\nfunc f() { delete(m, 1) }", "variable|hw/h.go:f"},
	{"hw/h.go", "\nimport \"sync\"\nvar mu sync.Mutex", "variable|hw/h.go:mu"},
	{"hw/h.go", "\ntype t struct { a, b map[string]any; c map[string]interface{} }", "untyped|."},
	{"hw/h.go", strings.Repeat("\n", 601), "file|hw/h.go, long files|."},
	{"hw/h_test.go", strings.Repeat("\n", 601), "file|hw/h_test.go"},
	{"hw/h.go", "\nfunc f() {" + strings.Repeat("\n", 80) + "}", "function|hw/h.go:f"},
	{"hw/h.go", "\nvar f = func() {" + strings.Repeat("\n", 80) + "}", "function|hw/h.go:"},
	{"hw/h.go", "\ntype t struct { " + repeated("f%d int; ", 15) + "}", "struct|hw/h.go:t"},
	{"hw/h.go", "\ntype t interface { " + repeated("f%d(); ", 4) + "}", "interface|hw/h.go:t"},
	{"hw/h.go", "\nfunc f(a, b, c, d, e, f int) {}", "parameters|hw/h.go:f"},
	{"hw/h.go", "\ntype t interface { f(int, int, int, int, int, int) }", "parameters|hw/h.go:t"},
	{"agent/engine/e.go", "\nimport (_ \"pinch/agent/model\"; _ \"pinch/budget\")" +
		"\nimport (_ \"pinch/agent/config\"; _ \"pinch/channels\"; _ \"pinch/hw\"; _ \"pinch/agent/command\"; _ \"pinch/agent/session\"; _ \"pinch/agent/prompt\"; _ \"pinch/agent/media\"; _ \"pinch/agent/memory\"; _ \"pinch/agent/reflex\")",
		"fan-out|agent/engine"},
}

// find judges the good house with one file added to it.
func find(t *testing.T, more map[string]string) (found []string) {
	t.Helper()
	h := &house{}
	files := maps.Clone(good)
	maps.Copy(files, more)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := h.add(name, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range h.judge() {
		found = append(found, g.rule+"|"+g.where)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// header makes a fake file's first lines.
func header(path string) string {
	dirs := strings.Split(path, "/")
	name := "main"
	if len(dirs) > 1 {
		name = dirs[len(dirs)-2]
	}
	return "// Package " + name + " is a fake.\npackage " + name
}

func TestRulesFindTheGuilty(t *testing.T) {
	if found := find(t, nil); len(found) > 0 {
		t.Fatalf("the good house is guilty: %v", found)
	}
	proved := make(map[string]bool)
	for _, c := range guilty {
		found := find(t, map[string]string{c.path: header(c.path) + c.text + "\n"})
		wanted := strings.Split(c.want, ", ")
		if !slices.Equal(found, wanted) {
			t.Errorf("%s %.80q\ngot  %v\nwant %v", c.path, c.text, found, c.want)
		}
		rule, _, _ := strings.Cut(c.want, "|")
		proved[rule] = true
	}
	many := make(map[string]string)
	for i := range 40 {
		name := fmt.Sprintf("hw/d%d/d.go", i)
		many[name] = header(name) + strings.Repeat("\n", 351) + "func f() {\n\tgo f()\n}\n"
	}
	many["hw/bare/b.go"] = "package bare\n"
	found := find(t, many)
	for _, want := range []string{"doc|hw/bare", "long files|.", "goroutine|.", "packages|."} {
		if !slices.Contains(found, want) {
			t.Errorf("%s is not found in %v", want, found)
		}
		rule, _, _ := strings.Cut(want, "|")
		proved[rule] = true
	}
	for rule := range rules {
		if !proved[rule] {
			t.Errorf("nothing proves the rule %q", rule)
		}
	}
}

func TestExemptions(t *testing.T) {
	all := []guilt{{"struct", "a.go:t", "x"}, {"struct", "b.go:t", "x"}}
	if left := pardon(all, []exemption{{"struct", "a.go:t", "wire format"}}); len(left) != 1 || left[0].where != "b.go:t" {
		t.Errorf("pardoned the wrong one: %v", left)
	}
	for _, e := range []exemption{{"struct", "c.go:t", "wire format"}, {"file", "a.go:t", "wire format"}, {"struct", "a.go:t", ""}} {
		left := pardon(all, []exemption{e})
		if !slices.ContainsFunc(left, func(g guilt) bool { return g.rule == "exemption" }) {
			t.Errorf("%v went through: %v", e, left)
		}
	}
	for name, want := range map[string]int{"main.go": 0, ".ci": 0, "bin": 0, "docs": 1, "util.go": 1, "main_test.go": 1} {
		if got := topLevel(name); len(got) != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
