package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"pinch/agent/model"
)

const (
	firstLine = 4 << 10  // bytes of the buffer to begin with
	maxLine   = 1 << 20  // bytes of one chunk
	maxReply  = 1 << 20  // bytes of text and calls that are kept
	maxStream = 16 << 20 // bytes of a whole answer, thinking and envelopes included
	lastWords = time.Second
)

var (
	errBroken  = errors.New("the answer broke off")
	errForeign = errors.New("this is no answer of an Ollama server")
	errTooLong = errors.New("the answer is longer than any that was asked for")
	errLooping = errors.New("the server stopped a reply that went round in circles")
)

// chunk is one line of an answer. Counts are pointers, since a server that does not tell leaves them out.
type chunk struct {
	Message struct {
		Content   string     `json:"content"`
		ToolCalls []toolCall `json:"tool_calls"`
	} `json:"message"`
	Done       *bool           `json:"done"`
	DoneReason string          `json:"done_reason"`
	Error      string          `json:"error"`
	Status     json.RawMessage `json:"status"`
	api.Metrics
	PromptEvalCount       *int `json:"prompt_eval_count"`
	PromptEvalCachedCount *int `json:"prompt_eval_cached_count"`
	EvalCount             *int `json:"eval_count"`
}

// answer collects the chunks of one reply.
type answer struct {
	delta  func(model.Delta)
	text   strings.Builder
	calls  []model.ToolCall
	last   chunk
	done   bool
	size   int             // bytes of text and calls
	seen   int             // bytes of the stream
	known  map[string]bool // call ids in use
	number int             // of the last call id that was made up
}

const madeUp = "call_"

func newAnswer(messages []model.Message, delta func(model.Delta)) *answer {
	a := &answer{delta: delta, known: map[string]bool{}}
	for _, m := range messages {
		for _, c := range m.Calls {
			a.known[c.ID] = true
			if n, err := strconv.Atoi(strings.TrimPrefix(c.ID, madeUp)); err == nil && n < 1<<30 {
				a.number = max(a.number, n)
			}
		}
	}
	return a
}

// read takes the lines of an answer until the one that says done. Everything else is an error.
func (a *answer) read(r io.Reader, clock *call) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, firstLine), maxLine)
	for lines.Scan() {
		clock.hear()
		if err := a.add(lines.Bytes()); err != nil {
			return err
		}
		if a.done {
			clock.wait(lastWords)
			lines.Scan() // a connection whose answer was read to its end is used again
			return nil
		}
		clock.wait(clock.stall)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return errTooLong
	case err != nil:
		return fmt.Errorf("%w: %w", errBroken, err)
	case a.size > 0:
		return errLooping // a clean end without done is how the server breaks off endless repetition
	}
	return errBroken
}

// add takes one line.
func (a *answer) add(line []byte) error {
	if a.seen += len(line); a.seen > maxStream {
		return errTooLong
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	var c chunk
	if err := json.Unmarshal(line, &c); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	if c.Error != "" {
		status, _ := strconv.Atoi(string(c.Status))
		return failure{status: status, text: c.Error}
	}
	if c.Done == nil {
		return errForeign
	}
	if err := a.keep(c); err != nil {
		return err
	}
	if *c.Done {
		a.last, a.done = c, true
	}
	return nil
}

func (a *answer) keep(c chunk) error {
	a.size += len(c.Message.Content)
	for _, t := range c.Message.ToolCalls {
		a.size += len(t.Function.Name) + len(t.Function.Arguments)
		a.calls = append(a.calls, model.ToolCall{
			ID: a.id(t.ID), Name: t.Function.Name, Arguments: argumentsText(t.Function.Arguments),
		})
	}
	if a.size > maxReply {
		return errTooLong
	}
	a.text.WriteString(c.Message.Content)
	if a.delta != nil && c.Message.Content != "" {
		a.delta(model.Delta{Text: c.Message.Content})
	}
	return nil
}

// id keeps the server's id of a call, or makes one that nothing in the conversation has.
func (a *answer) id(given string) string {
	for given == "" || a.known[given] {
		a.number++
		given = madeUp + strconv.Itoa(a.number)
	}
	a.known[given] = true
	return given
}

// argumentsText is the object as the server wrote it; some servers put it into a string.
func argumentsText(raw json.RawMessage) string {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "{}"
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
}

func (a *answer) reply() model.Reply {
	stop := model.StopEnd
	if a.last.DoneReason == "length" {
		stop = model.StopLength
	}
	return model.Reply{Text: a.text.String(), Calls: a.calls, Stop: stop, Usage: model.Usage{
		Prompt:  count(a.last.PromptEvalCount),
		Cached:  count(a.last.PromptEvalCachedCount),
		Reply:   count(a.last.EvalCount),
		Load:    max(a.last.LoadDuration, 0),
		Prefill: max(a.last.PromptEvalDuration, 0),
		Decode:  max(a.last.EvalDuration, 0),
	}}
}

func count(n *int) int {
	if n == nil || *n < 0 {
		return -1
	}
	return *n
}
