package engine

import (
	"context"
	"fmt"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// Compact shortens the conversation now, to little more than its last turn, or to nothing.
func (w *Window) Compact(ctx context.Context, ask Ask, job Job) (Compaction, error) {
	t, err := w.open(ctx, ask)
	if err != nil {
		return Compaction{}, err
	}
	if job.Anew {
		before := t.measure(nil).Total()
		epoch, err := w.begin(ctx, ask, session.Epoch{First: max(t.epoch.First, after(t.entries)), Reason: "new"})
		return Compaction{How: ByCut, Left: len(t.entries), Before: before, After: tail{epoch: epoch}.measure(nil).Total()}, err
	}
	_, c, err := w.shorten(ctx, ask, t, goal{focus: job.Focus})
	return c, err
}

// AfterTurn shortens the conversation when it is over the high-water mark, and has lasting facts written down first.
func (w *Window) AfterTurn(ctx context.Context, ask Ask) (Compaction, error) {
	epoch, entries, err := w.Log.Tail(ctx, ask.Key)
	if err != nil {
		return Compaction{}, fmt.Errorf("read the conversation: %w", err)
	}
	t := tail{epoch, entries}
	if epoch.ID == 0 || epoch.Source != ask.Source { // the next turn starts an epoch anyway
		return Compaction{}, nil
	}
	if w.Config.Compaction == Off { // what is left out is told in the turn that it happens in
		return Compaction{}, nil
	}
	high, low := ask.Plan.High, ask.Plan.Low
	if w.Config.Compaction == Aggressive {
		high, low = high*2/3, low*2/3
	}
	if ask.Known.Size(epoch.ID, t.measure(nil)) <= high {
		return Compaction{}, nil
	}
	if err := w.flush(ctx, ask, t); err != nil {
		return Compaction{}, err
	}
	_, c, err := w.shorten(ctx, ask, t, goal{low: low})
	return c, err
}

// goal is what a shortening aims at.
type goal struct {
	low   int // tokens of the whole prompt, with the margin of the estimate; 0 = as few as can be
	focus string
}

// shorten makes a conversation small in one pass: old tool results become stubs; where that is not enough, whole old
// turns are replaced by a summary. The last turn always stays. It starts an epoch, or changes nothing.
func (w *Window) shorten(ctx context.Context, ask Ask, t tail, g goal) (tail, Compaction, error) {
	c := Compaction{Before: t.measure(nil).Total()}
	turns := edges(t.entries)
	last := turns[len(turns)-1]
	next := t
	if last < len(t.entries) && t.entries[last].ID > t.epoch.Stub {
		next.epoch.Stub = t.entries[last].ID
	}
	for _, e := range t.entries[:last] {
		if e.ID >= t.epoch.Stub && stubbed(e).Tokens < e.Tokens {
			c.Stubbed++
		}
	}
	next.epoch.Reason = "old tool results shortened"
	c.How = ByStubs
	if c.Stubbed == 0 || budget.Bound(next.measure(nil).Total()) > g.low {
		cut := next.cut(turns, g.low-cap12(ask.Plan))
		if cut == 0 && c.Stubbed == 0 {
			return t, Compaction{}, nil
		}
		if cut > 0 {
			s, how, err := w.summarise(ctx, ask, t, t.entries[:cut], g.focus)
			if err != nil {
				return t, Compaction{}, err
			}
			next.entries, next.epoch.Summary = t.entries[cut:], s
			next.epoch.First, next.epoch.Reason = after(t.entries[:cut]), "compaction by "+string(how)
			c.Left, c.How = cut, how
		}
	}
	var err error
	if next.epoch, err = w.begin(ctx, ask, next.epoch); err != nil {
		return t, Compaction{}, err
	}
	c.After = next.measure(nil).Total()
	return next, c, nil
}

// cap12 is the most tokens of a summary.
func cap12(p budget.Plan) int { return min(p.Reply, p.Window*12/100) }

// edges are the indexes at which turns begin; the list is never empty.
func edges(entries []session.Entry) []int {
	list := []int{0}
	for i := 1; i < len(entries); i++ {
		if entries[i].Turn != entries[i-1].Turn {
			list = append(list, i)
		}
	}
	return list
}

// cut is the index from which on the newest whole turns fit into a prompt of so many tokens. The last turn always
// does.
func (t tail) cut(turns []int, tokens int) int {
	fixed := Measure(session.Epoch{Head: t.epoch.Head, Tools: t.epoch.Tools}, nil, nil).Total()
	cut, sum := len(t.entries), 0
	list := shown(t.epoch, t.entries)
	for i := len(turns) - 1; i >= 0; i-- {
		sum += Sum(list[turns[i]:cut])
		if i < len(turns)-1 && budget.Bound(fixed+sum) > tokens {
			break
		}
		cut = turns[i]
	}
	return cut
}

// flush has the model write down what lasts, once an epoch, before a compaction forgets the wording.
func (w *Window) flush(ctx context.Context, ask Ask, t tail) error {
	f := w.Config.Flush
	w.mu.Lock()
	done := w.flushed[ask.Key] == t.epoch.ID
	w.mu.Unlock()
	size := budget.Bound(t.measure(nil).Total())
	if done || !f.Enabled || ask.Keep == nil || ask.Generate == nil || float64(size) < f.Threshold*float64(ask.Plan.Window) {
		return nil
	}
	prompt := f.Prompt
	if prompt == "" {
		prompt = flushPrompt
	}
	req, ok, err := t.inband(prompt, ask.Plan)
	if err != nil || !ok {
		return err
	}
	reply, err := ask.Generate(ctx, "flush", req)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.mu.Lock()
	w.flushed[ask.Key] = t.epoch.ID
	w.mu.Unlock()
	if err != nil || len(reply.Calls) > 0 { // a model that is away is no reason to keep a full window
		return nil
	}
	if facts := factLines(reply.Text); facts != "" {
		return ask.Keep(facts)
	}
	return nil
}

// inband is the conversation itself with one instruction at its end, so that an engine with one cache slot evaluates
// the instruction alone. ok is false where that does not fit the window.
func (t tail) inband(instruction string, p budget.Plan) (req model.Request, ok bool, err error) {
	req, err = t.request([]session.Entry{{Message: model.Message{Role: model.User, Text: instruction}}})
	req.Reply = cap12(p)
	size := t.measure(nil).Total() + budget.Tokens(instruction) + budget.MessageTokens
	return req, budget.Bound(size)+req.Reply <= p.Window, err
}
