package packaging_test

import (
	"fmt"
	"strings"
	"testing"

	"pinch/agent/model/modeltest"
)

// A server that has a smaller window than it says, and leaves out the oldest messages in silence.

func TestSilentCutIsNoticedAtOnceAndToldOnce(t *testing.T) {
	const notice = "in silence"
	ollama := modeltest.NewOllama(t, modeltest.OllamaModel{Name: "qwen3:1.7b", Digest: "8f68893c685c", Cuts: 1900})
	dir := state(t, local(ollama.URL())+"window = 4096\n")
	serve(t, dir)
	g := visit(t, dir)
	seen, told, cutIn := 0, 0, -1
	for i := range 60 {
		reply, _ := g.say(fmt.Sprintf("Turn %d: %s", i, strings.Repeat("the lighthouse keeper writes down the weather ", 4)))
		g.settle()
		requests := ollama.Requests()
		for _, r := range requests[seen:] {
			switch {
			case r.Dropped > 0 && cutIn < 0:
				cutIn = i
			case r.Dropped > 0 && i > cutIn:
				t.Errorf("turn %d: %d messages were cut again", i, r.Dropped)
			}
		}
		seen = len(requests)
		if strings.Contains(reply, notice) {
			told++
			if i != cutIn {
				t.Errorf("told in turn %d of a cut in turn %d", i, cutIn)
			}
		}
	}
	h := g.health()
	t.Logf("cut in turn %d, window %d from then on", cutIn, h.Window)
	if cutIn < 0 || told != 1 || h.Window > 1900 || h.Faults != 0 {
		t.Errorf("cut in turn %d, told %d times, window %d, %d faults", cutIn, told, h.Window, h.Faults)
	}
}
