package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"pinch/channels"
)

// poller asks for updates. Telegram forgets an update when it is asked for a later one, so the offset moves only
// after the batch was accepted; what is then asked for again, after a crash, has the same event ids.
type poller struct {
	*Channel
	accept channels.Accept
	ready  bool  // getMe and deleteWebhook were answered
	offset int64 // the next update id; 0 = whatever is not confirmed
	limit  int   // 0 = Telegram's own, 100
}

// step does the next thing: prepare, or one poll with all that follows of it.
func (p *poller) step(ctx context.Context) error {
	if !p.ready {
		return p.prepare(ctx)
	}
	updates, err := p.fetch(ctx)
	var r *refusal
	switch {
	case errors.As(err, &r) && r.Code == http.StatusConflict && strings.Contains(r.Description, "webhook"):
		p.ready = false // somebody has set one since
	case errors.Is(err, errTooLarge):
		p.limit = 1
	}
	if err != nil {
		return err
	}
	p.limit = 0
	p.setState(connected(p.self()))
	if len(updates) == 0 {
		return nil
	}
	return p.take(ctx, updates)
}

// prepare learns the bot's name, which tells a mention, and ends a webhook, which would forbid polling.
func (p *poller) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	me, err := p.bot.GetMe(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.me = *me
	p.mu.Unlock()
	if _, err := p.bot.DeleteWebhook(ctx, &bot.DeleteWebhookParams{}); err != nil {
		return err
	}
	p.ready = true
	p.setState(connected(*me))
	return nil
}

// fetch is one long poll. Each update stays undecoded, so that a bad one cannot hold up the others.
func (p *poller) fetch(ctx context.Context) ([]json.RawMessage, error) {
	wait := time.Duration(p.account.Poll)
	ctx, cancel := context.WithTimeout(ctx, wait+10*time.Second)
	defer cancel()
	body, err := json.Marshal(struct {
		Offset  int64    `json:"offset,omitempty"`
		Limit   int      `json:"limit,omitempty"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}{p.offset, p.limit, int(wait.Seconds()), []string{"message", "edited_message", "callback_query"}})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	address := p.account.URL + "/bot" + p.account.Token.Reveal() + "/getUpdates"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the Bot API is wrong: see channels.telegram.url") // its own text has the token
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.wire.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for messages: %w", err)
	}
	defer resp.Body.Close()
	var answer struct {
		Result []json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, errNoAnswer
	}
	return answer.Result, nil
}

// take has a batch accepted, as often as it needs, and then moves the offset.
func (p *poller) take(ctx context.Context, updates []json.RawMessage) error {
	var batch []channels.Inbound
	next := p.offset
	for _, raw := range updates {
		var id struct {
			Update int64 `json:"update_id"`
		}
		if json.Unmarshal(raw, &id) != nil || id.Update < p.offset {
			p.log.Warn("telegram update without a usable id is skipped", "bytes", len(raw))
			continue
		}
		next = max(next, id.Update+1)
		if in, ok := p.read(raw, id.Update); ok {
			batch = append(batch, in)
		}
	}
	if next == p.offset {
		return errNoAnswer // only a broken server repeats what is confirmed
	}
	for tries := 1; len(batch) > 0; tries++ {
		err := p.accept(ctx, batch)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.log.Error("telegram messages are not stored, trying again", "err", err, "tries", tries)
		rest(ctx, backoff(tries))
	}
	p.offset = next
	return nil
}

// read decodes and converts one update. Whatever is in it, it can only be skipped: a bad update would come again
// and again.
func (p *poller) read(raw json.RawMessage, id int64) (in channels.Inbound, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			p.log.Error("telegram update is skipped: reading it panicked", "update", id, "bytes", len(raw))
			in, ok = channels.Inbound{}, false
		}
	}()
	var u models.Update
	if err := json.Unmarshal(raw, &u); err != nil {
		p.log.Warn("telegram update is skipped: it cannot be decoded", "update", id, "bytes", len(raw), "type", fmt.Sprintf("%T", err))
		return channels.Inbound{}, false
	}
	in, ok = convert(u, p.self())
	in.Channel = p.name
	return in, ok
}
