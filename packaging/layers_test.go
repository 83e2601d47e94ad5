package packaging

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the house, as tests: who may import whom, what may stand where, and how large things may grow.
// A rule is a function from parsed files to guilts; guilty_test.go proves that each one still bites.

// place is where a package stands. It imports floors below as mayImport says, and its own floor to its left.
type place struct{ floor, step int }

var places = map[string]place{
	"agent/config": {0, 0},
	"budget":       {0, 1}, "channels": {0, 1}, "hw": {0, 1},
	"agent/model": {0, 2}, "agent/command": {0, 2},
	"agent/session": {0, 3},
	"storage":       {1, 0}, // and whatever lies below an entry of adapters
	"agent/prompt":  {2, 0}, "agent/media": {2, 0},
	"agent/tool":   {2, 1},
	"agent/memory": {2, 2}, "agent/skill": {2, 2}, "agent/reflex": {2, 2}, "agent/schedule": {2, 2},
	"agent/engine": {2, 3},
	"agent":        {3, 0}, "packaging": {3, 0},
	".": {4, 0},
}

var adapters = []string{"agent/model/", "channels/", "hw/", "storage/"}

// homes lists, for each outside module, the packages that may import it. testOnly is for test files.
var homes = map[string][]string{
	"github.com/BurntSushi/toml":         {"agent/config"},
	"github.com/coder/websocket":         {"channels/qq"},
	"github.com/coreos/go-systemd/v22":   {".", "packaging"},
	"github.com/go-telegram/bot":         {"channels/telegram"},
	"github.com/kardianos/service":       {"packaging"},
	"github.com/klauspost/compress/zstd": {"storage"},
	"github.com/mattn/go-sqlite3":        {"storage"},
	"github.com/ollama/ollama/api":       {"agent/model/ollama"},
	"github.com/peterh/liner":            {"channels/console"},
	"github.com/robfig/cron/v3":          {"agent/schedule"},
	"github.com/skip2/go-qrcode":         {"channels/console", "channels/web"},
	"github.com/titanous/json5":          {"storage/openclaw"},
	"github.com/yuin/goldmark":           {"channels/telegram", "channels/qq", "channels/web"},
	"go.bug.st/serial":                   {"hw/serial"},
	"go.yaml.in/yaml/v3":                 {"agent/skill", "agent/tool"},
	"golang.org/x/image":                 {"agent/media"},
	"golang.org/x/sys":                   {"storage", "hw/host", "hw/camera", "hw/serial"},
	"golang.org/x/term":                  {"channels/console"},
	"periph.io/x":                        {"hw/gpio", "hw/i2c", "hw/onewire"},
}

var testOnly = []string{
	"github.com/rogpeppe/go-internal", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/creack/pty",
	"github.com/hanwen/go-fuse/v2", "github.com/chromedp/chromedp",
}

// starters lists the files that may start other programs. A pseudo-terminal wants a process that leads a session.
var starters = []string{"packaging/*_test.go", "channels/console/terminal_test.go"}

// started is how many goroutines a file starts, and who waits for them.
type started struct {
	n     int
	owner string
}

// goroutines lists every go statement, or call of a Go method, outside tests and fakes.
var goroutines = map[string]started{
	"agent/agent.go":                {3, "Serve waits for the delivery and the run of each channel, and for the warming of the model"},
	"agent/lane.go":                 {2, "Serve waits for the lanes and for the commands that pass them"},
	"channels/telegram/telegram.go": {1, "Run waits for the one that shows typing"},
	"channels/web/server.go":        {1, "Serve waits for the HTTP server to end"},
	"main.go":                       {1, "together waits for the parts of the program"},
}

// exemptions are the reasoned exceptions. One that is no longer needed fails the test.
var exemptions = []exemption{}

type exemption struct{ rule, where, reason string }

// guilt is a broken rule. where is a file, a package, or file:name.
type guilt struct{ rule, where, what string }

