package storage

import (
	"context"
	"database/sql"
	"fmt"

	"pinch/agent/session"
)

const (
	epochSQL = `SELECT id, key, head, tools, summary, first, stub, hash, source, reason, began
		FROM epochs WHERE key = ? AND agent = ? ORDER BY id DESC LIMIT 1`
	entriesSQL = `SELECT id, turn, message, tokens, at
		FROM entries WHERE key = ? AND agent = ? AND id >= ? ORDER BY id`
)

// Log is the stored tail of conversations.
type Log struct{ scope }

// Tail returns the current epoch of a conversation and its entries in order. Without an epoch, the zero one, these
// are all entries.
func (l Log) Tail(ctx context.Context, key session.Key) (session.Epoch, []session.Entry, error) {
	epochs, err := query(ctx, l.db, func(rows *sql.Rows, e *session.Epoch) error {
		return rows.Scan(&e.ID, &e.Key, &e.Head, &e.Tools, &e.Summary, &e.First, &e.Stub, &e.Hash, &e.Source, &e.Reason, stamp{&e.Began})
	}, epochSQL, string(key), l.agent)
	if err != nil {
		return session.Epoch{}, nil, fmt.Errorf("reading the epoch: %w", explain(l.db.dir, err))
	}
	var epoch session.Epoch
	if len(epochs) > 0 {
		epoch = epochs[0]
	}
	entries, err := query(ctx, l.db, scanEntry, entriesSQL, string(key), l.agent, epoch.First)
	if err != nil {
		return session.Epoch{}, nil, fmt.Errorf("reading the conversation: %w", explain(l.db.dir, err))
	}
	return epoch, entries, nil
}

func scanEntry(rows *sql.Rows, e *session.Entry) error {
	return rows.Scan(&e.ID, &e.Turn, column{&e.Message}, &e.Tokens, stamp{&e.At})
}

// NewEpoch stores an epoch as the conversation's current one and returns it with its id. Survives SIGKILL.
func (l Log) NewEpoch(ctx context.Context, epoch session.Epoch) (session.Epoch, error) {
	err := l.db.light(ctx, "storing an epoch", func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO epochs (agent, key, head, tools, summary, first, stub, hash, source, reason, began)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, l.agent, string(epoch.Key), epoch.Head, epoch.Tools,
			epoch.Summary, epoch.First, epoch.Stub, epoch.Hash, epoch.Source, epoch.Reason, at(epoch.Began))
		if err != nil {
			return err
		}
		epoch.ID, err = result.LastInsertId()
		return err
	})
	return epoch, err
}

// record appends entries to a conversation.
func (s scope) record(ctx context.Context, tx *sql.Tx, key session.Key, turn int64, entries []session.Entry) error {
	for _, e := range entries {
		_, err := tx.ExecContext(ctx, `INSERT INTO entries (agent, key, turn, message, tokens, at)
			VALUES (?, ?, ?, ?, ?, ?)`, s.agent, string(key), turn, column{e.Message}, e.Tokens, at(e.At))
		if err != nil {
			return err
		}
	}
	return nil
}
