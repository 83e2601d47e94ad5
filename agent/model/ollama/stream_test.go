package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinch/agent/config"
	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/agent/model/ollama"
)

func overTransport(t testing.TB, hc *http.Client, change func(*model.Config)) *ollama.Client {
	t.Helper()
	cfg := model.Config{}
	cfg.Default()
	cfg.Window, cfg.URL = 4096, "http://ollama.test"
	if change != nil {
		change(&cfg)
	}
	c, err := ollama.New(cfg, hc, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// body is a reply that plays its steps as they are read, and ends when the request does.
type body struct {
	ctx  context.Context
	play func(n int) (string, time.Duration, bool)
	n    int
}

func (b *body) Read(p []byte) (int, error) {
	text, after, ok := b.play(b.n)
	b.n++
	if !ok {
		return 0, io.EOF
	}
	select {
	case <-time.After(after):
		return copy(p, text), nil
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

func playing(play func(n int) (string, time.Duration, bool)) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return respond(200, &body{ctx: r.Context(), play: play}), nil
	})}
}

const word = `{"message":{"content":"word "},"done":false}` + "\n"
const end = `{"message":{"content":""},"done":true,"done_reason":"stop"}` + "\n"

func tenMinutes(c *model.Config) { c.Stall = config.Duration(10 * time.Minute) }

// A model on a small board needs hours for a long reply, but says a word every few minutes.
func TestSlowReplyIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := overTransport(t, playing(func(n int) (string, time.Duration, bool) {
			if n < 100 {
				return word, 9 * time.Minute, true
			}
			return end, 9 * time.Minute, n == 100
		}), tenMinutes)
		start := time.Now()
		// A listener that is slower than the server does not count as its silence.
		reply, err := client.Generate(t.Context(), conversation, func(model.Delta) { <-time.After(time.Hour) })
		if err != nil || reply.Text != strings.Repeat("word ", 100) {
			t.Errorf("reply %q, error %v", reply.Text, err)
		}
		if took := time.Since(start); took != 101*9*time.Minute+100*time.Hour {
			t.Errorf("it took %v", took)
		}
	})
}

// Bytes that never become a line are no progress.
func TestDripWithoutLinesStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := overTransport(t, playing(func(n int) (string, time.Duration, bool) {
			if n == 0 {
				return word + `{"message":{"content":"`, 0, true
			}
			return "x", time.Minute, true
		}), tenMinutes)
		start := time.Now()
		_, err := client.Generate(t.Context(), conversation, nil)
		if !errors.Is(err, model.ErrStalled) || time.Since(start) != 10*time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestCallerEndsASilentRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := overTransport(t, playing(func(int) (string, time.Duration, bool) { return word, time.Hour, true }), tenMinutes)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := client.Generate(ctx, conversation, nil)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, model.ErrStalled) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// A server that says done and then keeps the connection open does not keep us.
func TestNothingIsWaitedForAfterDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := overTransport(t, playing(func(n int) (string, time.Duration, bool) {
			return end, time.Duration(n) * time.Hour, true
		}), tenMinutes)
		start := time.Now()
		if _, err := client.Generate(t.Context(), conversation, nil); err != nil || time.Since(start) > time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestConnectionIsUsedAgain(t *testing.T) {
	fake := modeltest.NewOllama(t)
	dialled := 0
	tr := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialled++
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}
	defer tr.CloseIdleConnections()
	client := overTransport(t, &http.Client{Transport: tr}, func(c *model.Config) { c.URL = fake.URL() })
	for range 5 {
		if _, err := client.Generate(t.Context(), conversation, nil); err != nil {
			t.Fatal(err)
		}
	}
	if dialled != 1 {
		t.Errorf("connected %d times", dialled)
	}
}

func generate(t testing.TB, lines string) (model.Reply, error) {
	t.Helper()
	client := overTransport(t, &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return respond(200, strings.NewReader(lines)), nil
	})}, nil)
	return client.Generate(context.Background(), conversation, nil)
}

