package modeltest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"pinch/agent/model"
)

// Request is one /api/chat that a fake received, with what it did about it.
type Request struct {
	Body     []byte // as it came
	Chat     Chat   // the same, parsed
	Status   int    // HTTP status of the answer
	Loaded   bool   // the model was loaded for it: the first time, or anew for another window or shift
	Thinking bool   // the model thought, because it can and nothing forbade it
	Dropped  int    // messages that the server left out in silence
	Prompt   int    // tokens of the prompt
	Cached   int    // of these, tokens that the prompt cache held
}

// Chat is a parsed /api/chat.
type Chat struct {
	Model     string          `json:"model"`
	Messages  []Message       `json:"messages"`
	Tools     json.RawMessage `json:"tools"`
	Stream    *bool           `json:"stream"`
	Think     json.RawMessage `json:"think"`
	Truncate  *bool           `json:"truncate"`
	Shift     *bool           `json:"shift"`
	KeepAlive json.RawMessage `json:"keep_alive"`
	Options   struct {
		NumCtx     *int `json:"num_ctx"`
		NumPredict *int `json:"num_predict"`
	} `json:"options"`
}

// Message is one message of a Chat.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolName   string     `json:"tool_name"`
	ToolCallID string     `json:"tool_call_id"`
	ToolCalls  []wireCall `json:"tool_calls"`

	raw json.RawMessage
}

// UnmarshalJSON keeps the bytes as they came beside the fields.
func (m *Message) UnmarshalJSON(b []byte) error {
	type plain Message
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	m.raw = slices.Clone(b)
	return nil
}

type wireCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// Last is the text of the last message.
func (c Chat) Last() string {
	if len(c.Messages) == 0 {
		return ""
	}
	return c.Messages[len(c.Messages)-1].Content
}

// Prefix reports whether request b begins with all of request a: the same tools, then the same messages, byte
// for byte as they came, then more.
func Prefix(a, b Request) bool {
	if !bytes.Equal(a.Chat.Tools, b.Chat.Tools) || len(a.Chat.Messages) > len(b.Chat.Messages) {
		return false
	}
	for i, m := range a.Chat.Messages {
		if !bytes.Equal(m.raw, b.Chat.Messages[i].raw) {
			return false
		}
	}
	return true
}

// render makes the prompt that the imagined model sees: tools first, then the messages.
func render(tools json.RawMessage, messages []Message) string {
	var b strings.Builder
	if len(tools) > 0 {
		b.WriteString("<tools>")
		b.Write(tools)
		b.WriteString("</tools>\n")
	}
	for _, m := range messages {
		b.WriteString("<" + m.Role + ">" + m.Content)
		for _, c := range m.ToolCalls {
			b.WriteString(renderCall(c.Function.Name, string(c.Function.Arguments)))
		}
		b.WriteString("</>\n")
	}
	return b.String()
}

func renderCall(name, arguments string) string { return "<call>" + name + arguments + "</call>" }

func renderAnswer(a Answer) string {
	text := a.Text
	for _, c := range a.Calls {
		text += renderCall(c.Name, c.Arguments)
	}
	return text
}

// tokens counts as a simple tokenizer would: four bytes each.
func tokens(s string) int { return (len(s) + 3) / 4 }

// common counts the tokens at the front of a prompt that the cache holds too.
func common(cache, prompt string) int {
	n := 0
	for n < len(cache) && n < len(prompt) && cache[n] == prompt[n] {
		n++
	}
	return n / 4
}

// Answer is what a fake does about a request.
type Answer struct {
	Text     string           // streamed word by word
	Thinking string           // sent before the text when the model thinks; default a short sentence
	Calls    []model.ToolCall // an empty id stays empty on the wire

	Fail   error  // one of the model package's errors, said as this server says it
	Status int    // with Error: any other refusal
	Error  string //
	Late   bool   // the failure comes within the stream, after the text

	Gate <-chan struct{} // nothing is written before this is closed
}
