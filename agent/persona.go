package agent

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/prompt"
	"pinch/agent/reflex"
	"pinch/agent/tool"
	"pinch/budget"
	"pinch/channels"
)

// The values of agent.reflex.
const (
	ReflexFirst    = "first"
	ReflexFallback = "fallback"
	ReflexOff      = "off"
)

// Config is the [agent] section.
type Config struct {
	Name      string `toml:"name" doc:"what it calls itself"`
	Workspace string `toml:"workspace" doc:"folder of SOUL.md, AGENTS.md, USER.md, IDENTITY.md, TOOLS.md, MEMORY.md; relative to the state directory"`
	Language  string `toml:"language" doc:"of fixed sentences: auto, en or zh"`
	Reflex    string `toml:"reflex" doc:"sentences that need no model: first, fallback or off"`
	Rounds    int    `toml:"rounds" doc:"most model calls in one turn"`
	FileMax   int    `toml:"file_max" doc:"most characters of one workspace file in the prompt; 0 = what its share of the window holds"`
	FilesMax  int    `toml:"files_max" doc:"most characters of all of them together; 0 = what the window holds"`
	Engine    string `toml:"engine" doc:"of the context: window, or recall (old messages are quoted with each new one)"`
}

// DefaultConfig is the section of an absent file.
func DefaultConfig() Config {
	return Config{Name: "Pinch", Workspace: "workspace", Language: "auto", Reflex: ReflexFirst, Rounds: 8, Engine: "window"}
}

// Validate checks the section.
func (c Config) Validate() error {
	switch {
	case strings.TrimSpace(c.Name) == "":
		return fmt.Errorf(`name is empty: write a name, such as "Pinch"`)
	case c.Workspace == "":
		return fmt.Errorf(`workspace is empty: write a folder, such as "workspace"`)
	case c.Language != "auto" && c.Language != "en" && c.Language != "zh":
		return fmt.Errorf(`language %q is not one of "auto", "en", "zh"`, c.Language)
	case c.Reflex != ReflexFirst && c.Reflex != ReflexFallback && c.Reflex != ReflexOff:
		return fmt.Errorf(`reflex %q is not one of "first", "fallback", "off"`, c.Reflex)
	case c.Rounds < 2 || c.Rounds > 64:
		return fmt.Errorf("rounds %d is out of range: 2 to 64, 8 is usual", c.Rounds)
	case c.FileMax < 0 || c.FilesMax < 0:
		return fmt.Errorf("file_max and files_max cannot be negative: 0 means no limit in characters")
	}
	return nil
}

// Persona is one configured agent.
type Persona struct {
	ID        string // as in conversation keys
	Config    Config
	Workspace *Workspace
	Version   string
	Board     string   // what it runs on, for the head
	Tools     tool.Set // the tools block
	Hidden    tool.Set // found by more_tools
	Model     Model
	Engine    engine.Engine
	Reflexes  *reflex.Set
	Memory    Memory

	mu     sync.Mutex
	window int // of the preferred model; 0 = not known yet
	blocks map[bool]string
}

// Model is whom a persona asks.
type Model struct {
	Client model.Client
	Prober model.Prober                // of the preferred model
	Local  bool                        // the preferred model stays in the house
	Remedy func(error) channels.Phrase // what to do when none answers, by the reason
}

// Memory is what the loop does with memory while nobody waits.
type Memory interface {
	// Index adds some of what was said to the search index; more tells whether there is more to do.
	Index(ctx context.Context) (more bool, err error)
	// Note appends lines to the notes of a day.
	Note(day time.Time, lines string) error
}

// language of fixed sentences for someone who wrote text.
func (p *Persona) language(text string) string {
	if p.Config.Language != "auto" {
		return p.Config.Language
	}
	return channels.Language(text)
}

// probe asks the preferred model what it is, until it answers once. ok is true that one time.
func (p *Persona) probe(ctx context.Context) (info model.Info, ok bool) {
	if p.known() != 0 {
		return model.Info{}, false
	}
	info, err := p.Model.Prober.Probe(ctx)
	if err != nil {
		return model.Info{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.window = info.Window
	return info, true
}

// guess is the plan by what is known of the window, without asking anybody.
func (p *Persona) guess() budget.Plan {
	return budget.Split(cmp.Or(p.known(), budget.DefaultWindow), p.Config.Rounds)
}

// known is the window of the preferred model as far as it told; 0 = not yet.
func (p *Persona) known() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window
}

// believe lowers the window to what a server showed to have. It reports whether that is news.
func (p *Persona) believe(window int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if window < leastWindow || p.window != 0 && window >= p.window {
		return false
	}
	p.window = window
	return true
}

// leastWindow is the smallest window that is believed, in tokens.
const leastWindow = 512

// resolve finds the tool that a model means, in the tools block or outside of it.
func (p *Persona) resolve(name string, private bool) (found tool.Tool, ok bool, hint string) {
	if found, ok, hint = p.Tools.For(private).Resolve(name); ok {
		return found, ok, hint
	}
	if found, ok, _ := p.Hidden.For(private).Resolve(name); ok {
		return found, true, ""
	}
	return tool.Tool{}, false, hint
}

// source identifies everything that a head is made of, so that a change from outside starts an epoch.
func (p *Persona) source(private bool) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d\x00%d\x00%s\x00%v\x00%x", p.Version, p.Board, p.Config.Name,
		p.Config.FileMax, p.Config.FilesMax, p.block(private), private, p.Workspace.stamp(private))
	return fmt.Sprintf("%016x", h.Sum64())
}

// block is the tools block of a conversation; it is made once.
func (p *Persona) block(private bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blocks[private] == "" {
		if p.blocks == nil {
			p.blocks = map[bool]string{}
		}
		p.blocks[private] = prompt.Tools(p.Tools.Specs(private))
	}
	return p.blocks[private]
}

// front is a fresh head, and what the owner should know of it.
type front struct {
	engine.Rendered
	cuts     []prompt.Cut
	troubles []trouble
}

// render makes a fresh head for a conversation.
func (p *Persona) render(private bool, plan budget.Plan) front {
	f := front{Rendered: engine.Rendered{Tools: p.block(private)}}
	var files []prompt.File
	files, f.troubles = p.Workspace.read(private)
	f.Head, f.cuts = prompt.Head(prompt.Spec{
		Name: p.Config.Name, Board: p.Board, Tools: len(p.Tools.Specs(private)) > 0, Private: private, Window: plan.Window,
		Files: files, Most: prompt.Most{File: p.Config.FileMax, All: p.Config.FilesMax}, Tokens: plan.Head - budget.Tokens(f.Tools),
	})
	return f
}

// missing says in short what of the files does not stand in the head.
func (f front) missing(language string) []string {
	var list []string
	for _, c := range f.cuts {
		if c.Used > 0 && c.Used < c.Raw {
			list = append(list, fmt.Sprintf(sayCutFile.In(language), c.File, c.Used, c.Raw))
		}
	}
	return list
}

// warnings says what the owner should do something about.
func (f front) warnings(language string) []string {
	var list []string
	for _, t := range f.troubles {
		list = append(list, t.text(language))
	}
	for _, c := range f.cuts {
		switch {
		case c.Used == 0: // a small window's head is as it is
		case c.Used < c.Raw:
			list = append(list, fmt.Sprintf(sayTightFile.In(language), c.File, c.Used, c.Raw))
		default:
			list = append(list, fmt.Sprintf(sayNearFile.In(language), c.File, c.Used, c.Limit))
		}
	}
	return list
}
