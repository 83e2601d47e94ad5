// Package channeltest has an in-memory channel for tests of what stands above the channels, and the suite that each
// channel must pass.
package channeltest

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pinch/channels"
)

// Patience is how long Want and the suite wait before they fail.
const Patience = 20 * time.Second

// Channel is a channel in memory. The zero value does not work: use New.
type Channel struct {
	name string

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each change
	waiting []channels.Inbound
	events  int
	sent    []channels.Part
	wanted  int // parts that Want has seen
	shown   []Shown
	faults  []error
	refused int
}

// Shown is one progress that the channel was told.
type Shown struct {
	Address  channels.Address
	Progress channels.Progress
}

var (
	_ channels.Channel = (*Channel)(nil)
	_ channels.Shower  = (*Channel)(nil)
)

// New returns a channel of that name.
func New(name string) *Channel { return &Channel{name: name, changed: make(chan struct{})} }

// Name returns the channel's name.
func (c *Channel) Name() string { return c.name }

// Run offers what was said, all that waits as one batch, again every second while accept refuses it.
func (c *Channel) Run(ctx context.Context, accept channels.Accept) error {
	for {
		var batch []channels.Inbound
		if c.wait(ctx, func() bool { batch = c.waiting; return len(batch) > 0 }) != nil {
			return nil
		}
		if accept(ctx, batch) != nil {
			c.change(func() { c.refused++ })
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
			}
			continue
		}
		c.change(func() { c.waiting = c.waiting[len(batch):] })
	}
}

// Send records a part, or returns the next error of Fail. Its id is its number among the sent parts, from 1.
func (c *Channel) Send(ctx context.Context, part channels.Part) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	c.change(func() {
		if len(c.faults) > 0 {
			err, c.faults = c.faults[0], c.faults[1:]
		}
		if err == nil {
			c.sent = append(c.sent, part)
			id = strconv.Itoa(len(c.sent))
		}
	})
	return id, err
}

// Show records a progress.
func (c *Channel) Show(at channels.Address, p channels.Progress) {
	c.change(func() { c.shown = append(c.shown, Shown{at, p}) })
}

// Say lets a person write in a private chat whose id is the sender, and returns the event id.
func (c *Channel) Say(sender, text string) string {
	return c.Push(channels.Inbound{
		Kind: channels.KindMessage, At: time.Now(), Text: text,
		Chat:   channels.Chat{ID: sender, Kind: channels.Private},
		Sender: channels.Sender{ID: sender, Name: sender},
	})
}

// Push lets any inbound arrive and returns its event id. Channel, and where they are empty Event and Message, are
// filled in.
func (c *Channel) Push(in channels.Inbound) string {
	c.change(func() {
		c.events++
		in.Channel = c.name
		if in.Event == "" {
			in.Event = strconv.Itoa(c.events)
		}
		if in.Message == "" {
			in.Message = "m" + in.Event
		}
		c.waiting = append(c.waiting, in)
	})
	return in.Event
}

// Want waits for the next part that it has not returned before, and fails the test unless its text contains want.
func (c *Channel) Want(t testing.TB, want string) channels.Part {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var part channels.Part
	err := c.wait(ctx, func() bool {
		if c.wanted == len(c.sent) {
			return false
		}
		part = c.sent[c.wanted]
		c.wanted++
		return true
	})
	if err != nil {
		t.Fatalf("want a part with %q: none came", want)
	}
	if !strings.Contains(part.Text, want) {
		t.Fatalf("want a part with %q, got %q", want, part.Text)
	}
	return part
}

// Sent returns all parts that were sent.
func (c *Channel) Sent() []channels.Part {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]channels.Part(nil), c.sent...)
}

// Shown returns all progress that was shown.
func (c *Channel) Shown() []Shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Shown(nil), c.shown...)
}

// Fail makes the next Sends return these errors, in order; nil lets one through.
func (c *Channel) Fail(errs ...error) {
	c.change(func() { c.faults = append(c.faults, errs...) })
}

// WaitAccepted waits until everything that was said is accepted.
func (c *Channel) WaitAccepted(ctx context.Context) error {
	return c.wait(ctx, func() bool { return len(c.waiting) == 0 })
}

// WaitRefused waits until accept has refused n batches in all.
func (c *Channel) WaitRefused(ctx context.Context, n int) error {
	return c.wait(ctx, func() bool { return c.refused >= n })
}

func (c *Channel) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	close(c.changed)
	c.changed = make(chan struct{})
}

// wait blocks until ok, which is called with the lock held.
func (c *Channel) wait(ctx context.Context, ok func() bool) error {
	for {
		c.mu.Lock()
		done, changed := ok(), c.changed
		c.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