func (g guilt) String() string { return fmt.Sprintf("%s: %s: %s", g.rule, g.where, g.what) }

// sourceFile is one parsed Go file; path and dir are relative to the repository.
type sourceFile struct {
	path, dir string
	test      bool
	lines     int
	tree      *ast.File
}

// house is what the rules look at.
type house struct {
	files  []sourceFile
	fset   *token.FileSet
	listed map[string]started
}

// add parses one file.
func (h *house) add(name, text string) error {
	if h.fset == nil {
		h.fset = token.NewFileSet()
	}
	tree, err := parser.ParseFile(h.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	h.files = append(h.files, sourceFile{
		path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		lines: strings.Count(text, "\n"), tree: tree,
	})
	return nil
}

// code is the files that are no tests.
func (h *house) code() []sourceFile {
	return slices.DeleteFunc(slices.Clone(h.files), func(f sourceFile) bool { return f.test })
}

// product is the code that ships: neither tests nor fakes.
func (h *house) product() []sourceFile {
	return slices.DeleteFunc(h.code(), func(f sourceFile) bool { return isFake(f.dir) })
}

func (h *house) line(p token.Pos) int { return h.fset.Position(p).Line }

// imports lists the import paths of a file.
func (f sourceFile) imports() []string {
	var all []string
	for _, spec := range f.tree.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		all = append(all, name)
	}
	return all
}

// isFake tells a package of fakes or of a test suite, such as channels/channeltest.
func isFake(dir string) bool { return strings.HasSuffix(dir, "test") }

// rules are all rules over sources, by name.
var rules = map[string]func(*house) []guilt{
	"floor": floors, "home": outside, "exec": processes, "global": globals, "doc": docs, "name": names,
	"sleep": sleeps, "context": contexts, "goroutine": goStatements, "variable": variables, "untyped": untyped,
	"file": fileSizes, "long files": longFiles, "function": functionSizes, "struct": structs, "interface": interfaces,
	"parameters": parameters, "fan-out": fanOut, "packages": packages,
}

func (h *house) judge() []guilt {
	var all []guilt
	for name, rule := range rules {
		for _, g := range rule(h) {
			g.rule = name
			all = append(all, g)
		}
	}
	return all
}

// pardon takes out what is exempt, and adds the exemptions that nothing needs or that give no reason.
func pardon(all []guilt, exempt []exemption) []guilt {
	for _, e := range exempt {
		left := slices.DeleteFunc(slices.Clone(all), func(g guilt) bool { return g.rule == e.rule && g.where == e.where })
		if len(left) == len(all) || e.reason == "" {
			left = append(left, guilt{"exemption", e.where, "of " + e.rule + " is not needed, or has no reason: remove it"})
		}
		all = left
	}
	slices.SortFunc(all, func(a, b guilt) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// sources parses every Go file of the repository.
func sources(t *testing.T) *house {
	t.Helper()
	h := &house{listed: goroutines}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return h.add(filepath.ToSlash(strings.TrimPrefix(name, "../")), string(text))
	})
	if err != nil || len(h.files) == 0 {
		t.Fatalf("reading the sources: %d files, %v", len(h.files), err)
	}
	return h
}

func TestHouse(t *testing.T) {
	all := sources(t).judge()
	top, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range top {
		all = append(all, topLevel(entry.Name())...)
	}
	for _, g := range pardon(all, exemptions) {
		t.Error(g)
	}
}

// topLevel knows the fixed names; the last three are made by building and ignored by git.
func topLevel(name string) []guilt {
	known := []string{
		"main.go", "agent", "channels", "storage", "hw", "budget", "packaging", "go.mod", "go.sum", "Makefile", "README.md",
		"LICENSE", "bin", "dist", "node_modules",
	}
	if slices.Contains(known, name) || strings.HasPrefix(name, ".") {
		return nil
	}
	return []guilt{{"top level", name, "is not one of the fixed names"}}
}
