package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pinch/agent/command"
	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/prompt"
	"pinch/agent/reflex"
	"pinch/agent/session"
	"pinch/budget"
	"pinch/channels"
)

// maxTries is how often a row may end the process before it is set aside.
const maxTries = 3

// turn is the state of one running turn. Its lane's goroutine owns it.
type turn struct {
	row      session.Pending
	key      session.Key
	private  bool   // only the owner hears it
	language string // of fixed sentences
	source   string // of the head, when the turn began
	plan     budget.Plan
	entries  []session.Entry
	recorded int // how many of entries an intent has made durable
	costs    []session.Cost
	tools    map[string]int // calls by the tool's own name
	about    channels.About
	warnings []string        // sentences for the person, in front of the reply
	notices  []channels.Part // for the owner, elsewhere
	show     func(channels.Progress)
}

// turn answers one row: it finds the reply, commits it and wakes the deliverer.
func (a *Agent) turn(ctx context.Context, t *turn) {
	began, key, row := time.Now(), t.key, t.row
	log := a.log.With("conversation", key, "turn", row.ID)
	text, err := a.attempt(ctx, t)
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStopped) {
		return // the process ends: the row stays unanswered, for the next start
	}
	failure := ""
	if err != nil {
		failure = err.Error()
		text = a.excuse(t, err)
		log.Warn("a turn failed", "error", err)
	}
	parts := append(a.parts(t, text), t.notices...)
	commit := session.Turn{
		ID: row.ID, Key: key, Inbox: []int64{row.ID}, Entries: t.entries[t.recorded:], Costs: t.costs, Parts: parts,
		Error: failure, Address: row.Inbound.Address(), About: t.about, At: time.Now(), Audience: t.audience(),
	}
	if now := a.persona.source(t.private); now != t.source {
		commit.Source = now // our own hand: what it wrote is in the tail already
	}
	// A turn that is over is committed even when the process is asked to end meanwhile.
	if err := a.store.Journal.Commit(context.WithoutCancel(ctx), commit); err != nil {
		log.Error("committing a turn", "error", err)
		a.alarm(t, err)
		return
	}
	a.wake(row.Inbound.Channel)
	if len(parts) == 0 {
		t.show(channels.Progress{Phase: channels.Done})
	}
	log.Info("turn", "model", t.about.Model, "why", t.about.Why, "prompt", t.about.Prompt, "cached", t.about.Cached,
		"reply", t.about.Reply, "rounds", t.about.Rounds, "tools", t.tools, "ms", time.Since(began).Milliseconds())
}

func (a *Agent) newTurn(key session.Key, row session.Pending) *turn {
	show := a.shower(row.Inbound.Address())
	private := row.Inbound.Chat.Kind == channels.Private && row.Decision.Owner
	return &turn{
		row: row, key: key, private: private, language: a.persona.language(row.Inbound.Text),
		source: a.persona.source(private), tools: map[string]int{}, plan: a.guess(),
		show: func(p channels.Progress) {
			p.Answers = answers(row)
			show(p)
		},
	}
}

// attempt finds the reply; a panic on the way is an error like any other.
func (a *Agent) attempt(ctx context.Context, t *turn) (text string, err error) {
	err = guard(func() error {
		text, err = a.answer(ctx, t)
		return err
	})
	return text, err
}

// answer tries in order: a row that must be set aside, a command, a reflex, the model.
func (a *Agent) answer(ctx context.Context, t *turn) (string, error) {
	if t.row.Left {
		if t.row.Tries+1 >= maxTries {
			return "", a.setAside(ctx, t)
		}
		if err := a.store.Inbox.Retake(ctx, t.row.ID); err != nil {
			return "", fmt.Errorf("take a message up again: %w", err)
		}
	}
	if t.row.Turn != 0 {
		return a.resume(ctx, t)
	}
	text := t.row.Inbound.Text
	if name, args, ok := command.Parse(text); ok {
		return a.command(ctx, t, name, args)
	}
	mode := a.persona.Config.Reflex
	if mode == ReflexFirst {
		if reply, ok := a.reflex(ctx, t); ok {
			return reply, nil
		}
	}
	t.plan = a.plan(ctx)
	notes, err := a.ingest(ctx, t)
	if err != nil {
		return "", err
	}
	t.add(model.Message{Role: model.User, Text: a.envelope(t, notes...)})
	reply, err := a.rounds(ctx, t)
	if err != nil && mode == ReflexFallback && len(t.entries) == 1 {
		if reply, ok := a.reflex(ctx, t); ok {
			return reply, nil
		}
	}
	return reply, err
}

// command answers a slash command. Commands are no entries.
func (a *Agent) command(ctx context.Context, t *turn, name, args string) (string, error) {
	t.about.Why = "/" + name
	op, _ := a.table.Find(name)
	switch op.Name {
	case opRetry:
		return a.retry(ctx, t)
	case opDo:
		return a.do(ctx, t, args)
	case opCompact:
		return a.compact(ctx, t, engine.Job{Focus: args})
	case opNew:
		return a.compact(ctx, t, engine.Job{Anew: true})
	}
	return a.call(ctx, t, name, args)
}

