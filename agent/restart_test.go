package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pinch/agent"
	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/agent/session"
	"pinch/agent/tool"
	"pinch/budget"
)

// These tests stop an agent at a point of a turn, as a power cut would, and start another on the same directory.

// dying wraps the store so that one step never returns: the process ends there.
type dying struct {
	tool.Records
	agent.Journal
	agent.Outbox
	at   string
	hit  chan struct{}
	dead chan struct{}
}

func (d *dying) reach(point string) error {
	if d.at != point {
		return nil
	}
	d.at = ""
	close(d.hit)
	<-d.dead
	return errors.New("dead")
}

func (d *dying) Before(ctx context.Context, p session.Progress) error {
	if err := d.Records.Before(ctx, p); err != nil {
		return err
	}
	return d.reach("intent")
}

func (d *dying) After(ctx context.Context, turn int64, call, result string) error {
	if err := d.reach("effect"); err != nil {
		return err
	}
	if err := d.Records.After(ctx, turn, call, result); err != nil {
		return err
	}
	return d.reach("result")
}

func (d *dying) Commit(ctx context.Context, turn session.Turn) error {
	if err := d.reach("before commit"); err != nil {
		return err
	}
	if err := d.Journal.Commit(ctx, turn); err != nil {
		return err
	}
	return d.reach("after commit")
}

func (d *dying) Sent(ctx context.Context, part int64, id string) error {
	if err := d.reach("sent"); err != nil {
		return err
	}
	return d.Outbox.Sent(ctx, part, id)
}

// lifeline runs one turn with a tool until it dies at a point, then starts again and returns the second world.
func lifeline(t *testing.T, at string, after ...modeltest.Step) (first, second *world, b *bench) {
	t.Helper()
	b = &bench{}
	first, second = lifelineOf(t, b, at, after...)
	return first, second, b
}

// lifelineOf is lifeline with a tool of the test's own.
func lifelineOf(t *testing.T, b *bench, at string, after ...modeltest.Step) (first, second *world) {
	t.Helper()
	dir := t.TempDir()
	m := modeltest.NewScript(t, modeltest.Call("relay", `{"x":"on"}`))
	if at != "intent" && at != "effect" && at != "result" {
		m.Then(modeltest.Say("The relay is on."))
	}
	d := &dying{at: at, hit: make(chan struct{}), dead: make(chan struct{})}
	first = newWorldWith(t, dir, m, func(s *agent.Store) {
		d.Records, d.Journal, d.Outbox = s.Records, s.Journal, s.Outbox
		s.Records, s.Journal, s.Outbox = d, d, d
	}, b.tool("relay", tool.World))
	first.start()
	first.say("relay on")
	select {
	case <-d.hit:
	case <-time.After(patience):
		t.Fatalf("it did not come to %q", at)
	}
	first.kill(d.dead)
	second = newWorld(t, dir, modeltest.NewScript(t, after...), b.tool("relay", tool.World)).start()
	return first, second
}

func TestRestartCapsARecordedResult(t *testing.T) {
	b := &bench{more: strings.Repeat(" and the relay clicks", 3000)}
	fits := func(r model.Request) error {
		last := r.Messages[len(r.Messages)-1]
		if n := budget.Tokens(last.Text); last.Role != model.Tool || n > 1000 || !strings.Contains(last.Text, "left out") {
			return fmt.Errorf("a result of %d tokens: %.60q", n, last.Text)
		}
		return nil
	}
	_, second := lifelineOf(t, b, "result", modeltest.Step{Check: fits, Say: "It is on."})
	second.want("It is on.")
}

func TestRestartBetweenIntentAndResultDoesNotRunTheToolAgain(t *testing.T) {
	for _, at := range []string{"intent", "effect"} {
		_, w, b := lifeline(t, at, modeltest.Step{Want: []string{"It may have happened"}, Say: "Please look at the relay."})
		part := w.want("Please look at the relay.")
		if !strings.HasPrefix(part.Text, "I was restarted while `relay` ran: it may have happened.") {
			t.Errorf("%s: the person is not warned: %q", at, part.Text)
		}
		if want := map[string]int{"intent": 0, "effect": 1}[at]; len(b.runs) != want {
			t.Errorf("%s: the tool ran %d times, want %d", at, len(b.runs), want)
		}
	}
}

func TestRestartAfterTheResultGoesOnFromIt(t *testing.T) {
	_, w, b := lifeline(t, "result", modeltest.Step{Want: []string{"relay done"}, Say: "It is on."})
	if part := w.want("It is on."); part.Text != "It is on." {
		t.Errorf("the reply is %q", part.Text)
	}
	if len(b.runs) != 1 {
		t.Errorf("the tool ran %d times", len(b.runs))
	}
}

func TestRestartBeforeTheCommitAsksTheModelAgainAndNotTheTool(t *testing.T) {
	_, w, b := lifeline(t, "before commit", modeltest.Step{Want: []string{"relay done"}, Say: "It is on."})
	w.want("It is on.")
	if len(b.runs) != 1 {
		t.Errorf("the tool ran %d times", len(b.runs))
	}
}

