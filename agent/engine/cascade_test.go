package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/budget"
)

// shrunk is a conversation that fills a window of 8,192 tokens, of which the half is left. Its first message has facts.
func shrunk(t *testing.T, client model.Client) *talk {
	k := newTalk(t, 8192, client)
	k.window.Config.Flush.Enabled = false
	k.turn(user("Remember that the boiler code is 4711 and its valve is on GPIO17."), assistant("Yes."))
	k.fill()
	k.plan = budget.Split(4096, 8)
	return k
}

// chunk is a step that sums a part of the conversation up.
func chunk(say string) modeltest.Step {
	return modeltest.Step{Say: say, Check: func(r model.Request) error {
		if len(r.Tools) > 0 || len(r.Messages) != 2 || r.Messages[0].Role != model.System {
			return errors.New("a chunk is the instruction and the part alone")
		}
		if n := size(r) - budget.Tokens(toolsBlock); budget.Bound(n)+r.Reply > 4096 {
			return errors.New("a chunk does not fit the window")
		}
		return nil
	}}
}

func TestCascadeWhereTheConversationDoesNotFit(t *testing.T) {
	m := modeltest.NewScript(t)
	k := shrunk(t, m)
	m.Then(chunk(goodNotes), chunk(goodNotes+", shelf 30"))
	c := k.afterTurn()
	if c.How != engine.ByModel || c.Left == 0 {
		t.Fatalf("%+v", c)
	}
	if first := m.Requests()[0].Messages[1].Text; !strings.Contains(first, "boiler code is 4711") {
		t.Errorf("the first chunk is %.200q", first)
	}
	for _, want := range []string{"tomatoes of the year", "4711", "GPIO17"} {
		if !strings.Contains(k.epoch().Summary, want) {
			t.Errorf("%q is lost in %q", want, k.epoch().Summary)
		}
	}
	a := k.turn(user("Where are the tomatoes?"), assistant("On their shelf."))
	if n := budget.Bound(a.Parts.Total()); n > k.plan.Low+60 {
		t.Errorf("%d tokens, the low mark is %d", n, k.plan.Low)
	}
}

func TestAChunkThatHangsIsShortenedByRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := modeltest.NewScript(t)
		k := shrunk(t, m)
		m.Then(modeltest.Step{Block: make(chan struct{})}, chunk(goodNotes))
		began := time.Now()
		c := k.afterTurn()
		if c.How != engine.ByModel || !strings.Contains(k.epoch().Summary, "tomatoes of the year") || !strings.Contains(k.epoch().Summary, "4711") {
			t.Errorf("%+v: %q", c, k.epoch().Summary)
		}
		if d := time.Since(began); d != 3*time.Minute {
			t.Errorf("it took %v", d)
		}
	})
}

func TestAnInterruptedCascadeGoesOn(t *testing.T) {
	m := modeltest.NewScript(t)
	k := shrunk(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	m.Then(chunk(goodNotes+", shelf 7"), modeltest.Step{Block: ctx.Done(), Check: func(model.Request) error { cancel(); return nil }})
	if _, err := k.window.AfterTurn(ctx, k.ask()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(k.log.epochs) != 1 {
		t.Errorf("%d epochs", len(k.log.epochs))
	}
	second := m.Requests()[1].Messages[1].Text
	m.Then(chunk(goodNotes)) // only the second chunk is asked again
	if c := k.afterTurn(); c.How != engine.ByModel || !strings.Contains(k.epoch().Summary, "shelf 7") {
		t.Errorf("%+v: %q", c, k.epoch().Summary)
	}
	if got := m.Requests()[2].Messages[1].Text; got != second {
		t.Errorf("it went on with %.100q, not with %.100q", got, second)
	}
}

func TestCascadeOfJunkIsByRule(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("Sure! How can I help?"), modeltest.Fail(model.ErrUnavailable))
	k := shrunk(t, m)
	c := k.afterTurn()
	if c.How != engine.ByRule || !strings.Contains(k.epoch().Summary, "4711") {
		t.Errorf("%+v: %q", c, k.epoch().Summary)
	}
	if k.epoch().Reason != "compaction by rule" {
		t.Errorf("the reason is %q", k.epoch().Reason)
	}
}
