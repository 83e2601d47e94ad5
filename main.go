// Command pinch is a private assistant for a small board: it answers over Telegram and in a terminal, with a local
// model or with none. This file is wiring only: flags, config, the parts, and running until a signal.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"pinch/agent"
	"pinch/agent/command"
	"pinch/agent/config"
	"pinch/agent/engine"
	"pinch/agent/memory"
	"pinch/agent/model"
	"pinch/agent/model/ollama"
	"pinch/agent/reflex"
	"pinch/agent/session"
	"pinch/agent/tool"
	"pinch/budget"
	"pinch/channels"
	"pinch/channels/console"
	"pinch/channels/qq"
	"pinch/channels/telegram"
	"pinch/channels/web"
	"pinch/hw/host"
	"pinch/storage"
)

// version is set when the binary is built.
var version = "dev"

// mainAgent is the id of the agent that [agent] configures.
const mainAgent = "main"

// The exit codes: 1 is a failure that was explained, 2 is a wrong command line.
const (
	exitFailed = 1
	exitUsage  = 2
)

const usage = `Pinch: a private assistant on a small board.

usage: pinch [--state DIR] COMMAND

  run              serve all configured channels, until a signal
  chat             talk in this terminal (or pipe lines in; --json, --session NAME)
  context          what the next prompt would hold, in tokens
  status           how things are
  doctor           look for what is wrong, and what to do about it
  config example   print every setting with its default
  version          print the version

The state directory holds pinch.toml, the database and the workspace. It is --state, else $PINCH_STATE, else
$STATE_DIRECTORY, else that of the service on this machine, else ~/.pinch. context, status and doctor take --json.
`

func main() {
	os.Exit(run(os.Args[1:]))
}

// program is one start of pinch.
type program struct {
	state  string // the state directory
	origin string // what chose it
	out    io.Writer
	err    io.Writer
}

func run(args []string) int {
	p := &program{out: os.Stdout, err: os.Stderr}
	flags := flag.NewFlagSet("pinch", flag.ContinueOnError)
	state := flags.String("state", "", "state directory")
	err := parse(flags, args)
	name := flags.Arg(0)
	p.state, p.origin = stateDir(*state)
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if name == "chat" && console.Interactive() {
		signals = signals[:1] // at a terminal Ctrl-C stops a turn, not us
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	if err == nil {
		err = p.do(ctx, name, flags.Args()[min(1, flags.NArg()):])
	}
	var wrong usageError
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(p.out, usage)
	case errors.As(err, &wrong):
		fmt.Fprintf(p.err, "pinch: %s\n", wrong)
		return exitUsage
	case errors.Is(err, errFound):
		return exitFailed
	case err != nil && ctx.Err() == nil:
		fmt.Fprintf(p.err, "pinch: %v\n", err)
		return exitFailed
	}
	return 0
}

// parse reads flags. What is wrong with them is a usageError, a wish for help flag.ErrHelp.
func parse(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return usageError(err.Error() + "; pinch help tells what there is")
	}
	return err
}

// none refuses arguments.
func none(name string, args []string) error {
	if err := parse(flag.NewFlagSet(name, flag.ContinueOnError), args); err != nil || len(args) == 0 {
		return err
	}
	return usageError(fmt.Sprintf("pinch %s takes no arguments, and not %q; pinch help tells more", name, args[0]))
}

type usageError string

func (e usageError) Error() string { return string(e) }

// errFound is a doctor that found a failure, which it has told already.
var errFound = errors.New("doctor found a failure")

func (p *program) do(ctx context.Context, name string, args []string) error {
	switch name {
	case "":
		fmt.Fprint(p.err, usage, "\n")
		return usageError("a command is missing")
	case "help":
		return flag.ErrHelp
	case "version":
		if err := none(name, args); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.out, "pinch", version)
		return err
	case "run":
		if err := none(name, args); err != nil {
			return err
		}
		return p.serve(ctx)
	case "chat":
		return p.chat(ctx, args)
	case "config":
		if len(args) == 1 && args[0] == "example" {
			_, err := io.WriteString(p.out, config.Example(defaults().sections()...))
			return err
		}
		return usageError("write: pinch config example")
	}
	return p.operation(ctx, name, args)
}

