package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"

	"pinch/agent/model"
)

const stamp = "2026-08-01T10:00:00.123456789Z"

// stream writes the lines of one reply.
type stream struct {
	w      http.ResponseWriter
	r      *http.Request
	req    Request
	number int
	hook   func(request, chunk int)
	lines  int
}

func (s *stream) line(v map[string]any) {
	if s.hook != nil {
		s.hook(s.number, s.lines)
	}
	s.lines++
	if s.r.Context().Err() != nil {
		return
	}
	json.NewEncoder(s.w).Encode(v)
	s.w.(http.Flusher).Flush()
}

func (s *stream) message(m map[string]any) {
	m["role"] = "assistant"
	if m["content"] == nil {
		m["content"] = ""
	}
	s.line(map[string]any{"model": s.req.Chat.Model, "created_at": stamp, "message": m, "done": false})
}

// stream sends an answer: thinking, text, calls in a chunk of their own, then done with the counts.
func (f *Ollama) stream(s *stream, a Answer, limit int) {
	s.w.Header().Set("Content-Type", "application/x-ndjson")
	s.w.WriteHeader(http.StatusOK)
	if s.req.Thinking {
		if a.Thinking == "" {
			a.Thinking = "Let me think about this."
		}
		for _, w := range words(a.Thinking) {
			s.message(map[string]any{"thinking": w})
		}
	}
	reason := "stop"
	if tokens(a.Text) > limit {
		a.Text, a.Calls, reason = strings.ToValidUTF8(a.Text[:limit*4], ""), nil, "length"
	}
	for _, w := range words(a.Text) {
		s.message(map[string]any{"content": w})
	}
	if a.Error != "" {
		s.line(map[string]any{"error": a.Error})
		return
	}
	if len(a.Calls) > 0 {
		s.message(map[string]any{"tool_calls": wireCalls(a.Calls)})
	}
	reply := tokens(renderAnswer(a))
	f.mu.Lock()
	f.runner.slot += renderAnswer(a)
	f.mu.Unlock()
	done := map[string]any{"model": s.req.Chat.Model, "created_at": stamp, "done": true, "done_reason": reason,
		"message":           map[string]any{"role": "assistant", "content": ""},
		"prompt_eval_count": s.req.Prompt, "prompt_eval_cached_count": s.req.Cached,
		"prompt_eval_duration": (s.req.Prompt - s.req.Cached) * nanosPrefill,
		"eval_count":           reply, "eval_duration": reply * nanosDecode,
	}
	load := nanosLookup
	if s.req.Loaded {
		load = nanosLoad
	}
	done["load_duration"] = load
	done["total_duration"] = load + (s.req.Prompt-s.req.Cached)*nanosPrefill + reply*nanosDecode
	s.line(done)
}

func wireCalls(calls []model.ToolCall) []wireCall {
	out := make([]wireCall, len(calls))
	for i, c := range calls {
		out[i].ID = c.ID
		out[i].Function.Index = i
		out[i].Function.Name = c.Name
		out[i].Function.Arguments = json.RawMessage(c.Arguments)
	}
	return out
}
