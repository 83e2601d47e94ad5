package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"time"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// Ask is what the engine must know to assemble one round.
type Ask struct {
	Key    session.Key
	Plan   budget.Plan
	Limit  int             // most tokens of the prompt, estimated with its margin
	Source string          // identifies what Render would make; a change starts an epoch
	Render func() Rendered // makes a fresh head; called only when an epoch starts
	Turn   int64           // the running turn
	Fresh  []session.Entry // its entries so far; they always stand in the request, whole
	Now    time.Time
}

// Rendered is the front of a prompt.
type Rendered struct {
	Head  string // the system message
	Tools string // canonical JSON of the tools block
}

// Assembly is one request, and what is known of it.
type Assembly struct {
	Request model.Request
	Epoch   session.Epoch
	Parts   Parts
	LeftOut int // entries of the conversation that the epoch does not hold any more, when this call dropped them
}

// Parts is the estimated size of a prompt by part, in tokens.
type Parts struct {
	Head    int `json:"head"`
	Tools   int `json:"tools"`
	History int `json:"history"`
	Fresh   int `json:"fresh"`
}

// Total is the estimated size of the whole prompt.
func (p Parts) Total() int { return p.Head + p.Tools + p.History + p.Fresh }

// Window is the engine that sends the newest part of a conversation that fits. When the window is full it
// starts an epoch from which the oldest whole turns are missing, in one deep step, so that the requests of the
// turns after it begin with each other again.
type Window struct {
	Log Log

	mu     sync.Mutex
	sent   map[session.Key]prefix
	faults int
}

// prefix is what the last request of a conversation began with.
type prefix struct {
	epoch    int64
	messages int
	hash     uint64
}

// NewWindow returns a window engine over a log.
func NewWindow(log Log) *Window { return &Window{Log: log, sent: map[session.Key]prefix{}} }

// Assemble makes the request of one round.
func (w *Window) Assemble(ctx context.Context, ask Ask) (Assembly, error) {
	epoch, entries, err := w.Log.Tail(ctx, ask.Key)
	if err != nil {
		return Assembly{}, fmt.Errorf("read the conversation: %w", err)
	}
	entries = without(entries, ask.Turn)
	if reason := startReason(epoch, ask.Source); reason != "" {
		epoch, err = w.begin(ctx, ask, session.Epoch{First: epoch.First, Reason: reason})
		if err != nil {
			return Assembly{}, err
		}
	}
	parts := Measure(epoch, entries, ask.Fresh)
	dropped := 0
	if budget.Bound(parts.Total()) > ask.Limit {
		kept := fit(entries, min(ask.Plan.Low, ask.Limit*2/3)-parts.Head-parts.Tools-parts.Fresh)
		dropped = len(entries) - len(kept)
		if dropped > 0 {
			last := entries[len(entries)-1].ID
			entries = kept
			epoch, err = w.begin(ctx, ask, session.Epoch{First: firstOf(kept, ask.Fresh, last), Reason: "window full"})
			if err != nil {
				return Assembly{}, err
			}
			parts = Measure(epoch, entries, ask.Fresh)
		}
	}
	a := Assembly{Epoch: epoch, Parts: parts, LeftOut: dropped}
	a.Request, err = request(epoch, entries, ask.Fresh)
	if err != nil {
		return Assembly{}, err
	}
	a.Request.Reply = ask.Plan.Reply
	w.check(ask.Key, epoch, a.Request)
	return a, nil
}

// New starts an epoch that holds nothing of the conversation so far.
func (w *Window) New(ctx context.Context, ask Ask, reason string) error {
	_, entries, err := w.Log.Tail(ctx, ask.Key)
	if err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	first := int64(0)
	if len(entries) > 0 {
		first = entries[len(entries)-1].ID + 1
	}
	_, err = w.begin(ctx, ask, session.Epoch{First: first, Reason: reason})
	return err
}

// Faults counts requests that did not begin with the one before, with no epoch start to explain it.
func (w *Window) Faults() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults
}

