package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/prompt"
	"pinch/agent/session"
	"pinch/agent/tool"
	"pinch/budget"
	"pinch/channels"
)

// maxOverflows is how often a prompt that did not fit is made smaller.
const maxOverflows = 3

// rounds asks the model until it answers in text, and returns what the person is told.
func (a *Agent) rounds(ctx context.Context, t *turn) (string, error) {
	said := ""
	for round := range t.plan.Rounds {
		reply, err := a.generate(ctx, t, said)
		if err != nil {
			t.repair()
			return "", err
		}
		text, silent := prompt.Final(reply.Text)
		if !silent && text != "" {
			said = join(said, text)
		}
		if len(reply.Calls) == 0 {
			if said == "" && !silent {
				return "", fmt.Errorf("%w: it said nothing", model.ErrBadOutput)
			}
			t.add(model.Message{Role: model.Assistant, Text: reply.Text})
			if reply.Stop == model.StopLength {
				said = join(said, sayCutReply.In(t.language))
			}
			return said, nil
		}
		t.add(model.Message{Role: model.Assistant, Text: reply.Text, Calls: t.name(reply.Calls)})
		if err := a.useAll(ctx, t, round == t.plan.Rounds-2); err != nil {
			t.repair()
			return "", err
		}
	}
	return join(said, fmt.Sprintf(sayRounds.In(t.language), t.plan.Rounds)), nil
}

// generate runs one round. A prompt that does not fit is asked again, at most three times, each time smaller; then
// the smallest useful request is sent.
func (a *Agent) generate(ctx context.Context, t *turn, said string) (model.Reply, error) {
	limit := (t.plan.Window - t.plan.Reply) * 95 / 100 // a count may pass its bound now and then // the high-water mark is for when nobody waits
	size := 0
	for range 1 + maxOverflows {
		asm, err := a.persona.Engine.Assemble(ctx, a.ask(t, limit))
		if err != nil {
			return model.Reply{}, err
		}
		if !a.prefixes.check(t.key, asm) {
			a.log.Error("a prompt does not begin with the one before", "conversation", t.key, "epoch", asm.Epoch.ID)
		}
		t.tidied(asm.Compaction)
		if size == asm.Parts.Total() { // nothing more can go: the same request again would only fail again
			break
		}
		size = asm.Parts.Total()
		reply, err := a.stream(ctx, t, asm.Request, said)
		if err == nil {
			a.observe(t, asm, reply)
			return reply, nil
		}
		if !errors.Is(err, model.ErrOverflow) || ctx.Err() != nil {
			return reply, err
		}
		if x, ok := model.Overflow(err.Error()); ok && a.persona.believe(x.Window) {
			t.plan = a.guess()
			limit = min(limit, t.plan.High)
			continue
		}
		limit = min(limit, budget.Bound(size)) * 2 / 3
	}
	return a.smallest(ctx, t, said)
}

// smallest asks with hardly more than the last message, after everything larger did not fit. The person is told.
func (a *Agent) smallest(ctx context.Context, t *turn, said string) (model.Reply, error) {
	if len(t.entries) == 0 { // a retry: its message stands in the history
		return model.Reply{}, model.ErrOverflow
	}
	text := t.entries[len(t.entries)-1].Message.Text
	if i := len(t.entries) - 1; t.entries[i].Message.Role != model.User {
		text = t.entries[0].Message.Text + "\n" + text
	}
	text, _ = shorten(text, t.plan.Window/4)
	t.about.LeftOut = append(t.about.LeftOut, sayOnlyLast.In(t.language))
	head, _ := prompt.Head(prompt.Spec{Name: a.persona.Config.Name, Mode: prompt.None})
	return a.stream(ctx, t, model.Request{
		Messages: []model.Message{{Role: model.System, Text: head}, {Role: model.User, Text: text}},
		Reply:    t.plan.Reply / 2,
	}, said)
}

// stream asks the model once and shows what it says as it says it.
func (a *Agent) stream(ctx context.Context, t *turn, req model.Request, said string) (model.Reply, error) {
	t.show(channels.Progress{Phase: channels.Reading})
	var clean prompt.Stream
	show := func(text string) {
		if text == "" {
			return
		}
		if said != "" {
			text, said = "\n\n"+text, ""
		}
		t.show(channels.Progress{Phase: channels.Writing, Text: text})
	}
	reply, err := a.persona.Model.Client.Generate(ctx, req, func(d model.Delta) {
		if d.Percent > 0 {
			t.show(channels.Progress{Phase: channels.Reading, Percent: d.Percent})
		}
		show(clean.Write(d.Text))
	})
	if err != nil {
		return reply, err
	}
	show(clean.Close())
	t.costs = append(t.costs, session.Cost{Model: reply.Model, Cause: "chat", Usage: reply.Usage})
	t.about.Model, t.about.Prompt, t.about.Cached = reply.Model, reply.Usage.Prompt, reply.Usage.Cached
	t.about.Reply += reply.Usage.Reply
	t.about.Rounds++
	return reply, nil
}

