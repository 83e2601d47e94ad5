package agent

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"pinch/agent/engine"
	"pinch/agent/session"
)

// afterTurn does what is due while nobody waits: the engine's work, the search index, warming the model's cache. A
// new message ends ctx; what was not done is due again after the next turn.
func (a *Agent) afterTurn(ctx context.Context, t *turn) {
	log := a.log.With("conversation", t.key)
	t.costs, t.entries, t.recorded = nil, nil, 0
	t.source = a.persona.source(t.private)
	ask := a.ask(t, t.plan.High)
	ask.Turn, ask.Fresh, ask.Working = 0, nil, nil
	ask.Known.Old = t.about.Rounds == 0 // a reflex, perhaps not the first one
	c, err := a.persona.Engine.AfterTurn(ctx, ask)
	if err != nil && ctx.Err() == nil {
		log.Error("tidying a conversation", "error", err)
	}
	if c.How != "" {
		log.Info("tidied a conversation", "how", c.How, "before", c.Before, "after", c.After, "left", c.Left, "stubs", c.Stubbed)
	}
	if a.resting.turns.Add(1)%indexEvery == 1 {
		a.index(ctx)
	}
	if c.How != "" {
		a.warm(ctx, t.key)
	}
	a.spend(ctx, t.costs)
	if err := a.measures.save(context.WithoutCancel(ctx), a.store.Settings); err != nil {
		log.Error("keeping what was learned of the model", "error", err)
	}
	a.resting.unwind.Reset(calm)
}

// resting is what is done when nobody waits, over all conversations.
type resting struct {
	turns  atomic.Int64 // since the start
	unwind *time.Timer  // returns to the system what turns used; the runtime alone takes minutes for it
}

// calm is how long after the last turn memory is given back.
const calm = 8 * time.Second

// indexEvery is how many turns are indexed in one batch: each commit of the index costs as much as a short turn.
const indexEvery = 16

// index brings the search index up to date. A search does the same before it looks.
func (a *Agent) index(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = a.persona.Memory.Index(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("indexing what was said", "error", err)
			return
		}
	}
}

// warm lets a local model evaluate what the next request of a conversation will begin with, so that a person does not
// wait for it.
func (a *Agent) warm(ctx context.Context, key session.Key) {
	if !a.persona.Model.Local || ctx.Err() != nil {
		return
	}
	epoch, entries, err := a.store.Log.Tail(ctx, key)
	if err != nil || epoch.ID == 0 {
		return
	}
	req, err := engine.Stored(epoch, entries)
	if err != nil {
		a.log.Error("warming the model", "error", err)
		return
	}
	reply, err := a.persona.Model.Client.Generate(ctx, req, nil)
	if err != nil { // it is a favour, not a need
		a.log.Debug("warming the model", "error", err)
		return
	}
	a.spend(ctx, []session.Cost{{Model: reply.Model, Cause: "warm", Usage: reply.Usage}})
}

// spend records what was asked of a model outside of turns.
func (a *Agent) spend(ctx context.Context, costs []session.Cost) {
	if len(costs) == 0 {
		return
	}
	if err := a.store.Journal.Spend(context.WithoutCancel(ctx), costs, time.Now()); err != nil {
		a.log.Error("recording usage", "error", err)
	}
}

// wakeUp warms the model for the conversation that was used last, at start, unless somebody waits already.
func (a *Agent) wakeUp(ctx context.Context) {
	last, err := a.store.Conversations.List(ctx, 1)
	if err != nil || len(last) == 0 {
		return
	}
	rest, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &lane{rest: cancel}
	a.mu.Lock()
	if len(a.lanes) > 0 {
		a.mu.Unlock()
		return
	}
	a.lanes[wakeKey] = l
	a.mu.Unlock()
	a.warm(rest, last[0].Key)
	a.mu.Lock()
	delete(a.lanes, wakeKey)
	a.mu.Unlock()
}

// wakeKey is no conversation's: the lane of wakeUp stands under it so that a message can end it.
const wakeKey session.Key = ""

// compact shortens the conversation because a person said so.
func (a *Agent) compact(ctx context.Context, t *turn, job engine.Job) (string, error) {
	t.plan = a.plan(ctx)
	c, err := a.persona.Engine.Compact(ctx, a.ask(t, t.plan.High), job)
	switch {
	case err != nil:
		return "", err
	case job.Anew:
		return sayNew.In(t.language), nil
	case c.How == "":
		return sayTidy.In(t.language), nil
	}
	return fmt.Sprintf(sayTidied.In(t.language), c.Before, c.After), nil
}

// tidied tells the person what a compaction inside the turn left out.
func (t *turn) tidied(c engine.Compaction) {
	switch {
	case c.How == engine.ByCut:
		t.about.LeftOut = append(t.about.LeftOut, fmt.Sprintf(sayLeftOut.In(t.language), c.Left))
	case c.Left > 0:
		t.about.LeftOut = append(t.about.LeftOut, fmt.Sprintf(saySummarised.In(t.language), c.Left))
	}
}
