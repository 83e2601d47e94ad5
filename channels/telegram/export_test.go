package telegram

import (
	"context"
	"encoding/json"
	"net"

	"github.com/go-telegram/bot/models"

	"pinch/channels"
)

// Dial makes the channel connect through a function.
func (c *Channel) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	c.wire.dial = dial
}

// Render returns the HTML of a Markdown text, and what a person sees of it.
func Render(markdown string) (html, visible string) {
	p := render(markdown)
	return p.html.String(), p.text.String()
}

// Read converts one raw update for a bot with that id and username.
func (c *Channel) Read(raw string, id int64, username string) (channels.Inbound, bool) {
	c.me = models.User{ID: id, Username: username}
	p := poller{Channel: c}
	var u struct {
		ID int64 `json:"update_id"`
	}
	json.Unmarshal([]byte(raw), &u) // an id that cannot be read is 0
	return p.read(json.RawMessage(raw), u.ID)
}

// Units is a length as Telegram counts it.
var Units = units
