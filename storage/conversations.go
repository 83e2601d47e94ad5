package storage

import (
	"context"
	"database/sql"
	"fmt"

	"pinch/agent/session"
)

// Conversations reads the conversation rows; Journal.Commit updates them.
type Conversations struct{ scope }

// Get returns a conversation; one that is not known has only its key.
func (c Conversations) Get(ctx context.Context, key session.Key) (session.Conversation, error) {
	all, err := c.query(ctx, `WHERE agent = ? AND key = ?`, c.agent, string(key))
	if err != nil || len(all) == 0 {
		return session.Conversation{Key: key}, err
	}
	return all[0], nil
}

// List returns the conversations, last used first.
func (c Conversations) List(ctx context.Context, limit int) ([]session.Conversation, error) {
	return c.query(ctx, `WHERE agent = ? ORDER BY updated DESC, key LIMIT ?`, c.agent, limit)
}

func (c Conversations) query(ctx context.Context, where string, args ...any) ([]session.Conversation, error) {
	scan := func(rows *sql.Rows, v *session.Conversation) error {
		return rows.Scan(&v.Key, column{&v.Address}, &v.Turns, column{&v.About}, stamp{&v.Updated})
	}
	all, err := query(ctx, c.db, scan, `SELECT key, address, turns, about, updated FROM conversations `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("reading conversations: %w", explain(c.db.dir, err))
	}
	return all, nil
}
