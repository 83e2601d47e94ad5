package engine_test

import (
	"context"
	"errors"
	"fmt"
	"pgregory.net/rapid"
	"reflect"
	"slices"
	"strings"
	"time"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

const key session.Key = "agent:main:main"

// memoryLog is a Log in memory.
type memoryLog struct {
	epochs  []session.Epoch
	entries []session.Entry
}

func (l *memoryLog) Tail(context.Context, session.Key) (session.Epoch, []session.Entry, error) {
	var epoch session.Epoch
	if len(l.epochs) > 0 {
		epoch = l.epochs[len(l.epochs)-1]
	}
	var tail []session.Entry
	for _, e := range l.entries {
		if e.ID >= epoch.First {
			tail = append(tail, e)
		}
	}
	return epoch, tail, nil
}

func (l *memoryLog) NewEpoch(_ context.Context, e session.Epoch) (session.Epoch, error) {
	e.ID = int64(len(l.epochs) + 1)
	l.epochs = append(l.epochs, e)
	return e, nil
}

// talk is a conversation with a window engine, as the loop has it.
type talk struct {
	t       rapid.TB
	log     *memoryLog
	window  *engine.Window
	plan    budget.Plan
	client  model.Client // nil = no model
	keep    func(string) error
	source  string
	head    string
	turns   int64
	now     time.Time
	sent    map[int64]model.Request // the last request by epoch
	summary string                  // of the last request
	known   engine.Known
}

func newTalk(t rapid.TB, size int, client model.Client) *talk {
	log := &memoryLog{}
	return &talk{
		t: t, log: log, window: engine.NewWindow(log, engine.DefaultConfig()), plan: budget.Split(size, 8), client: client,
		source: "s1", head: "You are Pinch.", sent: map[int64]model.Request{}, now: time.Date(2026, 3, 2, 14, 5, 0, 0, time.UTC),
	}
}

const toolsBlock = `[{"name":"read","description":"Read a file.","parameters":{"type":"object"}}]`

func (k *talk) ask(fresh ...session.Entry) engine.Ask {
	ask := engine.Ask{
		Key: key, Plan: k.plan, Limit: k.plan.Window - k.plan.Reply, Source: k.source, Fresh: fresh, Now: k.now, Keep: k.keep, Known: k.known,
		Render: func() engine.Rendered { return engine.Rendered{Head: k.head, Tools: toolsBlock} },
	}
	if len(fresh) > 0 {
		ask.Turn = fresh[0].Turn
	}
	if k.client != nil {
		ask.Generate = func(ctx context.Context, _ string, req model.Request) (model.Reply, error) {
			return k.client.Generate(ctx, req, nil)
		}
	}
	return ask
}

func entry(turn int64, m model.Message) session.Entry {
	n := budget.Tokens(m.Text) + budget.MessageTokens
	for _, c := range m.Calls {
		n += budget.Tokens(c.Name) + budget.Tokens(c.Arguments) + 2*budget.MessageTokens
	}
	return session.Entry{Turn: turn, Message: m, Tokens: n}
}

func user(text string) model.Message      { return model.Message{Role: model.User, Text: text} }
func assistant(text string) model.Message { return model.Message{Role: model.Assistant, Text: text} }

// use is a call of read and its result.
func use(id, result string) []model.Message {
	return []model.Message{
		{Role: model.Assistant, Calls: []model.ToolCall{{ID: id, Name: "read", Arguments: `{"path":"` + id + `"}`}}},
		{Role: model.Tool, CallID: id, Name: "read", Text: result},
	}
}

// turn runs one turn of these messages: a request after the person's message and after each tool result. It returns
// the first request.
func (k *talk) turn(messages ...model.Message) engine.Assembly {
	k.t.Helper()
	k.turns++
	k.now = k.now.Add(time.Minute)
	var fresh []session.Entry
	var first engine.Assembly
	for i, m := range messages {
		fresh = append(fresh, entry(k.turns, m))
		if m.Role == model.Assistant {
			continue
		}
		ask := k.ask(fresh...)
		a, err := k.window.Assemble(context.Background(), ask)
		if err != nil {
			k.t.Fatalf("turn %d: %v", k.turns, err)
		}
		k.check(a)
		if i == 0 {
			first = a
		}
	}
	k.now = k.now.Add(time.Second)
	k.store(fresh...)
	return first
}

// store commits the entries of a turn.
func (k *talk) store(entries ...session.Entry) {
	for _, e := range entries {
		e.ID, e.At = int64(len(k.log.entries)+1), k.now
		k.log.entries = append(k.log.entries, e)
	}
}

// check holds a request against what must always be true.
func (k *talk) check(a engine.Assembly) {
	k.t.Helper()
	before, known := k.sent[a.Epoch.ID]
	if known {
		if err := begins(before, a.Request); err != nil {
			k.t.Errorf("turn %d, epoch %d: %v", k.turns, a.Epoch.ID, err)
		}
	}
	k.sent[a.Epoch.ID] = a.Request
	if err := paired(a.Request.Messages); err != nil {
		k.t.Errorf("turn %d: %v", k.turns, err)
	}
	if n := size(a.Request); n != a.Parts.Total() {
		k.t.Errorf("turn %d: a request of %d tokens is told as %d", k.turns, n, a.Parts.Total())
	}
	k.summed(a.Epoch.Summary)
	first := 1
	if a.Epoch.Summary != "" {
		first = 2
	}
	if a.Request.Messages[first].Role != model.User {
		k.t.Errorf("turn %d: the history begins with %+v", k.turns, a.Request.Messages[first])
	}
}

// summed holds a new summary against its cap; one that stays may be of a larger window.
func (k *talk) summed(summary string) {
	k.t.Helper()
	if most := min(k.plan.Reply, k.plan.Window*12/100); summary != k.summary && budget.Tokens(summary) > most {
		k.t.Errorf("turn %d: a summary of %d tokens, at most %d", k.turns, budget.Tokens(summary), most)
	}
	k.summary = summary
}

func (k *talk) afterTurn() engine.Compaction {
	k.t.Helper()
	c, err := k.window.AfterTurn(context.Background(), k.ask())
	if err != nil {
		k.t.Fatalf("after turn %d: %v", k.turns, err)
	}
	if n := len(k.log.epochs); n > 0 {
		k.summed(k.log.epochs[n-1].Summary)
	}
	return c
}

// over tells whether the prompt is over so many tokens.
func (k *talk) over(tokens int) bool {
	_, entries, _ := k.log.Tail(context.Background(), key)
	n := len(k.log.epochs)
	return n > 0 && budget.Bound(engine.Measure(k.log.epochs[n-1], entries, nil).Total()) > tokens
}

// fill talks until the next AfterTurn has something to do.
func (k *talk) fill() {
	k.t.Helper()
	for i := range 200 {
		if k.over(k.plan.High) {
			return
		}
		k.turn(user(fmt.Sprintf("Please note that shelf %d of the cellar holds the tomatoes of the year.", i)),
			assistant("I have written that down, the tomatoes are on their shelf in the cellar."))
	}
	k.t.Fatalf("200 turns do not fill the window")
}

func (k *talk) epoch() session.Epoch { return k.log.epochs[len(k.log.epochs)-1] }

// size is the estimate of a request, made from the request alone.
func size(r model.Request) int {
	n := budget.Tokens(toolsBlock)
	for _, m := range r.Messages {
		n += entry(0, m).Tokens
	}
	return n
}

// begins reports whether request b begins with request a.
func begins(a, b model.Request) error {
	if !reflect.DeepEqual(a.Tools, b.Tools) {
		return errors.New("the tools differ")
	}
	if len(b.Messages) < len(a.Messages) {
		return fmt.Errorf("%d messages became %d", len(a.Messages), len(b.Messages))
	}
	for i, m := range a.Messages {
		if !reflect.DeepEqual(m, b.Messages[i]) {
			return fmt.Errorf("message %d was %+v and is %+v", i, m, b.Messages[i])
		}
	}
	return nil
}

// paired checks that each call has exactly one result, right behind it.
func paired(messages []model.Message) error {
	var open []string
	for _, m := range messages {
		if m.Role == model.Tool {
			i := slices.Index(open, m.CallID)
			if i < 0 {
				return fmt.Errorf("result without a call: %+v", m)
			}
			open = slices.Delete(open, i, i+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("call without a result before %+v", m)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no results of %q at the end", open)
	}
	return nil
}

// texts is all that a request says.
func texts(r model.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}
