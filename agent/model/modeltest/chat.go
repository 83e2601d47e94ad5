package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"pinch/agent/model"
)

const (
	defaultContext = 4096
	nanosPrefill   = 1_000_000  // of a token that the cache does not hold
	nanosDecode    = 10_000_000 // of a token of the reply
	nanosLoad      = 1_000_000_000
	nanosLookup    = 10_000_000 // of finding out that the model is loaded
)

// failures says the model package's errors as Ollama does.
var failures = []struct {
	err    error
	status int
	text   string
}{
	{model.ErrUnavailable, 503, "server busy, please try again.  maximum pending requests exceeded"},
	{model.ErrNotFound, 404, "model 'qwen3:1.7b' not found"},
	{model.ErrOverflow, 400, "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"},
	{model.ErrBadOutput, 500, `error parsing tool call: raw='{"name": ', err=unexpected end of JSON input`},
	{model.ErrNoTools, 400, fullName("qwen3:1.7b") + " does not support tools"},
	{model.ErrRefused, 400, "invalid options"},
}

// chat plays POST /api/chat.
func (f *Ollama) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req := Request{Body: body}
	status, text := f.check(&req)
	var answer Answer
	if status == http.StatusOK && len(req.Chat.Messages) > 0 {
		if answer = f.choose(req); answer.Gate != nil {
			select {
			case <-answer.Gate:
			case <-r.Context().Done():
			}
		}
		answer = answer.filled()
		if answer.Error != "" && !answer.Late {
			status, text = answer.Status, answer.Error
		}
	}
	limit, reason := 0, "load"
	switch {
	case status == http.StatusOK && len(req.Chat.Messages) == 0 && req.Chat.unloads():
		f.unload()
		reason = "unload"
	case status == http.StatusOK:
		status, text, limit = f.evaluate(&req)
	}
	req.Status = status
	f.mu.Lock()
	number, hook := len(f.chats), f.onChunk
	f.chats = append(f.chats, req)
	f.mu.Unlock()
	switch {
	case status != http.StatusOK:
		refuse(w, status, text)
	case len(req.Chat.Messages) == 0:
		writeJSON(w, status, map[string]any{"model": req.Chat.Model, "created_at": stamp, "done": true,
			"message": map[string]any{"role": "assistant", "content": ""}, "done_reason": reason})
	default:
		f.stream(&stream{w: w, r: r, req: req, number: number, hook: hook}, answer, limit)
		if req.Chat.unloads() {
			f.unload()
		}
	}
}

// check refuses what a real server refuses before it runs a model.
func (f *Ollama) check(req *Request) (int, string) {
	switch err := json.NewDecoder(bytes.NewReader(req.Body)).Decode(&req.Chat); {
	case err == io.EOF:
		return 400, "missing request body"
	case err != nil:
		return 400, err.Error()
	}
	c := req.Chat
	m, ok := f.model(c.Model)
	switch {
	case c.Model == "":
		return 400, "model is required"
	case !ok:
		return 404, fmt.Sprintf("model '%s' not found", c.Model)
	case len(c.Tools) > 0 && !m.can("tools"):
		return 400, fullName(m.Name) + " does not support tools"
	case string(c.Think) == "true" && !m.can("thinking"):
		return 400, fmt.Sprintf("%q does not support thinking", c.Model)
	}
	for _, msg := range c.Messages {
		switch strings.ToLower(msg.Role) {
		case "system", "user", "assistant", "tool":
		default:
			return 400, fmt.Sprintf("invalid role: %q", msg.Role)
		}
	}
	var tools []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if len(c.Tools) > 0 && json.Unmarshal(c.Tools, &tools) != nil {
		return 400, "json: cannot unmarshal tools"
	}
	for _, call := range calls(c.Messages) {
		if a := call.Function.Arguments; len(a) == 0 || a[0] != '{' {
			return 400, "json: cannot unmarshal arguments of a tool call, which are no object"
		}
	}
	req.Thinking = m.can("thinking") && string(c.Think) != "false"
	return http.StatusOK, ""
}

func calls(messages []Message) []wireCall {
	var all []wireCall
	for _, m := range messages {
		all = append(all, m.ToolCalls...)
	}
	return all
}

// fullName is how a server names a model in some errors: with where it would be pulled from.
func fullName(name string) string { return "registry.ollama.ai/library/" + name }

func (m OllamaModel) can(what string) bool {
	for _, c := range m.Capabilities {
		if c == what {
			return true
		}
	}
	return false
}

func (f *Ollama) choose(req Request) Answer {
	f.mu.Lock()
	rules, script := f.rules, f.fallback
	f.mu.Unlock()
	for _, r := range rules {
		if r.pattern.MatchString(req.Chat.Last()) {
			return r.answer
		}
	}
	if script != nil {
		return script(req)
	}
	return Answer{Text: "ok"}
}

// filled turns Fail into a status and a text.
func (a Answer) filled() Answer {
	for _, k := range failures {
		if a.Fail != nil && errors.Is(a.Fail, k.err) {
			a.Status, a.Error = k.status, k.text
		}
	}
	return a
}

// evaluate loads the model where it must and runs the prompt through the cache. limit is the room for the reply.
func (f *Ollama) evaluate(req *Request) (status int, text string, limit int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := req.Chat
	m, _ := f.model(c.Model)
	asked := defaultContext
	if m.NumCtx > 0 {
		asked = m.NumCtx
	}
	if c.Options.NumCtx != nil {
		asked = *c.Options.NumCtx
	}
	shift := c.Shift == nil || *c.Shift
	if r := f.runner; r.model != m.Name || r.asked != asked || r.shift != shift {
		req.Loaded = true
		f.runner = runner{model: m.Name, asked: asked, window: min(asked, m.Trained), shift: shift}
	}
	prompt, messages := "", c.Messages
	window, cuts := f.runner.window, c.Truncate == nil || *c.Truncate
	if m.Cuts > 0 && m.Cuts < window {
		window, cuts = m.Cuts, true
	}
	for {
		prompt = render(c.Tools, messages) + "<assistant>"
		req.Prompt = tokens(prompt)
		if req.Prompt < window || !cuts {
			break
		}
		shorter := dropOldest(messages)
		if len(shorter) == len(messages) && m.Cuts == window {
			req.Prompt = window - 1
			break
		}
		if len(shorter) == len(messages) {
			return 400, "the prompt is longer than the context length currently available to the model; " +
				"shorten the prompt, adjust the context length in settings, or use a model with a longer context length", 0
		}
		req.Dropped, messages = req.Dropped+1, shorter
	}
	if req.Prompt >= window {
		return 400, fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it",
			req.Prompt, window), 0
	}
	if len(messages) == 0 {
		return http.StatusOK, "", 0
	}
	req.Cached = min(common(f.runner.slot, prompt), req.Prompt-1)
	f.runner.slot = prompt
	limit = window - req.Prompt
	if n := c.Options.NumPredict; n != nil && *n > 0 {
		limit = min(limit, *n)
	}
	return http.StatusOK, "", limit
}

// dropOldest leaves out the oldest message that is neither of the system nor the last.
func dropOldest(messages []Message) []Message {
	for i, m := range messages[:max(len(messages)-1, 0)] {
		if m.Role != "system" {
			return append(append([]Message(nil), messages[:i]...), messages[i+1:]...)
		}
	}
	return messages
}

func (c Chat) unloads() bool {
	s := strings.Trim(string(c.KeepAlive), `"`)
	return s == "0" || s == "0s"
}

func (f *Ollama) unload() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runner = runner{}
}

func itoa(n int) string { return strconv.Itoa(n) }