// stateDir chooses the state directory and says by what.
func stateDir(given string) (dir, origin string) {
	if given != "" {
		return given, "--state"
	}
	for _, name := range []string{"PINCH_STATE", "STATE_DIRECTORY"} {
		if v := os.Getenv(name); v != "" {
			return v, "$" + name
		}
	}
	const service = "/var/lib/pinch"
	if _, err := os.Stat(filepath.Join(service, "pinch.db")); err == nil {
		return service, "the service on this machine"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, ".pinch"), "home"
}

func (p *program) socket() string { return filepath.Join(p.state, "pinch.sock") }

// logger writes to standard error: the service manager keeps it, a terminal sees warnings only.
func (p *program) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: level}))
}

// serve is pinch run.
func (p *program) serve(ctx context.Context) error {
	// The cores and the memory of a board are for the model beside us.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(50)
	log := p.logger(slog.LevelInfo)
	h, err := p.build(ctx, log)
	if err != nil {
		return err
	}
	defer h.close()
	return h.serve(ctx, p.socket(), log)
}

// chat is pinch chat: over the socket of a running service, else with the agent in this process.
func (p *program) chat(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("chat", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one JSON object a reply")
	name := flags.String("session", "main", "conversation")
	if err := cmp.Or(parse(flags, args), none("chat", flags.Args())); err != nil {
		return err
	}
	o := console.Options{
		In: os.Stdin, Out: p.out, Err: p.err, JSON: *asJSON, Terminal: console.Interactive() && !*asJSON,
		Conversation: *name, Key: string(session.Named(mainAgent, *name)), History: filepath.Join(p.state, "history"),
	}
	defer context.AfterFunc(ctx, leave)()
	client, err := web.Dial(p.socket())
	if err == nil {
		return console.Run(ctx, o, client, client)
	}
	if !errors.Is(err, web.ErrNotRunning) {
		return err
	}
	h, err := p.build(ctx, p.logger(slog.LevelError))
	if err != nil {
		return err
	}
	defer h.close()
	if o.Terminal {
		fmt.Fprintln(p.err, h.greeting(ctx))
	}
	return h.chat(ctx, o)
}

// leave ends a chat that was told to end and still waits for a line: reading standard input cannot be interrupted.
// What matters is on the disk already.
func leave() {
	<-time.After(time.Second)
	os.Exit(0)
}

// operation runs an operation of the table that the command line offers.
func (p *program) operation(ctx context.Context, name string, args []string) error {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	call := command.Call{Name: name, Args: strings.Join(flags.Args(), " "), Owner: true, Language: language()}
	result, err := p.call(ctx, call)
	if err != nil {
		if errors.Is(err, command.ErrUnknown) {
			return usageError(fmt.Sprintf("%q is not a command; pinch help lists them", name))
		}
		return err
	}
	if err := result.Print(p.out, *asJSON); err != nil {
		return err
	}
	if result.Failed {
		return errFound
	}
	return nil
}

// call asks the running service, else runs the operation in this process.
func (p *program) call(ctx context.Context, call command.Call) (command.Result, error) {
	client, err := web.Dial(p.socket())
	if err == nil {
		return client.Call(ctx, call)
	}
	if !errors.Is(err, web.ErrNotRunning) {
		return command.Result{}, err
	}
	h, err := p.build(ctx, p.logger(slog.LevelError))
	if err != nil {
		if call.Name == "doctor" && !errors.Is(err, storage.ErrLocked) {
			return command.Diagnose([]command.Finding{{Name: "start", Level: command.Fail, Text: err.Error()}}), nil
		}
		return command.Result{}, err
	}
	defer h.close()
	h.agent.Bind(h.table)
	return h.agent.Call(ctx, call)
}

// settings are the sections of pinch.toml.
type settings struct {
	agent    agent.Config
	engine   engine.Config
	models   []model.Config
	telegram telegram.Config
	qq       qq.Config
	storage  storage.Config
}

func defaults() *settings {
	s := &settings{
		agent: agent.DefaultConfig(), engine: engine.DefaultConfig(), models: make([]model.Config, 1), telegram: telegram.DefaultConfig(),
		qq: qq.DefaultConfig(), storage: storage.DefaultConfig(),
	}
	s.models[0].Default()
	return s
}

func (s *settings) sections() []config.Section {
	return []config.Section{
		{Name: "agent", Doc: "the assistant", Into: &s.agent},
		{Name: "engine", Doc: "what stands in the window", Into: &s.engine},
		{Name: "model", Doc: "a model, in order of preference", Into: &s.models},
		{Name: "channels.telegram", Doc: "a Telegram bot", Into: &s.telegram},
		{Name: "channels.qq", Doc: "a QQ bot (names are final; the channel comes later)", Into: &s.qq},
		{Name: "storage", Doc: "what is kept on the disk", Into: &s.storage},
	}
}

// house is everything that one process runs.
type house struct {
	db       *storage.DB
	root     *os.Root
	agent    *agent.Agent
	local    *web.Channel
	telegram []*telegram.Channel
	models   []model.Prober
	first    model.Config // the preferred model
	table    command.Table
}

func (h *house) close() {
	h.root.Close()
	h.db.Close()
}

// build reads the config, opens the state directory and joins the parts.
func (p *program) build(ctx context.Context, log *slog.Logger) (*house, error) {
	set := defaults()
	if err := config.Load(filepath.Join(p.state, "pinch.toml"), set.sections()...); err != nil {
		return nil, err
	}
	db, err := storage.Open(ctx, p.state, log)
	if err != nil {
		return nil, err
	}
	h := &house{db: db, local: web.New("console")}
	if err := h.furnish(p, set, log); err != nil {
		db.Close()
		return nil, err
	}
	return h, nil
}

func (h *house) furnish(p *program, set *settings, log *slog.Logger) error {
	dir := set.agent.Workspace
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.state, dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the workspace: %w", err)
	}
	var err error
	if h.root, err = os.OpenRoot(dir); err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	rows := h.db.For(mainAgent)
	notes, board := memory.New(h.root, rows.Notes, rows.Past), host.New("/")
	persona, err := h.persona(set, rows, notes, log)
	if err != nil {
		return err
	}
	if err := equip(persona, tool.Files(h.root, fresh(set)), notes, board); err != nil {
		return err
	}
	allow := map[string][]string{}
	for name, c := range set.telegram.All() {
		h.telegram = append(h.telegram, telegram.New(name, c, log))
		allow[name] = c.Allowed()
	}
	h.agent = agent.New(agent.Store{
		Journal: rows.Journal, Inbox: rows.Inbox, Outbox: rows.Outbox, People: h.db.People(allow),
		Conversations: rows.Conversations, Records: rows.Records, Log: rows.Log, Past: rows.Past, Settings: rows.Settings,
	}, persona, log)

	checks := h.checks(p, set, board)
	h.table = command.NewTable(h.agent.Operations(), notes.Operations(), board.Operations(),
		[]command.Op{h.agent.Status(checks), command.Doctor(checks)})
	return nil
}

