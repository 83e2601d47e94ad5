package telegram

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"pinch/channels"
)

const (
	typingEvery = 4500 * time.Millisecond // Telegram shows it for 5 s
	typingLimit = 10 * time.Minute
)

// typing is the chats in which a turn runs.
type typing struct {
	mu   sync.Mutex
	busy map[channels.Address]*turn
	wake chan struct{} // has room for one
}

// turn is when a turn's typing mark is due next, and when it began.
type turn struct {
	began, due time.Time
	answers    []string // the messages that it answers
	over       bool     // until it ends: the mark was refused, or shown too long
}

func newTyping() typing {
	return typing{busy: map[channels.Address]*turn{}, wake: make(chan struct{}, 1)}
}

// Show keeps "typing" on from a turn's first phase to Done or its last part. It only notes what keepTyping does.
func (c *Channel) Show(at channels.Address, p channels.Progress) {
	t := &c.typing
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.Phase == channels.Done {
		delete(t.busy, at)
		return
	}
	if b := t.busy[at]; b != nil && slices.Equal(b.answers, p.Answers) {
		return
	}
	now := time.Now()
	t.busy[at] = &turn{began: now, due: now, answers: p.Answers}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// said ends the typing mark of a turn by its last part. The next turn may have begun before that was sent.
func (t *typing) said(part channels.Part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.busy[part.Address]; part.Last && b != nil && slices.Equal(b.answers, part.Answers) {
		delete(t.busy, part.Address)
	}
}

// keepTyping sends the typing marks until ctx ends.
func (c *Channel) keepTyping(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		due, next := c.typing.due(time.Now())
		for _, at := range due {
			if c.sendTyping(ctx, at) != nil {
				c.typing.stop(at)
			}
		}
		if len(due) > 0 {
			continue
		}
		timer.Reset(next)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-c.typing.wake:
		}
	}
}

// due returns where the mark is due, and puts it off there; and how long it is until the next.
func (t *typing) due(now time.Time) (due []channels.Address, next time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next = time.Hour
	for at, turn := range t.busy {
		turn.over = turn.over || now.Sub(turn.began) >= typingLimit
		switch {
		case turn.over:
		case !turn.due.After(now):
			due = append(due, at)
			turn.due = now.Add(typingEvery)
		default:
			next = min(next, turn.due.Sub(now))
		}
	}
	return due, next
}

func (t *typing) stop(at channels.Address) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn := t.busy[at]; turn != nil {
		turn.over = true
	}
}

// sendTyping shows the mark once. Unlike a message it names the General topic.
func (c *Channel) sendTyping(ctx context.Context, at channels.Address) error {
	ctx, cancel := context.WithTimeout(ctx, typingEvery)
	defer cancel()
	thread, _ := strconv.Atoi(at.Topic) // "" is none
	_, err := c.bot.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: at.Chat, MessageThreadID: thread, Action: models.ChatActionTyping})
	return err
}
