package agent_test

import (
	"context"
	"testing"
	"time"

	"pinch/agent/model"
)

// once is a model that answers one message and is away afterwards. It tells when it is asked again.
type once struct {
	asked int
	again chan model.Request
}

func (o *once) Generate(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
	if o.asked++; o.asked == 1 {
		return model.Reply{Model: "once", Text: "Good morning.", Stop: model.StopEnd, Usage: model.Usage{Prompt: 700, Cached: -1, Reply: 4}}, nil
	}
	select {
	case o.again <- req:
	default:
	}
	return model.Reply{}, model.ErrUnavailable
}

func TestAConversationOfReflexesIsTidiedToo(t *testing.T) {
	o := &once{again: make(chan model.Request, 1)}
	w := newWorld(t, t.TempDir(), o)
	w.persona.Model.Prober = window(2048)
	w.start()
	w.say("Good morning!")
	w.want("Good morning.")
	for range 60 { // no model is asked: more of them than the window holds
		w.say("what time is it")
		w.want("⚡")
	}
	select {
	case <-o.again:
	case <-time.After(10 * time.Second):
		t.Error("it is not tidied while nobody waits")
	}
}
