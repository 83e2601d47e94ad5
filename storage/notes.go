package storage

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"pinch/agent/session"
)

// Notes is the search index over MEMORY.md.
type Notes struct{ scope }

type noteRow struct {
	line        int
	text, terms string
}

// Sync makes the index hold exactly these notes, each with its search terms separated by spaces; mark identifies the
// state of the file. What is the same up to the first difference is not written again, so that an added note is cheap.
func (n Notes) Sync(ctx context.Context, mark string, notes []session.Note, terms []string) error {
	if len(notes) != len(terms) {
		return fmt.Errorf("indexing notes: %d notes and %d terms", len(notes), len(terms))
	}
	have, err := n.have(ctx)
	if err != nil {
		return fmt.Errorf("indexing notes: %w", explain(n.db.dir, err))
	}
	same := 0
	for same < len(notes) && same < len(have) && have[same] == (noteRow{notes[same].Line, notes[same].Text, terms[same]}) {
		same++
	}
	return n.db.full(ctx, "indexing notes", func(tx *sql.Tx) error {
		if same < len(have) {
			if err := n.dropFrom(ctx, tx, have[same].line); err != nil {
				return err
			}
		}
		for i := same; i < len(notes); i++ {
			if err := n.add(ctx, tx, notes[i], terms[i]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO notes_mark (agent, mark) VALUES (?, ?)
			ON CONFLICT (agent) DO UPDATE SET mark = excluded.mark`, n.agent, mark)
		return err
	})
}

func (n Notes) have(ctx context.Context) ([]noteRow, error) {
	scan := func(rows *sql.Rows, r *noteRow) error { return rows.Scan(&r.line, &r.text, &r.terms) }
	return query(ctx, n.db, scan, `SELECT line, text, terms FROM notes WHERE agent = ? ORDER BY line`, n.agent)
}

func (n Notes) dropFrom(ctx context.Context, tx *sql.Tx, line int) error {
	// The index goes first: it reads the terms that it must forget from the notes.
	for _, text := range []string{
		`DELETE FROM notes_fts WHERE rowid IN (SELECT id FROM notes WHERE agent = ? AND line >= ?)`,
		`DELETE FROM notes WHERE agent = ? AND line >= ?`,
	} {
		if _, err := tx.ExecContext(ctx, text, n.agent, line); err != nil {
			return err
		}
	}
	return nil
}

func (n Notes) add(ctx context.Context, tx *sql.Tx, note session.Note, terms string) error {
	result, err := tx.ExecContext(ctx, `INSERT INTO notes (agent, line, text, terms) VALUES (?, ?, ?, ?)`,
		n.agent, note.Line, note.Text, terms)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO notes_fts (rowid, terms) VALUES (?, ?)`, id, terms)
	return err
}

// Mark returns the mark of the last Sync, "" before the first.
func (n Notes) Mark(ctx context.Context) (string, error) {
	scan := func(rows *sql.Rows, mark *string) error { return rows.Scan(mark) }
	marks, err := query(ctx, n.db, scan, `SELECT mark FROM notes_mark WHERE agent = ?`, n.agent)
	if err != nil {
		return "", fmt.Errorf("reading the notes' mark: %w", explain(n.db.dir, err))
	}
	return strings.Join(marks, ""), nil // one at most
}

// Search returns the notes that hold any of the terms, best first.
func (n Notes) Search(ctx context.Context, terms []string, limit int) ([]session.Note, error) {
	match := anyOf(terms)
	if match == "" {
		return nil, nil
	}
	scan := func(rows *sql.Rows, note *session.Note) error { return rows.Scan(&note.Line, &note.Text) }
	notes, err := query(ctx, n.db, scan, `SELECT notes.line, notes.text FROM notes_fts JOIN notes ON notes.id = notes_fts.rowid
		WHERE notes_fts MATCH ? AND notes.agent = ? ORDER BY bm25(notes_fts), notes.line LIMIT ?`, match, n.agent, limit)
	if err != nil {
		return nil, fmt.Errorf("searching notes: %w", explain(n.db.dir, err))
	}
	return notes, nil
}

// anyOf writes terms as an FTS5 expression. Quoted, a term has no syntax of its own; a zero byte would end the
// expression early.
func anyOf(terms []string) string {
	var quoted []string
	for _, t := range terms {
		if t = strings.ReplaceAll(t, "\x00", ""); t != "" {
			quoted = append(quoted, `"`+strings.ReplaceAll(t, `"`, `""`)+`"`)
		}
	}
	return strings.Join(quoted, " OR ")
}
