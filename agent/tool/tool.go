// Package tool has the Tool value, the Set of tools with its argument checks, and the file built-ins.
package tool

import (
	"context"
	"encoding/json"

	"pinch/agent/model"
	"pinch/agent/session"
)

// Effect is what running a tool may change.
type Effect int

// Nothing, the workspace, or the world outside.
const (
	None Effect = iota
	Workspace
	World
)

// Tool is one thing that the model may call.
type Tool struct {
	Name   string
	Doc    string          // at most 12 words
	Schema json.RawMessage // JSON Schema of the arguments object, canonical and minified
	Effect Effect
	Owner  bool // only in conversations of the owner
	Run    func(ctx context.Context, call Call) (Result, error)
}

// Call is what a tool is told.
type Call struct {
	Args         json.RawMessage // an object that its schema allows
	Conversation session.Key
	Audience     session.Audience
}

// Result is what a tool tells the model.
type Result struct {
	Text string // already within the cap of the tool's kind
}

// Spec returns the tool as a model sees it.
func (t Tool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: t.Name, Doc: t.Doc, Schema: t.Schema}
}

// Records is the durable log of calls that have an effect.
type Records interface {
	// Before records the turn's entries so far and the intent, with fsync; only then may the tool run.
	Before(ctx context.Context, p session.Progress) error
	// After records the result. It survives SIGKILL when it returns.
	After(ctx context.Context, turn int64, call, result string) error
	// Of returns the records of a turn in order.
	Of(ctx context.Context, turn int64) ([]session.ToolRecord, error)
}
