package storage

import (
	"context"
	"database/sql"
	"fmt"

	"pinch/agent/session"
)

const pendingSQL = `SELECT id, turn, tries, body FROM inbox WHERE state = 0 AND agent = ? ORDER BY id`

// Inbox is the accepted messages that are not answered yet.
type Inbox struct{ scope }

// Pending returns them, oldest first.
func (i Inbox) Pending(ctx context.Context) ([]session.Pending, error) {
	scan := func(rows *sql.Rows, p *session.Pending) error {
		return rows.Scan(&p.ID, &p.Turn, &p.Tries, column{&p.Admitted})
	}
	all, err := query(ctx, i.db, scan, pendingSQL, i.agent)
	if err != nil {
		return nil, fmt.Errorf("reading waiting messages: %w", explain(i.db.dir, err))
	}
	return all, nil
}

// Retake counts one more attempt at a row that an earlier process left unanswered. Survives SIGKILL when it returns.
func (i Inbox) Retake(ctx context.Context, id int64) error {
	return i.db.light(ctx, "taking up a message again", func(tx *sql.Tx) error {
		return one(ctx, tx, fmt.Errorf("message %d is not waiting", id),
			`UPDATE inbox SET tries = tries + 1 WHERE id = ? AND agent = ? AND state = 0`, id, i.agent)
	})
}