// call runs an operation and returns its text; what went wrong in its arguments or authority is a reply, no failure.
func (a *Agent) call(ctx context.Context, t *turn, name, args string) (string, error) {
	result, err := a.table.Call(ctx, command.Call{
		Name: name, Args: args, Conversation: string(t.key), Owner: t.private, Language: t.language,
	})
	var usage command.UsageError
	switch {
	case errors.As(err, &usage):
		return usage.Text, nil
	case errors.Is(err, command.ErrUnknown):
		return fmt.Sprintf(sayUnknown.In(t.language), name), nil
	case errors.Is(err, command.ErrForbidden):
		return sayForbidden.In(t.language), nil
	case err != nil:
		return "", fmt.Errorf("/%s: %w", name, err)
	}
	return result.Text, nil
}

// reflex answers a sentence that a template matches, without a model. ok is false where none does.
func (a *Agent) reflex(ctx context.Context, t *turn) (string, bool) {
	in := t.row.Inbound
	if len(in.Files) > 0 || in.Reply != nil || in.Forward != "" {
		return "", false
	}
	m, outcome := a.persona.Reflexes.Match(in.Text, time.Now())
	if outcome != reflex.Matched || m.Owner && !t.private {
		return "", false
	}
	reply, err := a.call(ctx, t, m.Op, m.Args)
	if err != nil { // a model could not do it either
		a.log.Warn("a reflex failed", "reflex", m.Reflex, "error", err)
		reply = a.excuse(t, err)
	}
	if len(t.entries) == 0 {
		t.add(model.Message{Role: model.User, Text: a.envelope(t)})
	}
	t.add(model.Message{Role: model.Assistant, Text: reply})
	t.about.Why = m.Template
	return reply + reflexMark, true
}

// setAside answers a row that ended the process too often, and tells the owner where that is somebody else.
func (a *Agent) setAside(ctx context.Context, t *turn) error {
	a.log.Error("setting a message aside: it ended the process too often", "row", t.row.ID)
	in := t.row.Inbound
	owner, err := a.store.Conversations.Get(ctx, session.Main(a.persona.ID))
	if err != nil {
		return fmt.Errorf("look up the owner: %w", err)
	}
	if owner.Address.Channel != "" && owner.Address != in.Address() {
		text := fmt.Sprintf(sayAsideOwner.In(a.persona.language("")), in.Channel, in.Sender.ID)
		t.notices = append(t.notices, a.split(channels.Reply{Address: owner.Address, Text: text})...)
	}
	return &Excuse{Say: saySetAside, Err: errors.New("the message ended the process too often")}
}

// ingest asks an engine that can what the message should be read with.
func (a *Agent) ingest(ctx context.Context, t *turn) ([]string, error) {
	e, ok := a.persona.Engine.(engine.Ingester)
	if !ok {
		return nil, nil
	}
	return e.Ingest(ctx, a.ask(t, t.plan.High), t.audience(), t.row.Inbound.Text)
}

// envelope is the user message as a model gets it: a header, what came with the text, the text; all defused.
func (a *Agent) envelope(t *turn, notes ...string) string {
	in := t.row.Inbound
	text, cut := shorten(in.Text, t.fresh())
	if cut {
		t.about.LeftOut = append(t.about.LeftOut, sayCutMessage.In(t.language))
	}
	h := prompt.Header{Time: in.At.Local(), Sender: in.Sender.Name, Channel: in.Channel, Forward: in.Forward, Notes: notes}
	return prompt.Envelope(h, in.Reply, in.Files, text)
}

// shorten keeps the first and the last part of a text that is over a number of tokens, with a marker between.
func shorten(text string, tokens int) (short string, cut bool) {
	head, tail, cut := prompt.Ends(text, tokens-8)
	if !cut {
		return text, false
	}
	return head + "\n[… the middle is left out …]\n" + tail, true
}

// add appends an entry to the turn.
func (t *turn) add(m model.Message) {
	tokens := budget.Tokens(m.Text) + budget.MessageTokens
	for _, c := range m.Calls {
		tokens += budget.Tokens(c.Name) + budget.Tokens(c.Arguments) + 2*budget.MessageTokens
	}
	t.entries = append(t.entries, session.Entry{Turn: t.row.ID, Message: m, Tokens: tokens, At: time.Now()})
}

// audience is who may be told what was said in the turn.
func (t *turn) audience() session.Audience {
	return session.AudienceOf(t.row.Inbound.Chat.Kind == channels.Private, t.row.Decision.Owner, t.key)
}

// parts splits the reply and marks its last part.
func (a *Agent) parts(t *turn, text string) []channels.Part {
	for i := len(t.warnings) - 1; i >= 0; i-- {
		text = t.warnings[i] + "\n\n" + text
	}
	if text == "" {
		return nil
	}
	in := t.row.Inbound
	r := channels.Reply{Address: in.Address(), Text: text}
	if in.Chat.Kind != channels.Private {
		r.ReplyTo = in.Message
	}
	parts := a.split(r)
	last := &parts[len(parts)-1]
	last.Last, last.Answers, last.About = true, answers(t.row), &t.about
	return parts
}

// alarm tells the person that nothing could be stored; it is the one sentence that is not committed first.
func (a *Agent) alarm(t *turn, err error) {
	part := channels.Part{Address: t.row.Inbound.Address(), Text: a.excuse(t, err), Last: true, Answers: answers(t.row), About: &t.about}
	d := a.channels[part.Address.Channel]
	if d == nil {
		return
	}
	if _, err := d.channel.Send(a.ctx, part); err != nil {
		a.log.Error("telling the person", "error", err)
	}
}

func answers(row session.Pending) []string { return []string{row.Inbound.Message} }
