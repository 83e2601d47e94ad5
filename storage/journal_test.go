package storage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/channels"
	"pinch/storage"
)

const key = session.Key("agent:main:main")

var (
	moment  = time.UnixMilli(1700000000123)
	address = channels.Address{Channel: "telegram", Chat: "7"}
)

func said(role model.Role, text string) session.Entry {
	return session.Entry{Message: model.Message{Role: role, Text: text}, Tokens: 12, At: moment}
}

// turn is a short turn that answers one inbox row.
func turn(id int64) session.Turn {
	about := channels.About{Model: "qwen", Prompt: 700, Cached: 640, Reply: 20, Rounds: 1}
	return session.Turn{
		ID: id, Key: key, Inbox: []int64{id}, Address: address, About: about, At: moment,
		Entries: []session.Entry{said(model.User, "[10:00 Ann] how warm is it?"), said(model.Assistant, "It is 21 degrees in here.")},
		Costs:   []session.Cost{{Model: "qwen", Cause: "chat", Usage: model.Usage{Prompt: 700, Cached: -1, Reply: 20, Prefill: time.Second}}},
		Parts:   []channels.Part{{Address: address, Text: "It is 21 degrees in here.", Last: true, Answers: []string{"5"}, About: &about}},
	}
}

func TestAcceptTakesAnEventOnce(t *testing.T) {
	ctx := context.Background()
	db := open(t, t.TempDir())
	rows := db.For("main")
	first := accept(t, rows, "1", "2")
	equal(t, "accepted", first, []session.Pending{{ID: 1, Admitted: admitted("1")}, {ID: 2, Admitted: admitted("2")}})
	// Also within one batch, and for another agent.
	again := accept(t, rows, "2", "3", "3", "1")
	equal(t, "accepted again", again, []session.Pending{{ID: 3, Admitted: admitted("3")}})
	equal(t, "accepted by another agent", len(accept(t, db.For("other"), "1")), 0)
	other := admitted("1")
	other.Inbound.Channel = "telegram/second"
	equal(t, "same id on another channel", len(must(rows.Journal.Accept(ctx, []channels.Admitted{other}))(t)), 1)
	equal(t, "waiting", must(rows.Inbox.Pending(ctx))(t)[:3], append(first, again...))
}

func TestAcceptOfNothingWritesNothing(t *testing.T) {
	db := open(t, t.TempDir())
	rows := db.For("main")
	accept(t, rows, "1")
	before := written(t)
	ignored := admitted("2")
	ignored.Decision.Verdict = channels.Ignore
	for _, batch := range [][]channels.Admitted{nil, {admitted("1")}, {ignored}} {
		equal(t, "fresh rows", len(must(rows.Journal.Accept(context.Background(), batch))(t)), 0)
	}
	if n := written(t) - before; n >= 1024 {
		t.Errorf("%d bytes were written", n)
	}
}

func TestCommitIsOneStep(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	rows := db.For("main")
	accept(t, rows, "1", "2")
	done := turn(1)
	done.Inbox = []int64{1, 2}
	try(t, rows.Journal.Commit(ctx, done))

	after := open(t, copied(t, dir)).For("main")
	equal(t, "waiting", len(must(after.Inbox.Pending(ctx))(t)), 0)
	_, entries, err := after.Log.Tail(ctx, key)
	try(t, err)
	want := done.Entries
	for i := range want {
		want[i].ID, want[i].Turn = int64(i+1), 1
	}
	equal(t, "entries", entries, want)
	parts, _, err := after.Outbox.Due(ctx, "telegram", moment)
	try(t, err)
	part := done.Parts[0]
	part.ID, part.Turn = 1, 1
	equal(t, "parts", parts, []channels.Part{part})
	equal(t, "conversation", must(after.Conversations.Get(ctx, key))(t),
		session.Conversation{Key: key, Address: address, Turns: 1, About: done.About, Updated: moment})
	equal(t, "usage", value(t, raw(t, dir), `SELECT group_concat(agent||turn||model||cause||prompt||cached||reply||prefill) FROM usage`),
		"main1qwenchat700-1201000")
	equal(t, "text kept in answered rows", value(t, raw(t, dir), `SELECT group_concat(body, '') FROM inbox`), "")
}

func TestCommitTwiceChangesNothing(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rows := open(t, dir).For("main")
	accept(t, rows, "1", "2")
	try(t, rows.Journal.Commit(ctx, turn(1)))
	both := turn(2)
	both.Inbox = []int64{2, 1} // the second row is answered: the first must stay waiting
	for _, again := range []session.Turn{turn(1), both} {
		if err := rows.Journal.Commit(ctx, again); !errors.Is(err, storage.ErrAnswered) {
			t.Fatalf("commit again: %v", err)
		}
	}
	pool := raw(t, dir)
	for table, want := range map[string]string{"entries": "2", "usage": "1", "outbox": "1", "conversations": "1"} {
		equal(t, table, value(t, pool, "SELECT count(*) FROM "+table), want)
	}
	equal(t, "waiting", must(rows.Inbox.Pending(ctx))(t)[0].ID, int64(2))
	contains(t, rows.Journal.Commit(ctx, session.Turn{ID: 9, Key: key}), "turn 9", "no inbox row")
}