func TestRestartAfterTheCommitSendsTheReply(t *testing.T) {
	_, w, _ := lifeline(t, "after commit")
	w.want("The relay is on.")
}

func TestRestartBetweenSendAndMarkSendsAtMostTwice(t *testing.T) {
	first, second, _ := lifeline(t, "sent")
	if n := len(first.channel.Sent()); n != 1 {
		t.Fatalf("sent %d times before", n)
	}
	second.want("The relay is on.")
	if n := len(second.channel.Sent()); n != 1 {
		t.Errorf("sent %d times after", n)
	}
}

func TestDoIsRecordedAndNotRepeated(t *testing.T) {
	dir, b := t.TempDir(), &bench{}
	d := &dying{at: "effect", hit: make(chan struct{}), dead: make(chan struct{})}
	first := newWorldWith(t, dir, modeltest.NewScript(t), func(s *agent.Store) {
		d.Records = s.Records
		s.Records = d
	}, b.tool("relay", tool.World)).start()
	first.say(`/do relay {"x":"off"}`)
	<-d.hit
	first.kill(d.dead)
	second := newWorld(t, dir, modeltest.NewScript(t), b.tool("relay", tool.World)).start()
	second.want("it may have happened")
	second.say(`/do relay {"x":"off"}`)
	second.want("relay done")
	if len(b.runs) != 2 {
		t.Errorf("the tool ran %d times: %v", len(b.runs), b.runs)
	}
}

func TestMessageThatKillsTheProcessIsSetAside(t *testing.T) {
	dir := t.TempDir()
	for try := range 4 {
		block := make(chan struct{})
		var m *modeltest.Script
		if try < 3 {
			m = modeltest.NewScript(t, modeltest.Step{Block: block})
		} else {
			m = modeltest.NewScript(t)
		}
		w := newWorld(t, dir, m).start()
		if try == 0 {
			w.say("poison")
		}
		if try == 3 {
			w.want("set it aside")
			return
		}
		wait(t, func() bool { return len(m.Requests()) == 1 })
		w.stop()
	}
}

func TestFullDiskIsToldAndLosesNothing(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("hello"), modeltest.Say("hello again"))
	full := &failing{}
	w := newWorldWith(t, t.TempDir(), m, func(s *agent.Store) { full.Journal = s.Journal; s.Journal = full }).start()
	full.err = session.ErrDiskFull
	w.say("hi")
	w.want("The disk is full")
	full.err = nil
	rows, err := w.rows.Inbox.Pending(t.Context())
	if err != nil || len(rows) != 1 || rows[0].Inbound.Text != "hi" {
		t.Errorf("the message is not kept: %v %v", rows, err)
	}
	w.say("again")
	w.want("hello again")
}

func TestWhatCannotBeMarkedAsSentIsNotSentAgain(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("hello"), modeltest.Say("hello again"))
	w := newWorldWith(t, t.TempDir(), m, func(s *agent.Store) { s.Outbox = &forgetful{s.Outbox, 1} }).start()
	w.say("hi")
	w.want("hello")
	w.say("again")
	w.want("hello again")
	if sent := w.channel.Sent(); len(sent) != 2 {
		t.Errorf("%d parts were sent: %v", len(sent), sent)
	}
}

// forgetful is an outbox that cannot mark parts for some time.
type forgetful struct {
	agent.Outbox
	fails int
}

func (f *forgetful) Sent(ctx context.Context, part int64, id string) error {
	if f.fails--; f.fails >= 0 {
		return session.ErrDiskFull
	}
	return f.Outbox.Sent(ctx, part, id)
}

type failing struct {
	agent.Journal
	err error
}

func (f *failing) Commit(ctx context.Context, turn session.Turn) error {
	if f.err != nil {
		return f.err
	}
	return f.Journal.Commit(ctx, turn)
}

func TestOverflowIsAskedSmallerAndNeverUnchanged(t *testing.T) {
	m := modeltest.NewScript(t)
	w := newWorld(t, t.TempDir(), m)
	w.persona.Engine = engine.NewWindow(w.rows.Log, engine.Config{Compaction: engine.Off})
	w.start()
	for i := range 10 {
		m.Then(modeltest.Say("ok"))
		w.say(fmt.Sprintf("%d %s", i, strings.Repeat("words ", 150)))
		w.want("ok")
	}
	m.Then(modeltest.Fail(model.ErrOverflow), modeltest.Fail(model.ErrOverflow), modeltest.Say("now it fits"))
	w.say("and now?")
	w.want("now it fits")
	r := m.Requests()[10:]
	for i := 1; i < len(r); i++ {
		if a, b := size(r[i-1]), size(r[i]); b >= a {
			t.Errorf("request %d holds %d bytes after one of %d", i, b, a)
		}
	}
	// Nothing is left to leave out: only the last message goes, and the person is told.
	m.Then(modeltest.Fail(model.ErrOverflow), modeltest.Step{Want: []string{"still?"}, Say: "Barely."})
	w.say("still?")
	if part := w.want("Barely."); len(part.About.LeftOut) == 0 {
		t.Error("the person is not told")
	}
}

func size(r model.Request) int {
	b, _ := json.Marshal(r)
	return len(b)
}