// ask is what the engine needs for the turn's next round.
func (a *Agent) ask(t *turn, limit int) engine.Ask {
	ask := engine.Ask{
		Key: t.key, Plan: t.plan, Limit: limit, Source: t.source, Turn: t.row.ID, Fresh: t.entries, Now: time.Now(),
		Known:  a.measures.get(t.key),
		Render: func() engine.Rendered { return a.head(t) },
		Generate: func(ctx context.Context, cause string, req model.Request) (model.Reply, error) {
			reply, err := a.persona.Model.Client.Generate(ctx, req, nil)
			if err == nil {
				t.costs = append(t.costs, session.Cost{Model: reply.Model, Cause: cause, Usage: reply.Usage})
			}
			return reply, err
		},
		Working: func() { t.show(channels.Progress{Phase: channels.Using, Detail: sayTidying.In(t.language)}) },
	}
	if t.private {
		ask.Keep = func(lines string) error { return a.persona.Memory.Note(ask.Now, lines) }
	}
	return ask
}

// head renders a fresh head. The owner is told once of each change in what of the workspace does not stand in it.
func (a *Agent) head(t *turn) engine.Rendered {
	f := a.persona.render(t.private, t.plan)
	t.about.LeftOut = append(t.about.LeftOut, f.missing(t.language)...)
	if t.private {
		t.warnings = append(t.warnings, a.persona.Workspace.news(f.warnings(t.language))...)
	}
	return f.Rendered
}

// useAll runs the calls of the turn's last entry that have no result yet.
func (a *Agent) useAll(ctx context.Context, t *turn, last bool) error {
	i := len(t.entries) - 1
	for t.entries[i].Message.Role != model.Assistant {
		i--
	}
	calls := t.entries[i].Message.Calls
	for n, call := range calls[len(t.entries)-1-i:] {
		t.show(channels.Progress{Phase: channels.Using, Detail: call.Name})
		text, err := a.use(ctx, t, call)
		if err != nil {
			return err
		}
		text, _ = tool.Shape(text, t.fresh())
		if last && n == len(calls)-1 {
			text += "\n[This was the last step: answer now, without tools.]"
		}
		t.add(model.Message{Role: model.Tool, CallID: call.ID, Name: call.Name, Text: text})
	}
	return nil
}

// use runs one call. A refusal is a text for the model; an error ends the turn.
func (a *Agent) use(ctx context.Context, t *turn, call model.ToolCall) (string, error) {
	found, ok, hint := a.persona.resolve(call.Name, t.private)
	if !ok {
		return hint, nil
	}
	args, err := tool.Check(found.Schema, call.Arguments)
	if err != nil {
		return err.Error(), nil
	}
	if found.Name == tool.Use {
		inner, err := tool.Unwrap(call.ID, args)
		if err != nil || inner.Name == tool.Use {
			return "use needs the name of another tool and its arguments", nil
		}
		return a.use(ctx, t, inner)
	}
	a.log.Debug("tool", "conversation", t.key, "turn", t.row.ID, "tool", found.Name)
	t.tools[found.Name]++
	if found.Effect == tool.None {
		return a.runTool(ctx, t, found, args)
	}
	intent := session.ToolRecord{Turn: t.row.ID, Call: call.ID, Name: found.Name, Arguments: string(args), At: time.Now()}
	err = a.store.Records.Before(ctx, session.Progress{
		Turn: t.row.ID, Key: t.key, Inbox: []int64{t.row.ID}, Entries: t.entries[t.recorded:], Intent: intent,
	})
	if err != nil {
		return "", fmt.Errorf("record what %s is about to do: %w", found.Name, err)
	}
	t.recorded = len(t.entries)
	text, err := a.runTool(ctx, t, found, args)
	if err != nil {
		return "", err
	}
	if err := a.store.Records.After(context.WithoutCancel(ctx), t.row.ID, call.ID, text); err != nil {
		return "", fmt.Errorf("record what %s did: %w", found.Name, err)
	}
	return text, nil
}

// runTool runs a tool; its errors and panics become text for the model.
func (a *Agent) runTool(ctx context.Context, t *turn, found tool.Tool, args json.RawMessage) (text string, err error) {
	var result tool.Result
	err = guard(func() error {
		result, err = found.Run(ctx, tool.Call{Args: args, Conversation: t.key, Audience: t.audience()})
		return err
	})
	if ctx.Err() != nil && err != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "error: " + err.Error(), nil
	}
	return prompt.Inert(result.Text), nil
}

// fresh is how many tokens of this turn's share are left for text from outside.
func (t *turn) fresh() int {
	const least = 64
	return max(least, t.plan.Fresh-engine.Sum(t.entries))
}

// name gives calls ids that are unique in the conversation; what the model wrote otherwise stays.
func (t *turn) name(calls []model.ToolCall) []model.ToolCall {
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%d_%d", t.row.ID, len(t.entries)+i)
	}
	return calls
}

// repair gives calls without a result one, since a provider refuses a conversation with an open call.
func (t *turn) repair() {
	i := len(t.entries) - 1
	for i >= 0 && t.entries[i].Message.Role == model.Tool {
		i--
	}
	if i < 0 {
		return
	}
	calls := t.entries[i].Message.Calls
	for n := len(t.entries) - 1 - i; n < len(calls); n++ {
		t.add(model.Message{Role: model.Tool, CallID: calls[n].ID, Name: calls[n].Name, Text: "error: not run, the turn was stopped"})
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
