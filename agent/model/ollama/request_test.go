package ollama_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"pinch/agent/config"
	"pinch/agent/model"
	"pinch/agent/model/modeltest"
)

func ownConnections() (*http.Client, func()) {
	tr := &http.Transport{}
	return &http.Client{Transport: tr}, tr.CloseIdleConnections
}

const schema = `{"type":"object","properties":{"zeta":{"type":"integer","minimum":1,"maximum":9,"default":3},"alpha":` +
	`{"type":"array","items":{"type":"string","enum":["a","b"]},"description":"<which>"}},"required":["zeta"],"additionalProperties":false}`

var conversation = model.Request{
	Reply: 100,
	Tools: []model.ToolSpec{{Name: "relay", Doc: "Switch a relay", Schema: []byte(schema)}, {Name: "now", Doc: "The time"}},
	Messages: []model.Message{
		{Role: model.System, Text: "You look after a house."},
		{Role: model.User, Text: "Open <it> & 打开"},
		{Role: model.Assistant, Calls: []model.ToolCall{
			{ID: "a1", Name: "relay", Arguments: `{"zeta": 1.50, "alpha":["b"],"big":12345678901234567890}`},
			{ID: "a2", Name: "now", Arguments: "not json"}, {ID: "a3", Name: "now"},
		}},
		{Role: model.Tool, CallID: "a1", Name: "relay", Text: "done"},
	},
}

const conversationBody = `{"model":"qwen3:1.7b","stream":true,"keep_alive":"24h0m0s",` +
	`"think":false,"truncate":false,"shift":false,"messages":[{"role":"system","content":"You look after a house."},` +
	`{"role":"user","content":"Open <it> & 打开"},{"role":"assistant","content":"","tool_calls":[` +
	`{"id":"a1","function":{"index":0,"name":"relay","arguments":{"zeta":1.50,"alpha":["b"],"big":12345678901234567890}}},` +
	`{"id":"a2","function":{"index":1,"name":"now","arguments":{"text":"not json"}}},` +
	`{"id":"a3","function":{"index":2,"name":"now","arguments":{}}}]},` +
	`{"role":"tool","content":"done","tool_name":"relay","tool_call_id":"a1"}],` +
	`"tools":[{"type":"function","function":{"name":"relay","description":"Switch a relay","parameters":` + schema + `}},` +
	`{"type":"function","function":{"name":"now","description":"The time","parameters":{"type":"object","properties":{}}}}],` +
	`"options":{"num_ctx":4096,"num_predict":100}}` + "\n"

func TestRequestOnTheWire(t *testing.T) {
	fake := modeltest.NewOllama(t)
	client := newClient(t, func(c *model.Config) { c.URL = fake.URL() })
	for range 5 {
		if _, err := client.Generate(t.Context(), conversation, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range fake.Requests() {
		if string(r.Body) != conversationBody {
			t.Fatalf("request %d is\n%s\nwant\n%s", i, r.Body, conversationBody)
		}
		if r.Thinking || r.Dropped > 0 || r.Loaded != (i == 0) {
			t.Errorf("request %d: %+v", i, r)
		}
	}
}

func TestEvaluateOnlyIsBounded(t *testing.T) {
	fake := modeltest.NewOllama(t)
	client := newClient(t, func(c *model.Config) { c.URL, c.KeepAlive = fake.URL(), 0 })
	req := conversation
	req.Reply = 0
	if _, err := client.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	chat := fake.Requests()[0].Chat
	if chat.Options.NumPredict == nil || *chat.Options.NumPredict != 1 {
		t.Errorf("num_predict is %v, want 1", chat.Options.NumPredict)
	}
	if string(chat.KeepAlive) != `"0s"` {
		t.Errorf("keep_alive is %s", chat.KeepAlive)
	}
}

// A turn with tool calls, and the next turn: each request begins with the one before, and the cache holds it.
func TestRequestsGrow(t *testing.T) {
	fake := modeltest.NewOllama(t)
	fake.On("light", modeltest.Answer{Calls: []model.ToolCall{{Name: "relay", Arguments: `{"b":1,"a":2.0}`}}})
	client := newClient(t, func(c *model.Config) { c.URL = fake.URL() })
	req := model.Request{Reply: 50, Tools: conversation.Tools, Messages: []model.Message{{Role: model.System, Text: "House."}}}
	for _, text := range []string{"The light please", "Thanks", "The light again"} {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Text: text})
		for {
			reply, err := client.Generate(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: reply.Text, Calls: reply.Calls})
			if len(reply.Calls) == 0 {
				break
			}
			req.Messages = append(req.Messages, model.Message{Role: model.Tool, CallID: reply.Calls[0].ID, Name: "relay", Text: "done"})
		}
	}
	requests := fake.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests", len(requests))
	}
	for i := 1; i < len(requests); i++ {
		before, now := requests[i-1], requests[i]
		if !modeltest.Prefix(before, now) || modeltest.Prefix(now, before) {
			t.Errorf("request %d does not begin with the one before:\n%s\n%s", i, before.Body, now.Body)
		}
		if now.Cached < before.Prompt-1 || now.Loaded {
			t.Errorf("request %d: %d of %d tokens were cached, the one before had %d", i, now.Cached, now.Prompt, before.Prompt)
		}
	}
	calls := requests[4].Chat.Messages
	if a, b := calls[2].ToolCalls[0].ID, calls[8].ToolCalls[0].ID; a != "call_1" || b != "call_2" {
		t.Errorf("ids are %q and %q", a, b)
	}
}

func TestBadSchemaIsRefusedHere(t *testing.T) {
	client := newClient(t, func(c *model.Config) { c.URL = "http://127.0.0.1:1" })
	req := model.Request{Reply: 1, Tools: []model.ToolSpec{{Name: "x", Schema: []byte("{")}}}
	if _, err := client.Generate(t.Context(), req, nil); !errors.Is(err, model.ErrRefused) {
		t.Errorf("error is %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}
}

func TestKeyIsSent(t *testing.T) {
	const done = `{"message":{"content":"hi"},"done":true}`
	var got string
	hc := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.Header.Get("Authorization")
		return respond(200, strings.NewReader(done)), nil
	})}
	client := overTransport(t, hc, func(c *model.Config) { c.Key = config.NewSecret("s3cret") })
	reply, err := client.Generate(context.Background(), conversation, nil)
	if err != nil || reply.Text != "hi" || got != "Bearer s3cret" {
		t.Errorf("reply %+v, error %v, header %q", reply, err, got)
	}
	if u := reply.Usage; u.Prompt != -1 || u.Cached != -1 || u.Reply != -1 {
		t.Errorf("counts that nobody told are %+v", u)
	}
}
