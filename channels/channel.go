package channels

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Channel is one way in and out. Run is called once, Send from one goroutine at a time.
type Channel interface {
	// Name is the channel of its inbounds: "telegram", or "telegram/ACCOUNT".
	Name() string
	// Run receives until ctx ends and returns nil then. It tells the platform that it has an event only after
	// accept returned nil. Being offline is no error: Run waits and tries again.
	Run(ctx context.Context, accept Accept) error
	// Send delivers one part and returns the platform's message id. Its errors are *SendError; any other
	// error counts as Temporary.
	Send(ctx context.Context, part Part) (id string, err error)
}

// Accept makes a batch durable. Only after it returned nil may the platform be told that we have it.
type Accept func(ctx context.Context, batch []Inbound) error

// Shower is an optional upgrade of a Channel that shows a turn's progress: a typing mark, a spinner, streamed text.
// Show must not block and may drop what it is told; what it shows is never delivery.
type Shower interface {
	Show(Address, Progress)
}

// Splitter is an optional upgrade of a Channel with limits of its own; without it a reply is one part.
type Splitter interface {
	Split(Reply) []Part
}

// Phase is where a turn stands.
type Phase string

// The phases that a person can be shown. Done is the last, also of a turn that says nothing.
const (
	Waiting Phase = "waiting" // for a turn before it, or for the model
	Reading Phase = "reading" // the model evaluates the prompt
	Writing Phase = "writing" // Text holds what was released since the last progress
	Using   Phase = "using"   // Detail names the tool
	Done    Phase = "done"
)

// Progress tells a Shower about a running turn.
type Progress struct {
	Phase   Phase    `json:"phase"`
	Text    string   `json:"text,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Percent int      `json:"percent,omitempty"` // of the prompt read; 0 = unknown
	Answers []string `json:"answers,omitempty"` // message ids of the turn
}

// Failure says what a failed Send means.
type Failure int

// The failures: try again, give this part up, or keep it until the person writes again.
const (
	Temporary Failure = iota
	Permanent
	WindowClosed
)

// SendError is a failed Send.
type SendError struct {
	Failure Failure
	After   time.Duration // for Temporary: not earlier than this; 0 = the caller's backoff
	Err     error
}

func (e *SendError) Error() string { return fmt.Sprintf("send: %v", e.Err) }

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// FailureOf classifies any error of Send.
func FailureOf(err error) *SendError {
	var e *SendError
	if errors.As(err, &e) {
		return e
	}
	return &SendError{Failure: Temporary, Err: err}
}

// UntilHeard is the time to which a part is put off whose reply window is closed: it waits until the person at its
// address writes again.
var UntilHeard = time.Unix(1<<33, 0)
