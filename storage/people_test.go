package storage_test

import (
	"context"
	"testing"

	"pinch/channels"
)

func TestPeopleFacts(t *testing.T) {
	db := open(t, t.TempDir())
	accept(t, db.For("main"), "1")
	people := db.People(map[string][]string{"telegram": {"7"}, "qq": {"8", "9"}})
	for _, c := range []struct {
		what, channel, event, sender string
		want                         channels.Facts
	}{
		{"the only one allowed", "telegram", "2", "7", channels.Facts{Owner: true, Allowed: true}},
		{"a repeated event", "telegram", "1", "7", channels.Facts{Owner: true, Allowed: true, Seen: true}},
		{"the same event id elsewhere", "qq", "1", "8", channels.Facts{Allowed: true}},
		{"a stranger", "telegram", "3", "70", channels.Facts{}},
		{"a known id on another account", "telegram/second", "3", "7", channels.Facts{}},
		{"no sender", "telegram", "3", "", channels.Facts{}},
		{"the console", "console", "1", "anybody", channels.Facts{Owner: true}},
	} {
		in := channels.Inbound{Channel: c.channel, Event: c.event, Sender: channels.Sender{ID: c.sender}}
		equal(t, c.what, must(people.Facts(context.Background(), in))(t), c.want)
	}
}
