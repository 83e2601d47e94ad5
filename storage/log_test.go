package storage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pinch/agent/model"
	"pinch/agent/session"
)

func TestTailBeginsAtTheEpoch(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rows := open(t, dir).For("main")
	epoch, entries, err := rows.Log.Tail(ctx, key)
	try(t, err)
	equal(t, "unknown conversation", [2]any{epoch, len(entries)}, [2]any{session.Epoch{}, 0})

	call := model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "1", Name: "use", Arguments: "{ \"a\":\t1, \"b\": \"<é门>\" }"}}}
	for i, key := range []session.Key{key, "agent:main:x", key} {
		id := accept(t, rows, fmt.Sprint(i))[0].ID
		done := turn(id)
		done.Key = key
		done.Entries = []session.Entry{{Message: call, At: moment}}
		try(t, rows.Journal.Commit(ctx, done))
	}
	epoch, entries, err = rows.Log.Tail(ctx, key)
	try(t, err)
	equal(t, "no epoch yet", [2]any{epoch, len(entries)}, [2]any{session.Epoch{}, 2})
	equal(t, "message", entries[0].Message, call)

	old := session.Epoch{Key: key, Head: "You are Pinch.\n", Tools: `[{"name":"read"}]`, First: 1, Hash: "h1", Reason: "new", Began: moment}
	stored := must(rows.Log.NewEpoch(ctx, old))(t)
	old.ID = 1
	equal(t, "stored epoch", stored, old)
	current := session.Epoch{Key: key, Head: "You are Pinch.\n", Tools: `[]`, First: 3, Hash: "h2", Reason: "compaction", Began: moment}
	must(rows.Log.NewEpoch(ctx, current))(t)
	must(rows.Log.NewEpoch(ctx, session.Epoch{Key: "agent:main:x", First: 9}))(t)
	current.ID = 2
	epoch, entries, err = open(t, copied(t, dir)).For("main").Log.Tail(ctx, key)
	try(t, err)
	equal(t, "current epoch", epoch, current)
	equal(t, "its entries", []int64{int64(len(entries)), entries[0].ID}, []int64{1, 3})
}

func TestConversationsByLastUse(t *testing.T) {
	ctx := context.Background()
	rows := open(t, t.TempDir()).For("main")
	equal(t, "unknown", must(rows.Conversations.Get(ctx, "agent:main:new"))(t), session.Conversation{Key: "agent:main:new"})
	for i, name := range []session.Key{"a", "b", "c", "a"} {
		id := accept(t, rows, fmt.Sprint(i))[0].ID
		done := turn(id)
		done.Key, done.At = name, moment.Add(time.Duration(i)*time.Minute)
		done.Address.Topic = fmt.Sprint(i)
		try(t, rows.Journal.Commit(ctx, done))
	}
	var names []session.Key
	list := must(rows.Conversations.List(ctx, 2))(t)
	for _, c := range list {
		names = append(names, c.Key)
	}
	equal(t, "last used first", names, []session.Key{"a", "c"})
	equal(t, "where it was last heard", list[0].Address.Topic, "3")
}
