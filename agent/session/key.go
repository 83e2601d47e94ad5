package session

import (
	"strings"

	"pinch/channels"
)

// Key names a conversation, such as "agent:main:telegram:group:-100123:topic:7". It routes; it is no authority.
type Key string

// Audience is who may be told what was said: the owner in private, or those in one conversation.
type Audience string

// OwnerOnly is the audience of memory files and of everything said in the owner's private conversations.
const OwnerOnly Audience = "owner"

// Main is the key of the owner's private conversation with an agent.
func Main(agent string) Key { return Named(agent, "main") }

// Named is the key of a conversation that the owner named.
func Named(agent, name string) Key { return Key("agent:" + clean(agent) + ":" + clean(name)) }

// Route returns the conversation of an inbound: the owner's private chats share Main (a terminal names its
// conversation by the chat id), everybody else has one a channel and peer, a group one a topic.
func Route(agent string, in channels.Inbound, owner bool) Key {
	channel, _, _ := strings.Cut(in.Channel, "/")
	base := "agent:" + clean(agent) + ":"
	switch {
	case in.Chat.Kind != channels.Private:
		key := base + clean(channel) + ":" + string(in.Chat.Kind) + ":" + clean(in.Chat.ID)
		if in.Chat.Topic != "" {
			key += ":topic:" + clean(in.Chat.Topic)
		}
		return Key(key)
	case channel == "console":
		return Named(agent, in.Chat.ID)
	case owner:
		return Main(agent)
	}
	return Key(base + clean(channel) + ":direct:" + clean(in.Sender.ID))
}

// clean makes a name a segment of a key: lower case, and no separator of our own.
func clean(s string) string {
	return strings.ToLower(strings.NewReplacer(":", "_", " ", "_").Replace(s))
}

// AudienceOf returns who may hear what belongs to a conversation.
func AudienceOf(private, owner bool, key Key) Audience {
	if private && owner {
		return OwnerOnly
	}
	return Audience(key)
}