func (w *Window) begin(ctx context.Context, ask Ask, e session.Epoch) (session.Epoch, error) {
	r := ask.Render()
	e.Key, e.Head, e.Tools, e.Source, e.Began = ask.Key, r.Head, r.Tools, ask.Source, ask.Now
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%d", e.Head, e.Tools, e.First)
	e.Hash = fmt.Sprintf("%016x", h.Sum64())
	e, err := w.Log.NewEpoch(ctx, e)
	if err != nil {
		return e, fmt.Errorf("start an epoch: %w", err)
	}
	return e, nil
}

// check compares the request with the last one of the conversation: within an epoch it must begin with it.
func (w *Window) check(key session.Key, epoch session.Epoch, req model.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.sent[key]
	if ok && last.epoch == epoch.ID && (last.messages > len(req.Messages) || hashOf(epoch, req.Messages[:last.messages]) != last.hash) {
		w.faults++
	}
	if len(w.sent) > 256 { // forgetting only means that a fault could go unseen
		clear(w.sent)
	}
	w.sent[key] = prefix{epoch: epoch.ID, messages: len(req.Messages), hash: hashOf(epoch, req.Messages)}
}

func hashOf(epoch session.Epoch, messages []model.Message) uint64 {
	h := fnv.New64a()
	io.WriteString(h, epoch.Tools)
	for _, m := range messages {
		fmt.Fprintf(h, "\x00%s\x00%s\x00%s\x00%s", m.Role, m.Text, m.CallID, m.Name)
		for _, c := range m.Calls {
			fmt.Fprintf(h, "\x01%s\x01%s\x01%s", c.ID, c.Name, c.Arguments)
		}
	}
	return h.Sum64()
}

func startReason(epoch session.Epoch, source string) string {
	switch {
	case epoch.ID == 0:
		return "first message"
	case epoch.Source != source:
		return "settings or workspace changed"
	}
	return ""
}

// Measure estimates the size of a prompt by part.
func Measure(epoch session.Epoch, history, fresh []session.Entry) Parts {
	return Parts{
		Head: budget.Tokens(epoch.Head) + budget.MessageTokens, Tools: budget.Tokens(epoch.Tools),
		History: Sum(history), Fresh: Sum(fresh),
	}
}

// Sum adds the tokens of entries.
func Sum(entries []session.Entry) int {
	n := 0
	for _, e := range entries {
		n += e.Tokens
	}
	return n
}

// fit returns the newest whole turns of entries that are at most limit tokens.
func fit(entries []session.Entry, limit int) []session.Entry {
	cut, sum := len(entries), 0
	for i := len(entries) - 1; i >= 0; i-- {
		sum += entries[i].Tokens
		if budget.Bound(sum) > limit {
			break
		}
		if i == 0 || entries[i-1].Turn != entries[i].Turn {
			cut = i
		}
	}
	return entries[cut:]
}

func firstOf(kept, fresh []session.Entry, last int64) int64 {
	for _, list := range [][]session.Entry{kept, fresh} {
		if len(list) > 0 && list[0].ID != 0 {
			return list[0].ID
		}
	}
	return last + 1 // nothing that is stored yet stands in the prompt
}

func without(entries []session.Entry, turn int64) []session.Entry {
	return slices.DeleteFunc(entries, func(e session.Entry) bool { return e.Turn == turn })
}

func request(epoch session.Epoch, lists ...[]session.Entry) (model.Request, error) {
	var req model.Request
	if err := json.Unmarshal([]byte(epoch.Tools), &req.Tools); err != nil {
		return req, fmt.Errorf("tools of epoch %d: %w", epoch.ID, err)
	}
	req.Messages = append(req.Messages, model.Message{Role: model.System, Text: epoch.Head})
	for _, list := range lists {
		for _, e := range list {
			req.Messages = append(req.Messages, e.Message)
		}
	}
	return req, nil
}
