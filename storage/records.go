package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pinch/agent/session"
)

const tieSQL = `UPDATE inbox SET turn = ? WHERE id = ? AND agent = ? AND state = 0`

const resultSQL = `UPDATE tool_records SET done = 1, result = ? WHERE turn = ? AND call = ? AND agent = ? AND done = 0`

const recordsSQL = `SELECT turn, call, name, arguments, done, result, at FROM tool_records
		WHERE turn = ? AND agent = ? ORDER BY id`

// Records is the durable log of calls that have an effect.
type Records struct{ scope }

// Before records the turn's entries so far, ties its inbox rows to the turn and records the intent, on the disk when
// it returns; only then may the tool run. An intent that was recorded before is an error.
func (r Records) Before(ctx context.Context, p session.Progress) error {
	return r.db.full(ctx, fmt.Sprintf("recording a call of turn %d", p.Turn), func(tx *sql.Tx) error {
		for _, id := range p.Inbox {
			if err := one(ctx, tx, fmt.Errorf("message %d is not waiting", id), tieSQL, p.Turn, id, r.agent); err != nil {
				return err
			}
		}
		i := p.Intent
		_, err := tx.ExecContext(ctx, `INSERT INTO tool_records (agent, turn, call, name, arguments, at)
			VALUES (?, ?, ?, ?, ?, ?)`, r.agent, p.Turn, i.Call, i.Name, i.Arguments, at(i.At))
		return errors.Join(err, r.record(ctx, tx, p.Key, p.Turn, p.Entries))
	})
}

// After records the result. It survives SIGKILL when it returns.
func (r Records) After(ctx context.Context, turn int64, call, result string) error {
	return r.db.light(ctx, fmt.Sprintf("recording a result of turn %d", turn), func(tx *sql.Tx) error {
		return one(ctx, tx, fmt.Errorf("call %q has no open intent", call),
			resultSQL, result, turn, call, r.agent)
	})
}

// Of returns the records of a turn in order.
func (r Records) Of(ctx context.Context, turn int64) ([]session.ToolRecord, error) {
	scan := func(rows *sql.Rows, v *session.ToolRecord) error {
		return rows.Scan(&v.Turn, &v.Call, &v.Name, &v.Arguments, &v.Done, &v.Result, stamp{&v.At})
	}
	all, err := query(ctx, r.db, scan, recordsSQL, turn, r.agent)
	if err != nil {
		return nil, fmt.Errorf("reading the calls of turn %d: %w", turn, explain(r.db.dir, err))
	}
	return all, nil
}
