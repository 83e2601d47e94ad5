package engine

import (
	"context"
	"fmt"
	"math"
	"strings"

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
	if err := w.flush(ctx, ask, t); err != nil {
		return Compaction{}, err
	}
	_, c, err := w.shorten(ctx, ask, t, goal{most: math.MaxInt, focus: job.Focus, asked: true})
	return c, err
}

// AfterTurn shortens the conversation when it is over the high-water mark, and has lasting facts written down first.
func (w *Window) AfterTurn(ctx context.Context, ask Ask) (Compaction, error) {
	high := w.mark(ask.Plan.High)
	if !ask.Known.Old && ask.Known.Reported > 0 && ask.Known.Reported+ask.Plan.Reply <= high { // the usual case costs nothing
		return Compaction{}, nil
	}
	epoch, entries, err := w.Log.Tail(ctx, ask.Key)
	if err != nil {
		return Compaction{}, fmt.Errorf("read the conversation: %w", err)
	}
	entries, _ = Repair(entries)
	t := tail{epoch, entries}
	if epoch.ID == 0 || epoch.Source != ask.Source { // the next turn starts an epoch anyway
		return Compaction{}, nil
	}
	if w.Config.Compaction == Off { // what is left out is told in the turn that it happens in
		return Compaction{}, nil
	}
	if ask.Known.Size(epoch.ID, t.measure(nil)) <= high {
		return Compaction{}, nil
	}
	if err := w.flush(ctx, ask, t); err != nil {
		return Compaction{}, err
	}
	_, c, err := w.shorten(ctx, ask, t, goal{low: unbound(w.mark(ask.Plan.Low)), most: math.MaxInt})
	return c, err
}

// mark is a water mark by the mode: aggressive means sooner and deeper.
func (w *Window) mark(tokens int) int {
	if w.Config.Compaction == Aggressive {
		return tokens * 2 / 3
	}
	return tokens
}

// unbound is the largest estimate whose upper bound is within so many tokens.
func unbound(tokens int) int {
	n := max(tokens-budget.Bound(0), 0) * 5 / 6
	for n > 0 && budget.Bound(n) > tokens {
		n--
	}
	return n
}

// goal is what a shortening aims at, in estimated tokens of the prompt without what is fresh.
type goal struct {
	low   int  // aimed at; 0 = as few as can be
	most  int  // not to be passed, even when the last stored turn has to go for it; math.MaxInt = it stays
	asked bool // by a person
	focus string
}

// shorten makes a conversation small in one pass: old tool results become stubs; where that is not enough, whole old
// turns are replaced by a summary. It starts an epoch, or changes nothing.
func (w *Window) shorten(ctx context.Context, ask Ask, t tail, g goal) (tail, Compaction, error) {
	c := Compaction{Before: t.measure(nil).Total()}
	turns := edges(t.entries)
	next := t
	if last := turns[len(turns)-1]; last < len(t.entries) && t.entries[last].ID > t.epoch.Stub {
		next.epoch.Stub = t.entries[last].ID
		for _, e := range t.entries[:last] {
			if e.ID >= t.epoch.Stub && stubbed(e).Tokens < e.Tokens {
				c.Stubbed++
			}
		}
	}
	next.epoch.Reason, c.How = "old tool results shortened", ByStubs
	if c.Stubbed == 0 || next.measure(nil).Total() > g.low {
		fixed := Measure(session.Epoch{Head: t.epoch.Head, Tools: t.epoch.Tools}, nil, nil).Total()
		limit := min(summaryCap(ask.Plan), max(g.most-fixed-budget.MessageTokens, 0))
		cut := next.cut(turns, g.low-fixed-limit, g.most-fixed-limit-budget.MessageTokens)
		small := budget.Tokens(t.epoch.Summary) <= limit
		if cut == 0 && c.Stubbed == 0 && small {
			return t, Compaction{}, nil
		}
		if cut > 0 || !small {
			j := job{ask: ask, tail: t, dropped: t.entries[:cut], limit: limit, focus: g.focus}
			s, how, err := w.summary(ctx, j, g.asked)
			if err != nil {
				return t, Compaction{}, err
			}
			next.entries, next.epoch.Summary = t.entries[cut:], s
			next.epoch.First, next.epoch.Reason = max(t.epoch.First, after(t.entries[:cut])), "compaction by "+string(how)
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

// summaryCap is the most tokens of a summary.
func summaryCap(p budget.Plan) int { return min(p.Reply, p.Window*12/100) }

// edges are the indexes at which turns begin; the list is never empty. A turn that goes on with the last one's
// question, after a /retry, belongs to it.
func edges(entries []session.Entry) []int {
	list := []int{0}
	for i := 1; i < len(entries); i++ {
		if entries[i].Turn != entries[i-1].Turn && entries[i].Message.Role == model.User {
			list = append(list, i)
		}
	}
	return list
}

// cut is the index from which on the newest whole turns fit into so many tokens. The last turn may use most.
func (t tail) cut(turns []int, low, most int) int {
	cut, sum := len(t.entries), 0
	list := shown(t.epoch, t.entries)
	for i := len(turns) - 1; i >= 0; i-- {
		sum += Sum(list[turns[i]:cut])
		room := low
		if i == len(turns)-1 {
			room = most
		}
		if sum > room {
			break
		}
		cut = turns[i]
	}
	return cut
}

// flush has the model write down what lasts, once an epoch, before a compaction forgets the wording. Nobody waits for
// it inside of a turn: what a compaction there forgets is found again by the tool recall.
func (w *Window) flush(ctx context.Context, ask Ask, t tail) error {
	f := w.Config.Flush
	w.mu.Lock()
	done := w.flushed[ask.Key] == t.epoch.ID
	w.mu.Unlock()
	size := ask.Known.Size(t.epoch.ID, t.measure(nil))
	if done || !f.Enabled || ask.Keep == nil || ask.Generate == nil || size < w.mark(int(f.Threshold*float64(ask.Plan.Window))) {
		return nil
	}
	prompt := f.Prompt
	if strings.TrimSpace(prompt) == "" {
		prompt = flushPrompt
	}
	req, ok, err := t.inband(prompt, ask)
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
func (t tail) inband(instruction string, ask Ask) (req model.Request, ok bool, err error) {
	last := session.Entry{Message: model.Message{Role: model.User, Text: instruction}, Tokens: budget.Tokens(instruction) + budget.MessageTokens}
	fresh := []session.Entry{last}
	req, err = t.request(fresh)
	req.Reply = summaryCap(ask.Plan)
	return req, ask.Known.Size(t.epoch.ID, t.measure(fresh))+req.Reply <= ask.Plan.Window, err
}
