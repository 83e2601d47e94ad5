package ollama_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"pinch/agent/model"
)

// A board has 18 MB for the whole process, so a reply must not take a buffer of megabytes.
func TestMemoryOfAReply(t *testing.T) {
	lines := strings.Repeat(word, 300) + end
	client := overTransport(t, &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return respond(200, strings.NewReader(lines)), nil
	})}, nil)
	const replies = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range replies {
		if _, err := client.Generate(t.Context(), conversation, func(model.Delta) {}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / replies
	t.Logf("%d KB allocated a reply of 300 chunks, heap in use %d KB", each>>10, after.HeapInuse>>10)
	if each > 512<<10 {
		t.Errorf("a reply allocates %d KB", each>>10)
	}
}
