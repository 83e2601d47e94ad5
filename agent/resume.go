package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/agent/tool"
)

// resume continues a turn that an earlier process began and recorded up to a tool with an effect.
func (a *Agent) resume(ctx context.Context, t *turn) (string, error) {
	_, tail, err := a.store.Log.Tail(ctx, t.key)
	if err != nil {
		return "", fmt.Errorf("read the conversation: %w", err)
	}
	for _, e := range tail {
		if e.Turn == t.row.Turn {
			t.entries = append(t.entries, e)
		}
	}
	t.recorded = len(t.entries)
	t.about.Why = "restart"
	t.plan = a.plan(ctx)
	if len(t.entries) == 0 {
		return a.redo(ctx, t)
	}
	if err := a.settle(ctx, t); err != nil {
		return "", err
	}
	if err := a.useAll(ctx, t, false); err != nil {
		t.repair()
		return "", err
	}
	return a.rounds(ctx, t)
}

// settle gives the calls that ran, or may have run, their results. What may have happened is not done again: the
// model and the person are told.
func (a *Agent) settle(ctx context.Context, t *turn) error {
	records, err := a.store.Records.Of(ctx, t.row.ID)
	if err != nil {
		return fmt.Errorf("read what tools did: %w", err)
	}
	known := map[string]bool{}
	for _, e := range t.entries {
		known[e.Message.CallID] = true
	}
	for _, r := range records {
		if known[r.Call] {
			continue
		}
		text, _ := tool.Shape(r.Result, t.fresh())
		if !r.Done {
			text = "unknown: Pinch was restarted while this ran. It may have happened. Check before you repeat it."
			t.warnings = append(t.warnings, fmt.Sprintf(sayMayHave.In(t.language), r.Name, r.Arguments))
		}
		t.add(model.Message{Role: model.Tool, CallID: r.Call, Name: r.Name, Text: text})
	}
	return nil
}

// retry asks again what the last turn could not answer.
func (a *Agent) retry(ctx context.Context, t *turn) (string, error) {
	_, tail, err := a.store.Log.Tail(ctx, t.key)
	if err != nil {
		return "", fmt.Errorf("read the conversation: %w", err)
	}
	i := unanswered(tail)
	if i < 0 {
		return sayNoRetry.In(t.language), nil
	}
	if i < len(tail)-1 { // other turns came after it: it is asked again behind them
		t.add(tail[i].Message)
	}
	t.plan = a.plan(ctx)
	return a.rounds(ctx, t)
}

// do runs a tool that the owner names: "/do list", "/do read {"path":"SOUL.md"}". No model is asked.
func (a *Agent) do(ctx context.Context, t *turn, args string) (string, error) {
	name, rest, _ := strings.Cut(args, " ")
	if !t.private {
		return sayForbidden.In(t.language), nil
	}
	if name == "" {
		var names []string
		for _, known := range a.persona.Tools.All() {
			names = append(names, known.Name)
		}
		return fmt.Sprintf(sayDoUsage.In(t.language), strings.Join(names, ", ")), nil
	}
	return a.use(ctx, t, model.ToolCall{ID: opDo, Name: name, Arguments: cmp.Or(strings.TrimSpace(rest), "{}")})
}

// redo tells how a /do of an earlier process ended. It is not run again.
func (a *Agent) redo(ctx context.Context, t *turn) (string, error) {
	records, err := a.store.Records.Of(ctx, t.row.ID)
	if err != nil {
		return "", fmt.Errorf("read what tools did: %w", err)
	}
	if len(records) == 0 {
		return "", errors.New("the records of an open turn are missing")
	}
	r := records[len(records)-1]
	if r.Done {
		return r.Result, nil
	}
	return fmt.Sprintf(sayMayHave.In(t.language), r.Name, r.Arguments), nil
}

// unanswered returns the entry of a conversation that the model should still answer, the last one of the newest turn
// that ended without an answer; -1 = none. A message that was asked again since then is not asked a third time.
func unanswered(tail []session.Entry) int {
	later := map[string]bool{}
	for i := len(tail) - 1; i >= 0; i-- {
		e := tail[i]
		// An answer in a turn of its own is that of a /retry.
		last := i == len(tail)-1 || tail[i+1].Turn != e.Turn && tail[i+1].Message.Role == model.User
		user := e.Message.Role == model.User
		if last && (user && !later[e.Message.Text] || e.Message.Role == model.Tool && i == len(tail)-1) {
			return i
		}
		later[e.Message.Text] = later[e.Message.Text] || user
	}
	return -1
}
