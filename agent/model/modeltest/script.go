// Package modeltest stands in for language models in tests: Script inside the process, Ollama on the wire, and
// Suite, which every provider must pass.
package modeltest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pinch/agent/model"
	"pinch/budget"
)

// Step is one expected request and what the model does about it.
type Step struct {
	Want  []string                  // parts of the last message, tool results of the same round included
	Check func(model.Request) error // nil = anything will do

	Block <-chan struct{} // answer only after this is closed; the request's context ends the wait
	Say   string          // text of the reply, streamed word by word
	Call  []model.ToolCall
	Stop  model.Stop  // default StopEnd
	Usage model.Usage // zero = estimated, nothing cached
	Fail  error       // end so, after Say was streamed
}

// Script is a model.Client that plays its steps in order. A request that no step expects, and a step that no
// request reached by the end of the test, fail the test. It is safe for use by several goroutines.
type Script struct {
	t     testing.TB
	mu    sync.Mutex
	steps []Step
	asked []model.Request
}

var _ model.Client = (*Script)(nil)

// NewScript makes a model that plays the steps.
func NewScript(t testing.TB, steps ...Step) *Script {
	s := &Script{t: t, steps: steps}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if rest := len(s.steps) - len(s.asked); rest > 0 && !t.Failed() {
			t.Errorf("the model was asked %d times, %d more requests were expected", len(s.asked), rest)
		}
	})
	return s
}

// Say is a step that answers with text to whatever is asked.
func Say(text string) Step { return Step{Say: text} }

// Call is a step that calls one tool; the id is made of the tool's name.
func Call(name, arguments string) Step {
	return Step{Call: []model.ToolCall{{ID: "call_" + name, Name: name, Arguments: arguments}}}
}

// Fail is a step that fails.
func Fail(err error) Step { return Step{Fail: err} }

// Then adds steps to the end.
func (s *Script) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Requests are the requests so far.
func (s *Script) Requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Request(nil), s.asked...)
}

// Generate plays the next step.
func (s *Script) Generate(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Reply, error) {
	step, n, err := s.take(req)
	if err != nil {
		s.t.Errorf("request %d: %v", n, err)
		return model.Reply{}, err
	}
	if step.Block != nil {
		select {
		case <-step.Block:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return model.Reply{}, fmt.Errorf("script: %w", context.Cause(ctx))
	}
	for _, word := range words(step.Say) {
		if delta != nil {
			delta(model.Delta{Text: word})
		}
	}
	if step.Fail != nil {
		return model.Reply{}, step.Fail
	}
	return step.reply(req), nil
}

func (s *Script) take(req model.Request) (Step, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.asked)
	req.Messages = append([]model.Message(nil), req.Messages...) // the caller may go on with its slice
	s.asked = append(s.asked, req)
	if n >= len(s.steps) {
		return Step{}, n, fmt.Errorf("no request was expected here, its end is %q", lastText(req))
	}
	step := s.steps[n]
	for _, part := range step.Want {
		if !strings.Contains(lastText(req), part) {
			return Step{}, n, fmt.Errorf("%q is missing at its end, which is %q", part, lastText(req))
		}
	}
	if step.Check != nil {
		if err := step.Check(req); err != nil {
			return Step{}, n, err
		}
	}
	return step, n, nil
}

func (s Step) reply(req model.Request) model.Reply {
	r := model.Reply{Model: "script", Text: s.Say, Calls: s.Call, Stop: s.Stop, Usage: s.Usage}
	if r.Stop == "" {
		r.Stop = model.StopEnd
	}
	if r.Usage == (model.Usage{}) {
		r.Usage = model.Usage{Prompt: estimate(req), Cached: -1, Reply: budget.Tokens(s.Say)}
	}
	return r
}

func estimate(req model.Request) int {
	sum := 0
	for _, t := range req.Tools {
		sum += budget.Tokens(t.Name) + budget.Tokens(t.Doc) + budget.Tokens(string(t.Schema))
	}
	for _, m := range req.Messages {
		sum += budget.MessageTokens + budget.Tokens(m.Text)
		for _, c := range m.Calls {
			sum += budget.Tokens(c.Name) + budget.Tokens(c.Arguments)
		}
	}
	return sum
}

// lastText is the last message, with all tool results when it is one.
func lastText(req model.Request) string {
	var parts []string
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := req.Messages[i]
		if len(parts) > 0 && m.Role != model.Tool {
			break
		}
		parts = append([]string{m.Text}, parts...)
		if m.Role != model.Tool {
			break
		}
	}
	return strings.Join(parts, "\n")
}

// words are the pieces in which a reply is streamed; joined they are the text again.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}