// engines is the registry of context engines.
var engines = map[string]func(*engine.Window, *memory.Memory) engine.Engine{
	"window": func(w *engine.Window, _ *memory.Memory) engine.Engine { return w },
	"legacy": func(w *engine.Window, _ *memory.Memory) engine.Engine { return w }, // its name in OpenClaw
	"recall": func(w *engine.Window, m *memory.Memory) engine.Engine { return engine.NewRecall(w, m) },
}

// fresh is the most tokens of a tool's result.
func fresh(set *settings) int {
	return budget.Split(cmp.Or(set.models[0].Window, budget.DefaultWindow), set.agent.Rounds).Fresh
}

// equip gives a persona its tools: the core ones stand in the tools block, the rest is found by more_tools.
func equip(p *agent.Persona, files []tool.Tool, notes *memory.Memory, board host.Host) error {
	var rest []tool.Tool
	for _, op := range slices.Concat(board.Operations(), notes.Operations()) {
		switch op.Name {
		case "remember", "recall": // these are core tools
		case "forget":
			rest = append(rest, tool.Operation(op, tool.Workspace))
		default:
			rest = append(rest, tool.Operation(op, tool.None))
		}
	}
	var err error
	if p.Hidden, err = tool.NewSet(rest...); err != nil {
		return err
	}
	p.Tools, err = tool.NewSet(slices.Concat(files, notes.Tools(), tool.More(p.Hidden))...)
	return err
}

