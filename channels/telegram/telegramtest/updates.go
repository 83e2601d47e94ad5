package telegramtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const terminated = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

// notByDefault is what getUpdates leaves out unless it is asked for by name.
var notByDefault = []string{"chat_member", "message_reaction", "message_reaction_count"}

// queue is the updates that are not confirmed, and who asks for them.
type queue struct {
	next    int64 // the next update id
	updates []update
	offset  int64 // the highest that was asked for
	allowed []string
	webhook string
	poll    chan string // takes why the pending long poll ends; nil = none
}

type update struct {
	id  int64
	raw json.RawMessage
}

// Say lets a user write in a chat: a private one where both ids are the same, else a group. It returns the update id.
func (s *Server) Say(user, chat int64, text string) int64 {
	kind := `"type":"private","first_name":"Ana"`
	if user != chat {
		kind = `"type":"supergroup","title":"Lab"`
	}
	quoted, _ := json.Marshal(text) // a string always encodes
	return s.Push(fmt.Sprintf(`{"message":{"date":%d,"from":{"id":%d,"is_bot":false,"first_name":"Ana","username":"ana_t"},"chat":{"id":%d,%s},"text":%s}}`,
		time.Now().Unix(), user, chat, kind, quoted))
}

// Push queues an update, given as a JSON object without update_id, and returns its id, 0 where the bot did not ask
// for its kind. A message without message_id gets one. Chats and topics become known by it. What is not JSON of
// that shape is queued as it is, after the id.
func (s *Server) Push(object string) (id int64) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &fields) != nil {
		panic("telegramtest: not a JSON object: " + object)
	}
	s.change(func() {
		kind := ""
		for name, raw := range fields {
			kind = name
			fields[name] = s.learn(raw)
		}
		if !s.queue.wants(kind) {
			return
		}
		id = s.queue.next
		s.queue.next++
		fields["update_id"], _ = json.Marshal(id) // a number always encodes
		raw, _ := json.Marshal(fields)            // raw fields that were decoded always encode
		s.queue.updates = append(s.queue.updates, update{id, raw})
	})
	return id
}

// learn makes the chat and topic of a message known and completes the message; the lock is held.
func (s *Server) learn(raw json.RawMessage) json.RawMessage {
	var m struct {
		ID     int64 `json:"message_id"`
		Thread int64 `json:"message_thread_id"`
		Topic  bool  `json:"is_topic_message"`
		Chat   struct {
			ID int64 `json:"id"`
		} `json:"chat"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || json.Unmarshal(raw, &fields) != nil || m.Chat.ID == 0 {
		return raw
	}
	c := s.chat(m.Chat.ID)
	if m.ID == 0 {
		s.ids++
		m.ID = s.ids
		fields["message_id"], _ = json.Marshal(m.ID) // a number always encodes
	}
	s.ids = max(s.ids, m.ID)
	c.messages[m.ID] = true
	if m.Topic {
		c.topics[m.Thread] = true
	}
	raw, _ = json.Marshal(fields) // fields that were decoded always encode
	return raw
}

// Confirmed reports whether the bot has confirmed an update: a later poll began after it.
func (s *Server) Confirmed(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.offset > id
}

// WaitConfirmed waits until the bot has confirmed an update.
func (s *Server) WaitConfirmed(ctx context.Context, id int64) error {
	return s.Wait(ctx, func() bool { return s.Confirmed(id) })
}

func (q *queue) wants(kind string) bool {
	if len(q.allowed) == 0 {
		return !slices.Contains(notByDefault, kind)
	}
	return slices.Contains(q.allowed, kind)
}

// interrupt ends the pending long poll with a conflict.
func (q *queue) interrupt(why string) {
	if q.poll != nil {
		q.poll <- why
		q.poll = nil
	}
}

func (q *queue) setWebhook(url string) {
	if q.webhook = url; url != "" {
		q.interrupt("Conflict: terminated by setWebhook request")
	}
}

func (q *queue) deleteWebhook(drop bool) {
	if q.webhook = ""; drop {
		q.updates = nil
	}
}

// confirm forgets what a poll with that offset confirms.
func (q *queue) confirm(offset int64) {
	if offset < 0 {
		q.updates = q.updates[max(0, len(q.updates)+int(offset)):]
		return
	}
	q.offset = max(q.offset, offset)
	q.updates = slices.DeleteFunc(q.updates, func(u update) bool { return u.id < offset })
}

// begin starts a poll; why is closed with it or takes what ends it.
func (s *Server) begin(p params) (why chan string, no *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queue
	if q.webhook != "" {
		return nil, refuse(http.StatusConflict, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	if raw, ok := p["allowed_updates"]; ok {
		var kinds []string
		if json.Unmarshal([]byte(raw), &kinds) != nil {
			return nil, bad("can't parse allowed updates list")
		}
		q.allowed = kinds
	}
	q.interrupt(terminated)
	q.confirm(p.number("offset"))
	q.poll = make(chan string, 1)
	s.touch()
	return q.poll, nil
}

func (s *Server) getUpdates(ctx context.Context, p params) (any, *refusal) {
	why, no := s.begin(p)
	if no != nil {
		return nil, no
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.queue.poll == why {
			s.queue.poll = nil
		}
	}()
	limit := p.number("limit")
	if limit < 1 || limit > 100 {
		limit = 100
	}
	timeout := time.NewTimer(time.Duration(min(max(p.number("timeout"), 0), 50)) * time.Second)
	defer timeout.Stop()
	for over := p.number("timeout") <= 0; ; {
		s.mu.Lock()
		batch, changed := []json.RawMessage{}, s.changed
		for _, u := range s.queue.updates[:min(int(limit), len(s.queue.updates))] {
			batch = append(batch, u.raw)
		}
		s.mu.Unlock()
		if len(batch) > 0 || over {
			return batch, nil
		}
		select {
		case text := <-why:
			return nil, refuse(http.StatusConflict, text)
		case <-timeout.C:
			over = true
		case <-ctx.Done():
			return nil, nil
		case <-changed:
		}
	}
}

// SetWebhook sets a webhook, as another program with the same token might; "" ends it.
func (s *Server) SetWebhook(url string) {
	s.change(func() { s.queue.setWebhook(url) })
}
