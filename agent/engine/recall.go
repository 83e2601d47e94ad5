package engine

import (
	"context"
	"fmt"
	"sync"

	"pinch/agent/session"
	"pinch/budget"
)

// Ingester is an optional upgrade of an Engine: it is shown each new message before it becomes an entry.
type Ingester interface {
	// Ingest returns quotes that the message should be read with, best first. They become part of the message and
	// stay where they are, so nothing that was sent changes.
	Ingest(ctx context.Context, ask Ask, audience session.Audience, text string) ([]string, error)
}

// Past finds what was said before. *memory.Memory is one.
type Past interface {
	// Passages returns what an audience may be told about a question, best first.
	Passages(ctx context.Context, audience session.Audience, query string, limit int) ([]session.Passage, error)
	// Quote is a passage in one line.
	Quote(p session.Passage, query string) string
}

// Recall is the engine that reads each message with the best of what was said before and does not stand in the prompt
// any more: at most a tenth of the window a message, a quarter an epoch.
type Recall struct {
	*Window
	past Past

	mu     sync.Mutex
	quoted map[session.Key]quoted
}

// quoted is what an epoch's messages were given.
type quoted struct {
	epoch   int64
	tokens  int
	entries map[int64]bool
}

// NewRecall returns a recall engine: a window, and a search over the past.
func NewRecall(w *Window, past Past) *Recall {
	return &Recall{Window: w, past: past, quoted: map[session.Key]quoted{}}
}

// Ingest finds the quotes for a message.
func (r *Recall) Ingest(ctx context.Context, ask Ask, audience session.Audience, text string) ([]string, error) {
	const candidates = 24
	epoch, _, err := r.Log.Tail(ctx, ask.Key)
	if err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	found, err := r.past.Passages(ctx, audience, text, candidates)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.quoted[ask.Key]
	if q.epoch != epoch.ID || q.entries == nil {
		q = quoted{epoch: epoch.ID, entries: map[int64]bool{}}
	}
	room := min(ask.Plan.Window/10, ask.Plan.Window/4-q.tokens)
	var lines []string
	for _, p := range found {
		if q.entries[p.Entry.ID] || p.Key == ask.Key && p.Entry.ID >= epoch.First {
			continue // it stands in the prompt
		}
		line := r.past.Quote(p, text)
		n := budget.Tokens(line) + 4
		if n > room {
			continue
		}
		room -= n
		q.tokens += n
		q.entries[p.Entry.ID] = true
		lines = append(lines, line)
	}
	if len(r.quoted) > 256 { // forgetting only means that something is quoted twice
		clear(r.quoted)
	}
	r.quoted[ask.Key] = q
	return lines, nil
}