func (h *house) persona(set *settings, rows storage.Rows, notes *memory.Memory, log *slog.Logger) (*agent.Persona, error) {
	reflexes, err := reflex.New(reflex.Builtins(), reflex.Lists{}, nil)
	if err != nil {
		return nil, err
	}
	makeEngine, ok := engines[set.agent.Engine]
	if !ok {
		return nil, fmt.Errorf("agent.engine %q is not one of window, recall", set.agent.Engine)
	}
	var clients []model.Named
	for _, c := range set.models {
		client, err := ollama.New(c, nil, log)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", c.Name, err)
		}
		clients = append(clients, model.Named{Name: c.Name, Client: client})
		h.models = append(h.models, client)
	}
	first := set.models[0]
	h.first = first
	return &agent.Persona{
		ID: mainAgent, Config: set.agent, Workspace: agent.NewWorkspace(h.root), Version: version,
		Board: host.New("/").Model(), Engine: makeEngine(engine.NewWindow(rows.Log, set.engine), notes),
		Model:    agent.Model{Client: model.Fallback(clients...), Prober: h.models[0], Local: first.Stays(), Remedy: remedy(first)},
		Reflexes: reflexes, Memory: notes,
	}, nil
}

// serve runs every channel and the socket until ctx ends.
func (h *house) serve(ctx context.Context, socket string, log *slog.Logger) error {
	list := []channels.Channel{h.local}
	for _, t := range h.telegram {
		list = append(list, t)
	}
	h.agent.Bind(h.table, list...)
	return together(ctx, h.agent.Serve,
		func(ctx context.Context) error { return web.Serve(ctx, socket, h.local, h.agent, log) })
}

// chat runs the agent for one terminal.
func (h *house) chat(ctx context.Context, o console.Options) error {
	h.agent.Bind(h.table, h.local)
	ctx, end := context.WithCancel(ctx)
	return together(ctx, h.agent.Serve, func(ctx context.Context) error {
		defer end()
		return console.Run(ctx, o, h.local, h.agent)
	})
}

// together runs functions until all have returned; the first error ends the others and is returned.
func together(ctx context.Context, list ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	var first error
	var once sync.Once
	for _, f := range list {
		group.Go(func() {
			if err := f(ctx); err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	group.Wait()
	return first
}

// checks are what status and doctor look at.
func (h *house) checks(p *program, set *settings, board host.Host) []command.Check {
	checks := append([]command.Check{storage.Doctor(p.state, p.origin, set.storage)}, board.Checks()...)
	for i, c := range set.models {
		checks = append(checks, agent.CheckModel(c, h.models[i]))
	}
	for _, t := range h.telegram {
		checks = append(checks, t.Doctor())
	}
	return checks
}

// remedy says what to do about a model that does not answer.
func remedy(c model.Config) func(error) channels.Phrase {
	return func(err error) channels.Phrase {
		if errors.Is(err, model.ErrNotFound) {
			return channels.Phrase{
				EN: fmt.Sprintf("The server at %s does not have it: run `ollama pull %s` there.", c.URL, c.Model),
				ZH: fmt.Sprintf("%s 上没有这个模型：请在那里运行 `ollama pull %s`。", c.URL, c.Model),
			}
		}
		return channels.Phrase{
			EN: fmt.Sprintf("Nothing answers at %s: install Ollama from ollama.com there and run `ollama pull %s`.", c.URL, c.Model),
			ZH: fmt.Sprintf("%s 没有响应：请在那里安装 Ollama（ollama.com），并运行 `ollama pull %s`。", c.URL, c.Model),
		}
	}
}

// greeting is the line above a terminal chat: whether a model is there, and what to do when none is.
func (h *house) greeting(ctx context.Context) string {
	info, err := h.models[0].Probe(ctx)
	if err != nil {
		return remedy(h.first)(err).In(language()) + " " + greetWithout.In(language())
	}
	return fmt.Sprintf(greetWith.In(language()), info.Model, info.Window)
}

var (
	greetWith    = channels.Phrase{EN: "Model %s, %d tokens of window. /help lists commands, Ctrl-D leaves.", ZH: "模型 %s，窗口 %d token。/help 列出命令，Ctrl-D 退出。"}
	greetWithout = channels.Phrase{EN: "Until then I answer by myself: try “help”. Ctrl-D leaves.", ZH: "在那之前我可以直接回答一些话：试试“帮助”。Ctrl-D 退出。"}
)

// language of the fixed sentences on the command line.
func language() string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := os.Getenv(name); v != "" {
			if strings.HasPrefix(v, "zh") {
				return "zh"
			}
			break
		}
	}
	return "en"
}
