// Package channels has the words of the ways in and out: what arrives (Inbound), what is decided about it
// (Preflight, Decision), what leaves (Reply, Part), and what an adapter must be able to do (Channel).
package channels

import "time"

// Kind says what an inbound is.
type Kind string

// The kinds of inbound. Everything that is not a person's message is Service.
const (
	KindMessage Kind = "message"
	KindEdit    Kind = "edit"
	KindPress   Kind = "press"
	KindService Kind = "service"
)

// ChatKind says who hears what is said in a chat.
type ChatKind string

// The kinds of chat.
const (
	Private   ChatKind = "private"
	Group     ChatKind = "group"
	Broadcast ChatKind = "broadcast"
)

// Inbound is one message, event or timer firing, from any channel, normalised. Text from outside is not yet
// defused: that happens where it enters a prompt.
type Inbound struct {
	Channel   string    `json:"channel"`           // adapter's name: telegram, telegram/ACCOUNT, console
	Event     string    `json:"event"`             // the platform's event id, unique within Channel
	Kind      Kind      `json:"kind"`              //
	At        time.Time `json:"at"`                // when the platform says it was sent
	Chat      Chat      `json:"chat"`              //
	Sender    Sender    `json:"sender"`            //
	Message   string    `json:"message,omitempty"` // the platform's message id, the target of a reply
	Text      string    `json:"text,omitempty"`    // text or caption
	Reply     *Quote    `json:"reply,omitempty"`   // the message that this one answers
	Forward   string    `json:"forward,omitempty"` // original sender of a forwarded message
	Files     []string  `json:"files,omitempty"`   // plain descriptions of attachments that the adapter did not fetch
	Mentioned bool      `json:"mentioned,omitempty"`
}

// Chat is the place of an inbound.
type Chat struct {
	ID    string   `json:"id"`
	Kind  ChatKind `json:"kind"`
	Title string   `json:"title,omitempty"`
	Topic string   `json:"topic,omitempty"`
}

// Sender is who sent an inbound. Only ID has authority.
type Sender struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"`
	Bot      bool   `json:"bot,omitempty"`
}

// Quote is the message that an inbound answers.
type Quote struct {
	Sender string `json:"sender,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Address is where a reply goes.
type Address struct {
	Channel string `json:"channel"`
	Chat    string `json:"chat"`
	Topic   string `json:"topic,omitempty"`
}

// Address returns where an answer to the inbound goes.
func (in Inbound) Address() Address {
	return Address{Channel: in.Channel, Chat: in.Chat.ID, Topic: in.Chat.Topic}
}
