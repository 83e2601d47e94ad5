package storage

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pinch/channels"
)

const sentSQL = `UPDATE outbox SET state = 1, platform = ?, part = '' WHERE id = ? AND agent = ? AND state = 0`

const dueSQL = `SELECT part, id, turn, tries, chat, topic, due FROM outbox WHERE id IN
		(SELECT min(id) FROM outbox WHERE state = 0 AND agent = ? AND channel = ? GROUP BY chat, topic) ORDER BY id`

// Outbox is the parts that are committed and not yet accepted by their channel.
type Outbox struct{ scope }

// head is the first waiting part of an address.
type head struct {
	part channels.Part
	due  time.Time
}

// Due returns the first unsent part of each address of a channel that may go now, oldest first, and when the next
// may. A zero next means that nothing waits for a time.
func (o Outbox) Due(ctx context.Context, channel string, now time.Time) (due []channels.Part, next time.Time, err error) {
	scan := func(rows *sql.Rows, h *head) error {
		h.part.Address.Channel = channel
		p := &h.part
		return rows.Scan(column{p}, &p.ID, &p.Turn, &p.Tries, &p.Address.Chat, &p.Address.Topic, stamp{&h.due})
	}
	heads, err := query(ctx, o.db, scan, dueSQL, o.agent, channel)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading waiting replies: %w", explain(o.db.dir, err))
	}
	for _, h := range heads {
		switch {
		case !h.due.After(now):
			due = append(due, h.part)
		case next.IsZero() || h.due.Before(next):
			next = h.due
		}
	}
	return due, next, nil
}

// Sent marks a part as accepted under the platform's id. Survives SIGKILL when it returns.
func (o Outbox) Sent(ctx context.Context, part int64, id string) error {
	return o.update(ctx, part, sentSQL, id)
}

// Defer puts a part off and counts the try; a zero time gives it up, so that the next part of its address may go.
func (o Outbox) Defer(ctx context.Context, part int64, until time.Time) error {
	if until.IsZero() {
		return o.update(ctx, part, `UPDATE outbox SET tries = tries + 1, state = ? WHERE id = ? AND agent = ? AND state = 0`, 2)
	}
	return o.update(ctx, part, `UPDATE outbox SET tries = tries + 1, due = ? WHERE id = ? AND agent = ? AND state = 0`, at(until))
}

func (o Outbox) update(ctx context.Context, part int64, text string, value any) error {
	return o.db.light(ctx, "marking a reply", func(tx *sql.Tx) error {
		return one(ctx, tx, fmt.Errorf("part %d is not waiting", part), text, value, part, o.agent)
	})
}
