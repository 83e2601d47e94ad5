package telegramtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Message is one that the bot has sent, as the person sees it.
type Message struct {
	ID       int64
	Chat     int64
	Thread   int64
	ReplyTo  int64
	Text     string // after entity parsing
	Raw      string // as the bot wrote it
	Mode     string // parse_mode
	Entities []Entity
	Edits    int
}

// AddChat makes chats known to which the bot may write.
func (s *Server) AddChat(ids ...int64) {
	s.change(func() {
		for _, id := range ids {
			s.chat(id)
		}
	})
}

// Block makes the person or group refuse the bot, or take it again.
func (s *Server) Block(id int64, blocked bool) {
	s.change(func() { s.chat(id).blocked = blocked })
}

// Migrate upgrades a group to a supergroup with a new id.
func (s *Server) Migrate(from, to int64) {
	s.change(func() {
		s.chat(from).migrated = to
		s.chat(to)
	})
}

// DeleteTopic makes a topic unknown again.
func (s *Server) DeleteTopic(id, thread int64) {
	s.change(func() { delete(s.chat(id).topics, thread) })
}

// Sent returns the bot's messages in a chat, in the order in which they were accepted.
func (s *Server) Sent(id int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chats[id]; c != nil {
		return slices.Clone(c.sent)
	}
	return nil
}

// WaitSent waits until the bot has sent n messages to a chat and returns them.
func (s *Server) WaitSent(ctx context.Context, id int64, n int) ([]Message, error) {
	err := s.Wait(ctx, func() bool { return len(s.Sent(id)) >= n })
	return s.Sent(id), err
}

// chat returns a chat, known from now on; the lock is held.
func (s *Server) chat(id int64) *chat {
	c := s.chats[id]
	if c == nil {
		c = &chat{messages: map[int64]bool{}, topics: map[int64]bool{}}
		s.chats[id] = c
	}
	return c
}

// open returns the chat that the bot wants to write to; the lock is held.
func (s *Server) open(p params) (*chat, *refusal) {
	c := s.chats[p.number("chat_id")]
	switch {
	case p["chat_id"] == "":
		return nil, bad("chat_id is empty")
	case c == nil:
		return nil, bad("chat not found")
	case c.migrated != 0:
		no := bad("group chat was upgraded to a supergroup chat")
		no.migrate = c.migrated
		return nil, no
	case c.blocked && p.number("chat_id") < 0:
		return nil, refuse(http.StatusForbidden, "Forbidden: bot was kicked from the supergroup chat")
	case c.blocked:
		return nil, refuse(http.StatusForbidden, "Forbidden: bot was blocked by the user")
	}
	return c, nil
}

// readText parses and checks a text.
func readText(p params) (string, []Entity, *refusal) {
	text, entities := p["text"], []Entity(nil)
	switch strings.ToLower(p["parse_mode"]) {
	case "":
	case "html":
		var err error
		if text, entities, err = ParseHTML(text); err != nil {
			return "", nil, bad("can't parse entities: " + err.Error())
		}
	default:
		return "", nil, bad("unsupported parse_mode")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", nil, bad("message text is empty")
	}
	if len(utf16.Encode([]rune(text))) > 4096 {
		return "", nil, bad("message is too long")
	}
	return text, entities, nil
}

func (s *Server) sendMessage(p params) (any, *refusal) {
	s.mu.Lock()
	m, no := s.accept(p)
	hook := s.onSend
	s.mu.Unlock()
	if no != nil {
		return nil, no
	}
	if hook != nil {
		hook(m)
	}
	return answer(m), nil
}

func answer(m Message) map[string]any {
	return map[string]any{
		"message_id": m.ID, "date": time.Now().Unix(), "text": m.Text,
		"chat": map[string]any{"id": m.Chat, "type": "private"},
		"from": map[string]any{"id": Bot.ID, "is_bot": true, "first_name": "Pinch"},
	}
}

// accept checks a message and keeps it; the lock is held.
func (s *Server) accept(p params) (Message, *refusal) {
	c, no := s.open(p)
	if no != nil {
		return Message{}, no
	}
	text, entities, no := readText(p)
	if no != nil {
		return Message{}, no
	}
	thread := p.number("message_thread_id")
	if p["message_thread_id"] != "" && !c.topics[thread] {
		return Message{}, bad("message thread not found")
	}
	var reply struct {
		ID    int64 `json:"message_id"`
		Allow bool  `json:"allow_sending_without_reply"`
	}
	if raw := p["reply_parameters"]; raw != "" && json.Unmarshal([]byte(raw), &reply) != nil {
		return Message{}, bad("can't parse reply parameters JSON object")
	}
	if reply.ID != 0 && !c.messages[reply.ID] {
		if !reply.Allow {
			return Message{}, bad("message to be replied not found")
		}
		reply.ID = 0
	}
	s.ids++
	m := Message{ID: s.ids, Chat: p.number("chat_id"), Thread: thread, ReplyTo: reply.ID, Text: text, Raw: p["text"], Mode: p["parse_mode"], Entities: entities}
	c.messages[m.ID] = true
	c.sent = append(c.sent, m)
	s.touch()
	return m, nil
}

func (s *Server) editMessageText(p params) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, no := s.open(p)
	if no != nil {
		return nil, no
	}
	i := slices.IndexFunc(c.sent, func(m Message) bool { return m.ID == p.number("message_id") })
	if i < 0 {
		return nil, bad("message to edit not found")
	}
	text, entities, no := readText(p)
	switch {
	case no != nil && strings.HasSuffix(no.text, "too long"):
		return nil, bad("MESSAGE_TOO_LONG")
	case no != nil:
		return nil, no
	case text == c.sent[i].Text && slices.Equal(entities, c.sent[i].Entities):
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m := &c.sent[i]
	m.Text, m.Entities, m.Raw, m.Mode, m.Edits = text, entities, p["text"], p["parse_mode"], m.Edits+1
	s.touch()
	return answer(*m), nil
}

func (s *Server) sendChatAction(p params) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, no := s.open(p); no != nil {
		return nil, no
	}
	switch p["action"] {
	case "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document", "choose_sticker", "find_location":
		return true, nil
	}
	return nil, bad("wrong parameter action in request")
}

func setMyCommands(p params) (any, *refusal) {
	var commands []struct{ Command, Description string }
	if json.Unmarshal([]byte(p["commands"]), &commands) != nil {
		return nil, bad("can't parse commands list")
	}
	if len(commands) > 100 {
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range commands {
		if len(c.Command) < 1 || len(c.Command) > 32 || strings.Trim(c.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return nil, bad("BOT_COMMAND_INVALID")
		}
		if n := len(c.Description); n < 1 || n > 256 {
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	return true, nil
}

func tooMany(seconds int) *refusal {
	return &refusal{code: http.StatusTooManyRequests, text: fmt.Sprintf("Too Many Requests: retry after %d", seconds), retryAfter: seconds}
}
