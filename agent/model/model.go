// Package model has the words of talking to a language model: Request, Message, ToolCall, Reply, Delta, and the
// wrappers that every provider shares. A provider is a Client; Fallback is a Client around Clients.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Role is who speaks in a message.
type Role string

// The roles of messages.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one message of a request, stored and sent again byte for byte.
type Message struct {
	Role   Role       `json:"role"`
	Text   string     `json:"text,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`   // of an assistant
	CallID string     `json:"call_id,omitempty"` // of a tool result
	Name   string     `json:"name,omitempty"`    // tool's name of a tool result
}

// ToolCall is one call as the model wrote it. Arguments stays the original string.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // a JSON object
}

// ToolSpec describes a tool to a model. Its JSON form is canonical: these keys in this order, minified.
type ToolSpec struct {
	Name   string          `json:"name"`
	Doc    string          `json:"description"`
	Schema json.RawMessage `json:"parameters"` // JSON Schema of the arguments object
}

// Request is one round's question.
type Request struct {
	Tools    []ToolSpec
	Messages []Message
	Reply    int // most tokens of the answer; 0 = evaluate the prompt only
}

// Usage is what a round cost, in tokens; a negative count is unknown.
type Usage struct {
	Prompt  int           `json:"prompt"` // whole prompt, cached part included
	Cached  int           `json:"cached"` // -1 = not reported
	Reply   int           `json:"reply"`
	Load    time.Duration `json:"load"`
	Prefill time.Duration `json:"prefill"` // of the uncached part
	Decode  time.Duration `json:"decode"`
}

// Reply is a model's answer.
type Reply struct {
	Model string // configured name of the model that answered
	Text  string
	Calls []ToolCall
	Stop  Stop
	Usage Usage
}

// Stop is why a reply ended.
type Stop string

// The reasons to stop.
const (
	StopEnd    Stop = "end"
	StopLength Stop = "length"
)

// Delta is a piece of a reply while it is made.
type Delta struct {
	Text    string
	Percent int // of the prompt evaluated, where the engine tells
}

// Client asks one model. Generate calls delta from its own goroutine, in order; delta may be nil. Errors wrap
// one of the sentinels below where a caller can do something about them.
type Client interface {
	Generate(ctx context.Context, req Request, delta func(Delta)) (Reply, error)
}

// Prober is an optional upgrade of a Client that tells about the model without running it.
type Prober interface {
	Probe(ctx context.Context) (Info, error)
}

// Info is what a model can do. A zero Window is unknown.
type Info struct {
	Name     string `json:"name"`   // configured name
	Model    string `json:"model"`  // the server's name of it
	Digest   string `json:"digest"` // identifies the weights
	Window   int    `json:"window"` // tokens that we may use
	Tools    bool   `json:"tools"`
	Vision   bool   `json:"vision"`
	Thinking bool   `json:"thinking"`
}

// The errors that a caller can act on.
var (
	ErrUnavailable = errors.New("the model cannot be reached")        // network, server down or busy: try the next
	ErrNotFound    = errors.New("the server does not have the model") // pull it
	ErrOverflow    = errors.New("the prompt does not fit the window") // send less, never the same again
	ErrStalled     = errors.New("the model stopped answering")        // no token and no progress in time
	ErrBadOutput   = errors.New("the model's answer cannot be used")  // ask again, differently
	ErrNoTools     = errors.New("the model cannot use tools")         //
	ErrRefused     = errors.New("the server refused the request")     // credentials or a fault of ours
)
