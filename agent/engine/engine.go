// Package engine is the context engine: it decides what of a conversation stands in a request, and in which epoch.
//
// An Engine assembles requests and shortens conversations. Window is the default; another one is a file here and a
// line in the registry of main.go. What an engine needs of the loop it is given with each Ask; what it keeps stands
// in the Log.
package engine

import (
	"context"
	"time"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// Engine is what the loop needs of a context engine.
type Engine interface {
	// Assemble makes the request of one round. It may shorten the conversation first, when the round would not fit.
	Assemble(ctx context.Context, ask Ask) (Assembly, error)
	// Compact shortens the conversation now, as the job says.
	Compact(ctx context.Context, ask Ask, job Job) (Compaction, error)
	// AfterTurn does what is due while nobody waits. A new message ends ctx; what was not done is due again.
	AfterTurn(ctx context.Context, ask Ask) (Compaction, error)
}

// Log is the stored tail of conversations.
type Log interface {
	// Tail returns the current epoch and its entries in order. An unknown conversation has the zero epoch.
	Tail(ctx context.Context, key session.Key) (session.Epoch, []session.Entry, error)
	// NewEpoch stores an epoch as the conversation's current one and returns it with its id. Survives SIGKILL.
	NewEpoch(ctx context.Context, epoch session.Epoch) (session.Epoch, error)
}

// Ask is what an engine is told about the conversation and the turn.
type Ask struct {
	Key      session.Key
	Plan     budget.Plan
	Limit    int             // of Assemble: most tokens of the prompt, with the margin of the estimate
	Source   string          // identifies what Render would make; a change starts an epoch
	Render   func() Rendered // makes a fresh head; called only when an epoch starts
	Turn     int64           // the running turn
	Fresh    []session.Entry // its entries so far; they always stand in the request, whole
	Now      time.Time
	Known    Known              // size of the last prompt, as the provider counted it
	Generate Generate           // asks the model; nil = there is none
	Keep     func(string) error // stores lasting facts as notes of the day; nil = nobody may
	Working  func()             // called before work that the person should be told about
}

// Known is what the provider counted of the last request of a conversation. It is good for the epoch that it names.
type Known struct {
	Epoch     int64
	Estimated int               // what we thought
	Reported  int               // what it was
	Messages  int               // how many it had
	Old       bool              // more than the reply to it was said since
	By        *budget.Estimator // what was learned of the model; nil = nothing
}

// Size is an upper bound of a prompt: what was sent already counts as reported, only the rest is estimated.
func (k Known) Size(epoch int64, p Parts) int {
	total := p.Total()
	if k.Epoch != epoch || k.Epoch == 0 {
		return k.bound(budget.Known{}, total)
	}
	if total < k.Estimated { // the front of what was sent
		return min(k.bound(budget.Known{}, total), k.Reported)
	}
	return k.bound(budget.Known{Size: k.Estimated, Tokens: k.Reported}, total)
}

func (k Known) bound(known budget.Known, total int) int {
	if k.By == nil {
		return known.Tokens + budget.Bound(total-known.Size)
	}
	return k.By.Bound(budget.Sent{Known: known, Size: total, Messages: 2})
}

// Generate asks the model one round outside of the conversation's own.
type Generate func(ctx context.Context, cause string, req model.Request) (model.Reply, error)

// Rendered is the front of a prompt.
type Rendered struct {
	Head  string // the system message
	Tools string // canonical JSON of the tools block
}

// Assembly is one request, and what is known of it.
type Assembly struct {
	Request    model.Request
	Epoch      session.Epoch
	Parts      Parts
	Compaction Compaction // what was done to make it fit
}

// Parts is the estimated size of a prompt by part, in tokens.
type Parts struct {
	Head    int `json:"head"`
	Tools   int `json:"tools"`
	Summary int `json:"summary"`
	History int `json:"history"`
	Fresh   int `json:"fresh"`
}

// Total is the estimated size of the whole prompt.
func (p Parts) Total() int { return p.Head + p.Tools + p.Summary + p.History + p.Fresh }

// Job is what a person asks of a compaction.
type Job struct {
	Focus string // what must be kept, "" = nothing special
	Anew  bool   // keep nothing: the next request holds nothing of what was said
}

// Compaction says what a shortening did. The zero value did nothing.
type Compaction struct {
	How     How `json:"how,omitempty"`
	Left    int `json:"left"` // entries that the prompt does not hold any more
	Stubbed int `json:"stubbed"`
	Before  int `json:"before"` // tokens of the prompt
	After   int `json:"after"`
}

// How is by what means a conversation was shortened.
type How string

// The means: tool results became stubs, the model summarised, a rule did, or old turns were left out.
const (
	ByStubs How = "stubs"
	ByModel How = "model"
	ByRule  How = "rule"
	ByCut   How = "cut"
)
