package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// Window is the engine that sends the newest part of a conversation and a summary of what came before. A conversation
// is shortened rarely and deeply, so that the requests between two compactions begin with each other.
type Window struct {
	Log    Log
	Config Config

	mu      sync.Mutex
	flushed map[session.Key]int64             // the epoch whose lasting facts were written down
	notes   map[session.Key]map[string]string // of the chunks of a compaction that is not done
}

// NewWindow returns a window engine over a log.
func NewWindow(log Log, config Config) *Window {
	return &Window{
		Log: log, Config: config, flushed: map[session.Key]int64{}, notes: map[session.Key]map[string]string{},
	}
}

// tail is a conversation as an epoch sees it: the entries that it holds, without those of the running turn.
type tail struct {
	epoch   session.Epoch
	entries []session.Entry
}

// Assemble makes the request of one round.
func (w *Window) Assemble(ctx context.Context, ask Ask) (Assembly, error) {
	t, err := w.open(ctx, ask)
	if err != nil {
		return Assembly{}, err
	}
	a := Assembly{Parts: t.measure(ask.Fresh)}
	if ask.Known.Size(t.epoch.ID, a.Parts) > ask.Limit && (len(t.entries) > 0 || t.epoch.Summary != "") {
		if ask.Working != nil {
			ask.Working()
		}
		if t, a.Compaction, err = w.shorten(ctx, ask, t, w.fit(ask)); err != nil {
			return Assembly{}, err
		}
		a.Parts = t.measure(ask.Fresh)
	}
	a.Epoch = t.epoch
	if a.Request, err = t.request(ask.Fresh); err != nil {
		return Assembly{}, err
	}
	a.Request.Reply = ask.Plan.Reply
	return a, nil
}

// fit is the goal of making room for what is fresh. The last stored turn may go for it, unless the running turn has
// no question of its own and goes on with that turn's.
func (w *Window) fit(ask Ask) goal {
	fresh := Sum(ask.Fresh)
	g := goal{low: unbound(min(w.mark(ask.Plan.Low), ask.Limit*2/3)) - fresh, most: math.MaxInt}
	if fresh > 0 && ask.Fresh[0].Message.Role == model.User {
		g.most = unbound(ask.Limit) - fresh
	}
	return g
}

// open reads a conversation, and starts an epoch when what the head is made of has changed, or when a pair that was
// sent whole in this one is broken.
func (w *Window) open(ctx context.Context, ask Ask) (tail, error) {
	epoch, entries, err := w.Log.Tail(ctx, ask.Key)
	if err != nil {
		return tail{}, fmt.Errorf("read the conversation: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e session.Entry) bool { return e.Turn == ask.Turn })
	entries, broken := Repair(entries)
	t := tail{epoch, entries}
	switch {
	case epoch.ID == 0:
		epoch.Reason = "first message"
	case epoch.Source != ask.Source:
		epoch.Reason = "settings or workspace changed"
	case broken.After(epoch.Began):
		epoch.Reason = "pair repair"
	default:
		return t, nil
	}
	if ask.Now.Before(broken) { // the clock was set back: what is repaired now needs no other epoch
		ask.Now = broken
	}
	t.epoch, err = w.begin(ctx, ask, epoch)
	return t, err
}

// begin stores an epoch with a fresh head.
func (w *Window) begin(ctx context.Context, ask Ask, e session.Epoch) (session.Epoch, error) {
	r := ask.Render()
	e.ID, e.Key, e.Head, e.Tools, e.Source, e.Began = 0, ask.Key, r.Head, r.Tools, ask.Source, ask.Now
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d\x00%d", e.Head, e.Tools, e.Summary, e.First, e.Stub)
	e.Hash = fmt.Sprintf("%016x", h.Sum64())
	e, err := w.Log.NewEpoch(ctx, e)
	if err != nil {
		return e, fmt.Errorf("start an epoch: %w", err)
	}
	w.mu.Lock()
	delete(w.notes, ask.Key)
	w.mu.Unlock()
	return e, nil
}

func (t tail) measure(fresh []session.Entry) Parts { return Measure(t.epoch, t.entries, fresh) }

// Measure estimates the size of a prompt by part.
func Measure(epoch session.Epoch, history, fresh []session.Entry) Parts {
	p := Parts{
		Head: budget.Tokens(epoch.Head) + budget.MessageTokens, Tools: budget.Tokens(epoch.Tools),
		History: Sum(shown(epoch, history)), Fresh: Sum(fresh),
	}
	if epoch.Summary != "" {
		p.Summary = budget.Tokens(epoch.Summary)
	}
	if _, notes := front(epoch); notes != "" {
		p.Summary += budget.MessageTokens
	}
	return p
}

// Sum adds the tokens of entries.
func Sum(entries []session.Entry) int {
	n := 0
	for _, e := range entries {
		n += e.Tokens
	}
	return n
}

// after is the id that the next entry of a conversation will at least have.
func after(entries []session.Entry) int64 {
	if len(entries) == 0 {
		return 0
	}
	return entries[len(entries)-1].ID + 1
}

// front is what stands before the history: the system message, then a message with MEMORY.md and the summary. Templates
// render the tools behind the system message; what changes with nearly every epoch would have them evaluated again.
func front(epoch session.Epoch) (system, notes string) {
	const section = "\n\n## MEMORY.md\n" // the last of a head
	system, notes, found := strings.Cut(epoch.Head, section)
	switch {
	case !found:
		return system, epoch.Summary
	case epoch.Summary == "":
		return system, section[2:] + notes
	}
	return system, section[2:] + notes + "\n\n" + epoch.Summary
}

// request renders the conversation with what is fresh behind it.
func (t tail) request(fresh []session.Entry) (model.Request, error) {
	return Stored(t.epoch, slices.Concat(t.entries, fresh))
}

// Stored is the request of an epoch with these entries, from its stored bytes; broken pairs are repaired.
func Stored(epoch session.Epoch, entries []session.Entry) (model.Request, error) {
	entries, _ = Repair(entries)
	var req model.Request
	if err := json.Unmarshal([]byte(epoch.Tools), &req.Tools); err != nil {
		return req, fmt.Errorf("tools of epoch %d: %w", epoch.ID, err)
	}
	system, notes := front(epoch)
	req.Messages = append(req.Messages, model.Message{Role: model.System, Text: system})
	if notes != "" {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Text: notes})
	}
	for _, e := range shown(epoch, entries) {
		req.Messages = append(req.Messages, e.Message)
	}
	return req, nil
}
