package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pinch/agent/session"
	"pinch/channels"
)

// ErrAnswered says that a turn was committed before; nothing was changed.
var ErrAnswered = errors.New("the turn was committed before")

const answerSQL = `UPDATE inbox SET state = ?, turn = ?, body = '' WHERE id = ? AND agent = ? AND state = 0`

const heardSQL = `UPDATE outbox SET due = 0 WHERE state = 0 AND agent = ? AND channel = ? AND due = ? AND chat = ? AND topic = ?`

const ownSQL = `UPDATE epochs SET source = ? WHERE id = (SELECT max(id) FROM epochs WHERE key = ? AND agent = ?)`

// Journal is the two full commits of a turn.
type Journal struct{ scope }

// Accept makes a batch durable and returns the rows that are new and admitted, in order. A batch without such rows
// writes nothing.
func (j Journal) Accept(ctx context.Context, batch []channels.Admitted) ([]session.Pending, error) {
	var fresh []session.Pending
	err := j.db.full(ctx, "accepting messages", func(tx *sql.Tx) error {
		fresh = nil
		for _, a := range batch {
			if a.Decision.Verdict != channels.Admit {
				continue
			}
			result, err := tx.ExecContext(ctx, `INSERT INTO inbox (agent, channel, event, body, at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (channel, event) DO NOTHING`, j.agent, a.Inbound.Channel, a.Inbound.Event, column{a}, at(time.Now()))
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			if n == 0 {
				continue // accepted before
			}
			id, err := result.LastInsertId()
			if err != nil {
				return err
			}
			fresh = append(fresh, session.Pending{ID: id, Admitted: a})
			if err := j.heard(ctx, tx, a.Inbound.Address()); err != nil {
				return err
			}
		}
		if len(fresh) == 0 {
			return errNothing
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fresh, nil
}

// heard releases the parts that waited until the person at an address writes again.
func (j Journal) heard(ctx context.Context, tx *sql.Tx, a channels.Address) error {
	_, err := tx.ExecContext(ctx, heardSQL, j.agent, a.Channel, at(channels.UntilHeard), a.Chat, a.Topic)
	return err
}

// Commit records a turn, marks its inbox rows answered and queues its parts. It returns ErrAnswered, and changes
// nothing, when one of the rows is not waiting.
func (j Journal) Commit(ctx context.Context, turn session.Turn) error {
	if len(turn.Inbox) == 0 {
		return fmt.Errorf("committing turn %d: it answers no inbox row", turn.ID)
	}
	return j.db.full(ctx, fmt.Sprintf("committing turn %d", turn.ID), func(tx *sql.Tx) error {
		steps := []func(context.Context, *sql.Tx, session.Turn) error{j.answer, j.say, j.spend, j.queue, j.touch, j.own}
		for _, step := range steps {
			if err := step(ctx, tx, turn); err != nil {
				return err
			}
		}
		return nil
	})
}

func (j Journal) answer(ctx context.Context, tx *sql.Tx, turn session.Turn) error {
	state := 1
	if turn.Error != "" {
		state = 2
	}
	for _, id := range turn.Inbox {
		if err := one(ctx, tx, ErrAnswered, answerSQL, state, turn.ID, id, j.agent); err != nil {
			return err
		}
	}
	return nil
}

func (j Journal) say(ctx context.Context, tx *sql.Tx, turn session.Turn) error {
	return j.record(ctx, tx, turn.Key, turn.ID, turn.Entries)
}

func (j Journal) spend(ctx context.Context, tx *sql.Tx, turn session.Turn) error {
	return j.add(ctx, tx, turn.ID, turn.Costs, turn.At)
}

// Spend records what was asked of a model outside of turns.
func (j Journal) Spend(ctx context.Context, costs []session.Cost, now time.Time) error {
	return j.db.light(ctx, "recording usage", func(tx *sql.Tx) error { return j.add(ctx, tx, 0, costs, now) })
}

func (j Journal) add(ctx context.Context, tx *sql.Tx, turn int64, costs []session.Cost, now time.Time) error {
	for _, c := range costs {
		u := c.Usage
		_, err := tx.ExecContext(ctx, `INSERT INTO usage (agent, turn, model, cause, prompt, cached, reply, prefill, decode, at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, j.agent, turn, c.Model, c.Cause, u.Prompt, u.Cached, u.Reply,
			u.Prefill.Milliseconds(), u.Decode.Milliseconds(), at(now))
		if err != nil {
			return err
		}
	}
	return nil
}

func (j Journal) queue(ctx context.Context, tx *sql.Tx, turn session.Turn) error {
	for _, p := range turn.Parts {
		_, err := tx.ExecContext(ctx, `INSERT INTO outbox (agent, turn, channel, chat, topic, part, due)
			VALUES (?, ?, ?, ?, ?, ?, 0)`, j.agent, turn.ID, p.Address.Channel, p.Address.Chat, p.Address.Topic, column{p})
		if err != nil {
			return err
		}
	}
	return nil
}

func (j Journal) touch(ctx context.Context, tx *sql.Tx, turn session.Turn) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO conversations (key, agent, audience, address, turns, about, updated)
		VALUES (?, ?, ?, ?, 1, ?, ?)
		ON CONFLICT (key) DO UPDATE SET audience = excluded.audience, address = excluded.address, turns = turns + 1,
		about = excluded.about, updated = excluded.updated`,
		string(turn.Key), j.agent, string(turn.Audience), column{turn.Address}, column{turn.About}, at(turn.At))
	return err
}

// own tells the current epoch that the turn itself changed what its head was made of.
func (j Journal) own(ctx context.Context, tx *sql.Tx, turn session.Turn) error {
	if turn.Source == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, ownSQL, turn.Source, string(turn.Key), j.agent)
	return err
}
