package storage_test

import (
	"context"
	"testing"
	"time"

	"pinch/channels"
	"pinch/storage"
)

// queue commits a turn with parts to these addresses, written "chat" or "chat/topic".
func queue(t *testing.T, rows storage.Rows, event string, addresses ...channels.Address) {
	t.Helper()
	id := accept(t, rows, event)[0].ID
	done := turn(id)
	done.Parts = nil
	for _, a := range addresses {
		done.Parts = append(done.Parts, channels.Part{Address: a, Text: event})
	}
	try(t, rows.Journal.Commit(context.Background(), done))
}

// due returns the ids of the parts that may go, and in how many seconds the next may.
func due(t *testing.T, rows storage.Rows, channel string, now time.Time) (ids []int64, next float64) {
	t.Helper()
	parts, at, err := rows.Outbox.Due(context.Background(), channel, now)
	try(t, err)
	for _, p := range parts {
		ids = append(ids, p.ID)
	}
	if at.IsZero() {
		return ids, 0
	}
	return ids, at.Sub(now).Seconds()
}

func TestOutboxKeepsOrderPerAddress(t *testing.T) {
	ctx := context.Background()
	rows := open(t, t.TempDir()).For("main")
	ann := channels.Address{Channel: "telegram", Chat: "1"}
	topic := channels.Address{Channel: "telegram", Chat: "1", Topic: "5"}
	other := channels.Address{Channel: "telegram/second", Chat: "1"}
	queue(t, rows, "a", ann, ann, topic) // parts 1, 2, 3
	queue(t, rows, "b", ann, other)      // 4, 5
	now := moment
	expect := func(what string, wantNext float64, want ...int64) {
		t.Helper()
		ids, next := due(t, rows, "telegram", now)
		equal(t, what, ids, want)
		equal(t, what+": next", next, wantNext)
	}
	expect("heads", 0, 1, 3)
	try(t, rows.Outbox.Defer(ctx, 1, now.Add(30*time.Second)))
	expect("a deferred head holds its address", 30, 3)
	try(t, rows.Outbox.Defer(ctx, 3, now.Add(10*time.Second)))
	expect("the earliest head is next", 10)
	now = now.Add(30 * time.Second)
	expect("both again", 0, 1, 3)
	parts, _, err := rows.Outbox.Due(ctx, "telegram", now)
	try(t, err)
	equal(t, "tries", parts[0].Tries, 1)
	try(t, rows.Outbox.Sent(ctx, 1, "m1"))
	expect("after a sent one", 0, 2, 3)
	try(t, rows.Outbox.Defer(ctx, 2, time.Time{}))
	expect("after a given up one", 0, 3, 4)
	try(t, rows.Outbox.Sent(ctx, 3, "m3"))
	try(t, rows.Outbox.Sent(ctx, 4, "m4"))
	expect("none left", 0)
	ids, _ := due(t, rows, "telegram/second", now)
	equal(t, "another account", ids, []int64{5})
}

func TestOutboxRemembersWhatWasSent(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rows := open(t, dir).For("main")
	queue(t, rows, "a", address, address)
	try(t, rows.Outbox.Sent(ctx, 1, "m1"))
	if err := rows.Outbox.Sent(ctx, 1, "m2"); err == nil {
		t.Error("a part was sent twice")
	}
	if err := rows.Outbox.Defer(ctx, 1, moment); err == nil {
		t.Error("a sent part was put off")
	}
	killed := copied(t, dir)
	ids, _ := due(t, open(t, killed).For("main"), "telegram", moment)
	equal(t, "waiting after the kill", ids, []int64{2})
	equal(t, "platform id", value(t, raw(t, killed), "SELECT platform FROM outbox WHERE id = 1"), "m1")
}
