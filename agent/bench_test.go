package agent_test

import (
	"context"
	"fmt"
	"testing"

	"pinch/agent/model"
)

// steady is a model that answers at once.
type steady struct{}

func (steady) Generate(_ context.Context, req model.Request, delta func(model.Delta)) (model.Reply, error) {
	text := "The pump in the cellar runs twice a day, and the valve is closed in winter."
	if delta != nil {
		delta(model.Delta{Text: text})
	}
	return model.Reply{Model: "steady", Text: text, Stop: model.StopEnd, Usage: model.Usage{Prompt: 100, Cached: -1, Reply: 20}}, nil
}

// BenchmarkTurn is one short turn, from the channel to the sent reply, on a real store.
func BenchmarkTurn(b *testing.B) {
	w := newWorld(b, b.TempDir(), steady{}).start()
	b.ReportAllocs()
	for i := range b.N {
		w.say(fmt.Sprintf("Message %d: how is the pump in the cellar today, and what about the valve?", i))
		w.want("The pump")
	}
}