func TestFailedTurnIsAnswered(t *testing.T) {
	ctx := context.Background()
	rows := open(t, t.TempDir()).For("main")
	accept(t, rows, "1", "2")
	failed := turn(1)
	failed.Error = "no model"
	try(t, rows.Journal.Commit(ctx, failed))
	equal(t, "waiting", len(must(rows.Inbox.Pending(ctx))(t)), 1)
	try(t, rows.Journal.Commit(ctx, turn(2)))
	equal(t, "turns", must(rows.Conversations.Get(ctx, key))(t).Turns, 2)
}

func TestWritingAgainReopensAnAddress(t *testing.T) {
	ctx := context.Background()
	rows := open(t, t.TempDir()).For("main")
	accept(t, rows, "1")
	try(t, rows.Journal.Commit(ctx, turn(1)))
	due, _, err := rows.Outbox.Due(ctx, address.Channel, time.Now())
	if err != nil || len(due) != 1 {
		t.Fatalf("due: %v %v", due, err)
	}
	try(t, rows.Outbox.Defer(ctx, due[0].ID, channels.UntilHeard))
	due, _, _ = rows.Outbox.Due(ctx, address.Channel, time.Now().Add(240*time.Hour))
	equal(t, "due while nobody writes", len(due), 0)
	accept(t, rows, "2")
	due, _, _ = rows.Outbox.Due(ctx, address.Channel, time.Now())
	equal(t, "due after the person wrote", len(due), 1)
}

func TestOwnHandChangesTheSourceOfTheEpoch(t *testing.T) {
	ctx := context.Background()
	rows := open(t, t.TempDir()).For("main")
	accept(t, rows, "1")
	must(rows.Log.NewEpoch(ctx, session.Epoch{Key: key, Source: "before"}))(t)
	own := turn(1)
	own.Source = "after"
	try(t, rows.Journal.Commit(ctx, own))
	epoch, _, err := rows.Log.Tail(ctx, key)
	try(t, err)
	equal(t, "source", epoch.Source, "after")
}

func TestRecordsOfATurn(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rows := open(t, dir).For("main")
	accept(t, rows, "1", "2")
	intent := session.ToolRecord{Turn: 1, Call: "b", Name: "write", Arguments: `{"path":"a"}`, At: moment}
	progress := session.Progress{Turn: 1, Key: key, Inbox: []int64{1, 2}, Entries: []session.Entry{said(model.User, "write it")}, Intent: intent}
	try(t, rows.Records.Before(ctx, progress))

	killed := open(t, copied(t, dir)).For("main")
	equal(t, "records", must(killed.Records.Of(ctx, 1))(t), []session.ToolRecord{intent})
	for _, p := range must(killed.Inbox.Pending(ctx))(t) {
		equal(t, "turn of a waiting row", p.Turn, int64(1))
	}
	_, entries, err := killed.Log.Tail(ctx, key)
	try(t, err)
	equal(t, "entries", len(entries), 1)

	// The same intent again is refused whole: its tool may have run.
	if err := rows.Records.Before(ctx, progress); err == nil {
		t.Error("an intent was recorded twice")
	}
	try(t, rows.Records.After(ctx, 1, "b", "wrote 3 bytes"))
	if err := rows.Records.After(ctx, 1, "b", "other"); err == nil {
		t.Error("a result was replaced")
	}
	second := session.ToolRecord{Turn: 1, Call: "a", Name: "edit", Arguments: "{}", At: moment}
	try(t, rows.Records.Before(ctx, session.Progress{Turn: 1, Key: key, Intent: second}))
	intent.Done, intent.Result = true, "wrote 3 bytes"
	equal(t, "records in order", must(rows.Records.Of(ctx, 1))(t), []session.ToolRecord{intent, second})

	try(t, rows.Journal.Commit(ctx, turn(1)))
	_, entries, err = rows.Log.Tail(ctx, key)
	try(t, err)
	equal(t, "entries in all", len(entries), 3)
}

func TestAgentsDoNotMix(t *testing.T) {
	ctx := context.Background()
	db := open(t, t.TempDir())
	a, b := db.For("a"), db.For("b")
	accept(t, a, "1")
	equal(t, "b's inbox", len(must(b.Inbox.Pending(ctx))(t)), 0)
	if err := b.Inbox.Retake(ctx, 1); err == nil {
		t.Error("b took a's message")
	}
	if err := b.Journal.Commit(ctx, turn(1)); !errors.Is(err, storage.ErrAnswered) {
		t.Errorf("b answered a's message: %v", err)
	}
	try(t, a.Journal.Commit(ctx, turn(1)))
	due, _, err := b.Outbox.Due(ctx, "telegram", moment)
	try(t, err)
	equal(t, "b's outbox", len(due), 0)
	_, entries, err := b.Log.Tail(ctx, key)
	try(t, err)
	equal(t, "b's entries", len(entries), 0)
	equal(t, "b's conversations", len(must(b.Conversations.List(ctx, 9))(t)), 0)
	try(t, a.Settings.Set(ctx, "think", "on"))
	try(t, a.Settings.Set(ctx, "think", "off"))
	equal(t, "a's setting", must(a.Settings.Get(ctx, "think"))(t), "off")
	equal(t, "b's setting", must(b.Settings.Get(ctx, "think"))(t), "")
}
