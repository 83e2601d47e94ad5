package telegram

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"pinch/channels"
)

const (
	sendTime  = 30 * time.Second
	hardLimit = 4096 // of a message's visible text, in UTF-16 units
	softLimit = 4000 // what replies are split to
	general   = "1"  // the topic of a forum that messages must not name
)

// Split cuts a reply so that each part, as Telegram shows it, is within its limit.
func (c *Channel) Split(reply channels.Reply) []channels.Part {
	return channels.Split(reply, softLimit, func(text string) int { return units(render(text).visible()) })
}

// Send delivers one part as HTML, and as it is where Telegram finds fault with the HTML.
func (c *Channel) Send(ctx context.Context, part channels.Part) (string, error) {
	if c.bot == nil {
		return "", &channels.SendError{Failure: channels.Temporary, After: time.Minute, Err: errors.New(c.State())}
	}
	chat, err := strconv.ParseInt(part.Address.Chat, 10, 64)
	if err != nil {
		return "", &channels.SendError{Failure: channels.Permanent, Err: errors.New("the address has no chat id")}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	c.typing.said(part)
	params := c.message(chat, part)
	for forms := 1; ; forms++ {
		m, err := c.bot.SendMessage(ctx, params)
		if err == nil {
			return strconv.Itoa(m.ID), nil
		}
		if forms == 4 || !mend(params, part, err) {
			return "", c.failure(err)
		}
	}
}

func (c *Channel) message(chat int64, part channels.Part) *bot.SendMessageParams {
	page := render(part.Text)
	p := &bot.SendMessageParams{
		ChatID: chat, Text: page.html.String(), ParseMode: models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: bot.True()},
	}
	if strings.TrimSpace(page.text.String()) == "" {
		p.Text, p.ParseMode = part.Text, ""
	}
	if part.Address.Topic != general {
		p.MessageThreadID, _ = strconv.Atoi(part.Address.Topic) // "" is none
	}
	if id, err := strconv.Atoi(part.ReplyTo); err == nil {
		p.ReplyParameters = &models.ReplyParameters{MessageID: id, AllowSendingWithoutReply: true}
	}
	return p
}

// mend changes a message that was refused, where another form of it may be taken.
func mend(p *bot.SendMessageParams, part channels.Part, err error) bool {
	var r *refusal
	if !errors.As(err, &r) || r.Code != http.StatusBadRequest {
		return false
	}
	has := func(text string) bool { return strings.Contains(strings.ToLower(r.Description), text) }
	switch {
	case r.Parameters.MigrateTo != 0 && p.ChatID != r.Parameters.MigrateTo:
		p.ChatID = r.Parameters.MigrateTo
	case has("can't parse entities") && p.ParseMode != "":
		p.ParseMode, p.Text = "", part.Text
		if units(p.Text) > hardLimit {
			p.Text = strings.TrimSpace(render(part.Text).text.String())
		}
	case p.MessageThreadID != 0 && (has("thread not found") || has("topic_deleted") || has("topic_closed")):
		p.MessageThreadID, p.ReplyParameters = 0, nil // better in General than lost
	default:
		return false
	}
	return true
}

// failure says what to do about a part that was not taken.
func (c *Channel) failure(err error) error {
	e := &channels.SendError{Failure: channels.Temporary, Err: errors.New(brief(err))}
	var r *refusal
	if !errors.As(err, &r) {
		return e
	}
	e.Err = r
	switch r.Code {
	case http.StatusBadRequest, http.StatusForbidden:
		e.Failure = channels.Permanent
	case http.StatusTooManyRequests:
		e.After = max(r.after(), time.Second)
	case http.StatusUnauthorized, http.StatusNotFound:
		c.setState(refused)
		e.After = time.Minute
	}
	return e
}
