package storage

import (
	"context"
	"database/sql"
	"fmt"

	"pinch/agent/session"
)

const (
	unindexedSQL = `SELECT id, key, turn, message, tokens, at FROM entries
		WHERE id > coalesce((SELECT entry FROM past_mark WHERE agent = ?), 0) AND agent = ? ORDER BY id LIMIT ?`
	saidSQL = `SELECT e.id, e.key, e.turn, e.message, e.tokens, e.at, -bm25(past) FROM past
		JOIN entries e ON e.id = past.rowid JOIN conversations c ON c.key = e.key
		WHERE past MATCH ? AND e.agent = ? AND c.audience = ? ORDER BY bm25(past), e.id DESC LIMIT ?`
)

// Past is the search index over everything that was said.
type Past struct{ scope }

// Unindexed returns the oldest entries that the index does not hold.
func (p Past) Unindexed(ctx context.Context, limit int) ([]session.Entry, error) {
	scan := func(rows *sql.Rows, e *session.Entry) error {
		var key string
		return rows.Scan(&e.ID, &key, &e.Turn, column{&e.Message}, &e.Tokens, stamp{&e.At})
	}
	entries, err := query(ctx, p.db, scan, unindexedSQL, p.agent, p.agent, limit)
	if err != nil {
		return nil, fmt.Errorf("reading what is not indexed: %w", explain(p.db.dir, err))
	}
	return entries, nil
}

// Index adds the terms of entries, separated by spaces. It is light: what a power cut takes is indexed again.
func (p Past) Index(ctx context.Context, entries []session.Entry, terms []string) error {
	if len(entries) != len(terms) {
		return fmt.Errorf("indexing: %d entries and %d terms", len(entries), len(terms))
	}
	if len(entries) == 0 {
		return nil
	}
	return p.db.light(ctx, "indexing what was said", func(tx *sql.Tx) error {
		for i, e := range entries {
			if terms[i] == "" {
				continue
			}
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO past (rowid, terms) VALUES (?, ?)`, e.ID, terms[i]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO past_mark (agent, entry) VALUES (?, ?)
			ON CONFLICT (agent) DO UPDATE SET entry = excluded.entry`, p.agent, entries[len(entries)-1].ID)
		return err
	})
}

// Said returns what an audience may be told that holds any of the terms, best first.
func (p Past) Said(ctx context.Context, audience session.Audience, terms []string, limit int) ([]session.Passage, error) {
	match := anyOf(terms)
	if match == "" {
		return nil, nil
	}
	scan := func(rows *sql.Rows, s *session.Passage) error {
		e := &s.Entry
		return rows.Scan(&e.ID, &s.Key, &e.Turn, column{&e.Message}, &e.Tokens, stamp{&e.At}, &s.Score)
	}
	found, err := query(ctx, p.db, scan, saidSQL, match, p.agent, string(audience), limit)
	if err != nil {
		return nil, fmt.Errorf("searching what was said: %w", explain(p.db.dir, err))
	}
	return found, nil
}
