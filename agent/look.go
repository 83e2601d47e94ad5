package agent

import (
	"context"
	"fmt"
	"strings"

	"pinch/agent/command"
	"pinch/agent/engine"
	"pinch/agent/session"
)

// Look is what /context and pinch context show: what the next prompt would hold.
type Look struct {
	Conversation session.Key  `json:"conversation"`
	Window       int          `json:"window"`
	Reply        int          `json:"reply_reserve"`
	Parts        engine.Parts `json:"parts"`   // estimated
	Counted      int          `json:"counted"` // of the last prompt, by the provider; 0 = not known
	Cached       int          `json:"cached"`  // of these, -1 = not reported
	Entries      int          `json:"entries"`
	Epoch        Span         `json:"epoch"`
	Cuts         []string     `json:"cuts"` // what of the instructions and files does not fit, or hardly
	Prefill      float64      `json:"prefill_per_second"`
	Decode       float64      `json:"decode_per_second"`
	Wait         float64      `json:"first_token_seconds"` // expected for a short message; 0 = not known
	Faults       int          `json:"faults"`
}

// Span is the epoch of a Look.
type Span struct {
	ID     int64  `json:"id"`
	Reason string `json:"reason"`
	Hash   string `json:"prefix_hash"`
	First  int64  `json:"first_entry"`
}

// shortMessage is the tokens of a message for which Wait is told.
const shortMessage = 60

func (a *Agent) context(ctx context.Context, c command.Call) (command.Result, error) {
	look, err := a.look(ctx, session.Key(c.Conversation), c.Owner, c.Language)
	if err != nil {
		return command.Result{}, err
	}
	var b strings.Builder
	p := look.Parts
	fmt.Fprintf(&b, sayContext.In(c.Language), p.Total(), look.Window, p.Head, p.Tools, p.Summary, p.History, look.Entries, look.Reply)
	for _, cut := range look.Cuts {
		b.WriteString("\n" + cut)
	}
	if look.Wait > 0 {
		fmt.Fprintf(&b, "\n"+saySpeed.In(c.Language), look.Prefill, look.Decode, look.Wait)
	}
	return command.Result{Text: b.String(), Data: look}, nil
}

// look gathers a Look.
func (a *Agent) look(ctx context.Context, key session.Key, private bool, language string) (Look, error) {
	plan := a.plan(ctx)
	epoch, entries, err := a.store.Log.Tail(ctx, key)
	if err != nil {
		return Look{}, err
	}
	conv, err := a.store.Conversations.Get(ctx, key)
	if err != nil {
		return Look{}, err
	}
	f := a.persona.render(private, plan)
	if epoch.ID == 0 {
		epoch.Head, epoch.Tools, epoch.Reason = f.Head, f.Tools, "not begun"
	}
	look := Look{
		Conversation: key, Window: plan.Window, Reply: plan.Reply, Entries: len(entries), Cached: conv.About.Cached,
		Parts: engine.Measure(epoch, entries, nil), Faults: a.Faults(),
		Epoch: Span{ID: epoch.ID, Reason: epoch.Reason, Hash: epoch.Hash, First: epoch.First},
	}
	if known := a.measures.get(key); known.Epoch == epoch.ID {
		look.Counted = known.Reported
	}
	look.Prefill, look.Decode = a.measures.rates()
	if look.Prefill > 0 {
		look.Wait = shortMessage / look.Prefill
	}
	if look.Cuts = f.missing(language); private {
		look.Cuts = f.warnings(language)
	}
	for _, c := range f.cuts {
		if c.Used == 0 {
			look.Cuts = append(look.Cuts, fmt.Sprintf(sayNoPart.In(language), c.File))
		}
	}
	return look, nil
}