func TestToolCallsOfOtherShapes(t *testing.T) {
	reply, err := generate(t, `{"message":{"tool_calls":[{"id":"a1","function":{"name":"x","arguments":"{\"k\": 1}"}}]},"done":false}
{"message":{"tool_calls":[{"function":{"name":"y"}},{"id":"mine","function":{"name":"z","arguments":null}}]},"done":true,"done_reason":"length",`+
		`"prompt_eval_count":7,"prompt_eval_cached_count":0,"load_duration":-5}`)
	want := []model.ToolCall{{ID: "call_1", Name: "x", Arguments: `{"k": 1}`}, {ID: "call_2", Name: "y", Arguments: "{}"},
		{ID: "mine", Name: "z", Arguments: "{}"}}
	if err != nil || fmt.Sprint(reply.Calls) != fmt.Sprint(want) {
		t.Errorf("calls %v, error %v, want %v", reply.Calls, err, want) // a1 is taken by the conversation
	}
	if reply.Stop != model.StopLength || reply.Usage != (model.Usage{Prompt: 7, Cached: 0, Reply: -1}) {
		t.Errorf("reply is %+v", reply)
	}
}

// The server ends a reply that repeats itself without saying done.
func TestLoopingReplyIsBadOutput(t *testing.T) {
	if _, err := generate(t, word+word+word); !errors.Is(err, model.ErrBadOutput) {
		t.Errorf("error is %v", err)
	}
}

// A model that cannot be kept from thinking may do so, but not for ever.
func TestEndlessThinkingIsBadOutput(t *testing.T) {
	thought := `{"message":{"thinking":"` + strings.Repeat("hmm ", 15000) + `"},"done":false}` + "\n"
	if reply, err := generate(t, strings.Repeat(thought, 20)+word+end); err != nil || reply.Text != "word " {
		t.Errorf("reply %+v, error %v", reply, err)
	}
	if _, err := generate(t, strings.Repeat(thought, 300)+word+end); !errors.Is(err, model.ErrBadOutput) {
		t.Errorf("error is %v", err)
	}
}

func TestServerDiesInTheMiddle(t *testing.T) {
	fake := modeltest.NewOllama(t)
	client := newClient(t, func(c *model.Config) { c.URL = fake.URL() })
	fake.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Text: "one two three"} })
	fake.OnChunk(func(request, chunk int) {
		if request == 0 && chunk == 1 {
			fake.Down()
		}
	})
	_, err := client.Generate(t.Context(), conversation, nil)
	if !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("while down: %v", err)
	}
	fake.Up()
	reply, err := client.Generate(t.Context(), conversation, nil)
	if err != nil || reply.Text != "one two three" {
		t.Errorf("after it came back: %+v, %v", reply, err)
	}
}

func FuzzReply(f *testing.F) {
	f.Add(word + end)
	f.Add(`{"message":{"tool_calls":[{"function":{"name":"y","arguments":{"a":1}}}]},"done":true}`)
	f.Add(`{"error":"error parsing tool call","status":500}`)
	f.Add(word + `{"done":true,"prompt_eval_count":-1,"eval_count":9e99}`)
	f.Add(`{"done":true,"message":{"tool_calls":[{"function":{"arguments":"\ud800"}}]}}`)
	f.Fuzz(func(t *testing.T, lines string) {
		reply, err := generate(t, lines)
		if err != nil {
			if reply.Text != "" || reply.Calls != nil {
				t.Errorf("an error with a reply: %+v", reply)
			}
			return
		}
		if !strings.Contains(lines, "done") && !strings.Contains(lines, `\u00`) && !strings.Contains(strings.ToLower(lines), "done") {
			t.Errorf("a reply without an end: %+v", reply)
		}
		seen := map[string]bool{}
		for _, c := range reply.Calls {
			if c.ID == "" || seen[c.ID] {
				t.Errorf("id %q is empty or used twice", c.ID)
			}
			seen[c.ID] = true
		}
		if u := reply.Usage; u.Prompt < -1 || u.Cached < -1 || u.Reply < -1 || u.Load < 0 || u.Prefill < 0 || u.Decode < 0 {
			t.Errorf("usage is %+v", u)
		}
		// What came can be sent again.
		again := model.Request{Reply: 1, Messages: []model.Message{{Role: model.Assistant, Text: reply.Text, Calls: reply.Calls}}}
		if _, err := generateWith(t, again, word+end); err != nil {
			t.Errorf("sending it again: %v", err)
		}
	})
}

func generateWith(t testing.TB, req model.Request, lines string) (model.Reply, error) {
	client := overTransport(t, &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return respond(200, strings.NewReader(lines)), nil
	})}, nil)
	return client.Generate(context.Background(), req, nil)
}
