package agent_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pinch/agent"
	"pinch/agent/command"
	"pinch/agent/engine"
	"pinch/agent/memory"
	"pinch/agent/model"
	"pinch/agent/reflex"
	"pinch/agent/tool"
	"pinch/channels"
	"pinch/channels/channeltest"
	"pinch/storage"
)

// world is an agent on a real store, with one channel in memory and a scripted model. Ana is its owner.
type world struct {
	t       testing.TB
	state   string
	db      *storage.DB
	rows    storage.Rows
	channel *channeltest.Channel
	agent   *agent.Agent
	store   agent.Store
	persona *agent.Persona
	end     func()
}

// bench is a tool with an effect on the world: it counts its runs.
type bench struct {
	mu   sync.Mutex
	runs []string
	do   func()
	more string // of each result
}

func (b *bench) tool(name string, effect tool.Effect) tool.Tool {
	return tool.Tool{
		Name: name, Doc: "For tests.", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`), Effect: effect, Owner: true,
		Run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			b.mu.Lock()
			b.runs = append(b.runs, name+string(c.Args))
			b.mu.Unlock()
			if b.do != nil {
				b.do()
			}
			return tool.Result{Text: name + " done" + b.more}, nil
		},
	}
}

type window int

func (w window) Probe(context.Context) (model.Info, error) {
	if w == 0 {
		return model.Info{}, model.ErrUnavailable
	}
	return model.Info{Window: int(w)}, nil
}

// newWorld makes an agent in dir that does not run yet.
func newWorld(t testing.TB, dir string, client model.Client, extra ...tool.Tool) *world {
	t.Helper()
	return newWorldWith(t, dir, client, func(*agent.Store) {}, extra...)
}

// newWorldWith lets change the store first.
func newWorldWith(t testing.TB, dir string, client model.Client, change func(*agent.Store), extra ...tool.Tool) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	w := &world{t: t, state: dir, channel: channeltest.New("telegram")}
	w.db = must(storage.Open(t.Context(), dir, log))(t)
	w.rows = w.db.For("main")
	space := filepath.Join(dir, "workspace")
	if err := os.MkdirAll(space, 0o700); err != nil {
		t.Fatal(err)
	}
	root := must(os.OpenRoot(space))(t)
	notes := memory.New(root, w.rows.Notes, w.rows.Past)
	w.persona = &agent.Persona{
		ID: "main", Config: agent.DefaultConfig(), Workspace: agent.NewWorkspace(root), Version: "test",
		Tools:    must(tool.NewSet(slices.Concat(tool.Files(root, 400), notes.Tools(), extra)...))(t),
		Model:    agent.Model{Client: client, Prober: window(4096), Remedy: func(error) channels.Phrase { return channels.Phrase{EN: "Start the model.", ZH: "请启动模型。"} }},
		Engine:   engine.NewWindow(w.rows.Log, engine.DefaultConfig()),
		Memory:   notes,
		Reflexes: must(reflex.New(reflex.Builtins(), reflex.Lists{}, nil))(t),
	}
	w.store = agent.Store{
		Journal: w.rows.Journal, Inbox: w.rows.Inbox, Outbox: w.rows.Outbox, Conversations: w.rows.Conversations,
		People:  w.db.People(map[string][]string{"telegram": {"ana"}}),
		Records: w.rows.Records, Log: w.rows.Log, Settings: w.rows.Settings,
	}
	change(&w.store)
	w.end = sync.OnceFunc(func() { root.Close(); w.db.Close() })
	t.Cleanup(func() { w.end() })
	w.agent = agent.New(w.store, w.persona, log)
	w.bind(command.NewTable(w.agent.Operations(), notes.Operations(), []command.Op{w.agent.Status(nil)}))
	return w
}

func (w *world) bind(table command.Table) { w.agent.Bind(table, w.channel) }

// start lets the agent run until stop or the end of the test.
func (w *world) start() *world {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.agent.Serve(ctx) }()
	closeStore := w.end
	w.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			w.t.Errorf("serve: %v", err)
		}
		closeStore()
	})
	return w
}

// kill ends the agent where it hangs: the store is closed first, so that nothing more is written, as when a process
// dies.
func (w *world) kill(dead chan struct{}) {
	w.db.Close()
	close(dead)
	w.end()
}

// stop ends the agent and closes its store.
func (w *world) stop() { w.end() }

func (w *world) say(text string) {
	w.channel.Push(channels.Inbound{
		Event: rand.Text(), Kind: channels.KindMessage, At: time.Now(), Text: text,
		Chat: channels.Chat{ID: "ana", Kind: channels.Private}, Sender: channels.Sender{ID: "ana", Name: "ana"},
	})
}

func (w *world) want(text string) channels.Part { w.t.Helper(); return w.channel.Want(w.t, text) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.state, "workspace", name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
