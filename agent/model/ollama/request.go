package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ollama/ollama/api"

	"pinch/agent/model"
)

// chatRequest is the library's request with its messages and tools kept as they were stored: its types would drop
// words of a schema (minimum, default) and write numbers of arguments anew, so that a stored call changes its bytes.
type chatRequest struct {
	api.ChatRequest
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
	Options  options   `json:"options"`
}

type options struct {
	NumCtx     int `json:"num_ctx"`
	NumPredict int `json:"num_predict"`
}

type message struct {
	api.Message
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id,omitempty"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type tool struct {
	Type     string         `json:"type"`
	Function model.ToolSpec `json:"function"`
}

// body renders a request. The same request always gives the same bytes.
func (c *Client) body(req model.Request, numCtx int) ([]byte, error) {
	yes, no := true, false
	r := chatRequest{ChatRequest: api.ChatRequest{
		Model:     c.cfg.Model,
		Stream:    &yes,
		KeepAlive: &api.Duration{Duration: time.Duration(c.cfg.KeepAlive)},
		Think:     &api.ThinkValue{Value: false},
		Truncate:  &no,
		Shift:     &no,
	}, Messages: make([]message, 0, len(req.Messages))}
	// Not 0 to evaluate only: the server drops a 0 on its way to the engine, for which nothing is no limit.
	r.Options = options{NumCtx: numCtx, NumPredict: max(req.Reply, 1)}
	for _, m := range req.Messages {
		r.Messages = append(r.Messages, wireMessage(m))
	}
	for _, t := range req.Tools {
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		r.Tools = append(r.Tools, tool{Type: "function", Function: t})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	return b.Bytes(), nil
}

func wireMessage(m model.Message) message {
	w := message{Message: api.Message{
		Role: string(m.Role), Content: m.Text, ToolName: m.Name, ToolCallID: m.CallID,
	}}
	for i, call := range m.Calls {
		w.ToolCalls = append(w.ToolCalls, toolCall{ID: call.ID, Function: toolFunction{
			Index: i, Name: call.Name, Arguments: object(call.Arguments),
		}})
	}
	return w
}

// object gives stored arguments as the server wants them. What is no JSON object is shown as text in one,
// so that a broken call can stay in the conversation.
func object(arguments string) json.RawMessage {
	raw := bytes.TrimSpace([]byte(arguments))
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case raw[0] == '{' && json.Valid(raw):
		return raw
	}
	text, _ := json.Marshal(map[string]string{"text": arguments})
	return text
}
