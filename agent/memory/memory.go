// Package memory keeps what the owner asked to remember: notes, one bullet each in MEMORY.md, and a search over them.
package memory

import (
	"context"

	"pinch/agent/session"
)

// Past is the search index over everything that was said. Terms are made by this package.
type Past interface {
	// Unindexed returns the oldest entries that the index does not hold, without system texts.
	Unindexed(ctx context.Context, limit int) ([]session.Entry, error)
	// Index adds the terms of entries, separated by spaces, in the order of Unindexed.
	Index(ctx context.Context, entries []session.Entry, terms []string) error
	// Said returns what an audience may be told that holds any of the terms, best first.
	Said(ctx context.Context, audience session.Audience, terms []string, limit int) ([]session.Passage, error)
}

// Notes is the search index over MEMORY.md. Terms are made by this package; the store only matches them.
type Notes interface {
	// Sync makes the index hold exactly these notes, each with its search terms separated by spaces.
	// mark identifies the state of the file.
	Sync(ctx context.Context, mark string, notes []session.Note, terms []string) error
	// Mark returns the mark of the last Sync.
	Mark(ctx context.Context) (string, error)
	// Search returns the notes that hold any of the terms, best first.
	Search(ctx context.Context, terms []string, limit int) ([]session.Note, error)
}
