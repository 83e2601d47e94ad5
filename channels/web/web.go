// Package web is the local way in: a chat in this process (Channel), the same chat and the table of operations
// over HTTP on a unix socket (Serve), and its other end (Client). A terminal talks to a Channel or to a Client and
// cannot tell which.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pinch/channels"
)

const (
	patience  = 2 * time.Second  // of Send with a listener that does not take a part
	heartbeat = 15 * time.Second // between signs of life in a silent stream
	backlog   = 256              // events that wait for one slow listener; parts and Done always find room
	mergeMost = 1 << 20          // bytes of streamed text that wait in one event
)

// ErrStopping is the end of a Say whose channel was shut down before the turn was over.
var ErrStopping = errors.New("pinch is stopping: the message is kept and will be answered after the next start")

// Channel is the chat of those who sit at this machine. Whoever can call Say is the owner.
//
// A reply is delivered when a listener has shown it. Where nobody listens to its conversation (the terminal was
// closed or killed), Send fails with WindowClosed: the part stays in the outbox, and the next Say in that
// conversation reopens it by its message and hears it before its own reply.
type Channel struct {
	name   string
	accept channels.Accept
	ready  chan struct{} // closed when accept is set
	over   chan struct{} // closed when Run ends

	mu        sync.Mutex
	listeners []*listener
}

// New returns a channel whose inbounds carry this name.
func New(name string) *Channel {
	return &Channel{name: name, ready: make(chan struct{}), over: make(chan struct{})}
}

// Name is the name given to New.
func (c *Channel) Name() string { return c.name }

// Run lets Say through to accept until ctx ends. It is called once.
func (c *Channel) Run(ctx context.Context, accept channels.Accept) error {
	c.accept = accept
	close(c.ready)
	<-ctx.Done()
	close(c.over)
	return nil
}

// Say takes a message and shows what happens in its conversation until the turn that answers it is over: its last
// part was shown, or its Done where it says nothing. show is called from the caller's goroutine. An error means
// that the end of the turn was not seen; the message may still be answered.
func (c *Channel) Say(ctx context.Context, m channels.Message, show func(channels.Event)) error {
	return c.say(ctx, m, show, func() {})
}

// say is Say with a sign of life in long silence.
func (c *Channel) say(ctx context.Context, m channels.Message, show func(channels.Event), alive func()) error {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if m.ID == "" {
		m.ID = rand.Text()
	}
	l := c.listen(m.Conversation)
	defer c.leave(l)
	if err := c.accept(ctx, []channels.Inbound{c.inbound(m)}); err != nil {
		return fmt.Errorf("taking the message: %w", err)
	}
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.over:
			return ErrStopping
		case <-tick.C:
			alive()
		case <-l.wake:
			if over, err := c.drain(ctx, l, m.ID, show); over || err != nil {
				return err
			}
		}
	}
}

// drain shows what waits for a listener and tells whether the turn that answers id is over.
func (c *Channel) drain(ctx context.Context, l *listener, id string, show func(channels.Event)) (over bool, err error) {
	for {
		e, ok := c.next(l)
		if !ok {
			return false, nil
		}
		show(e)
		if err := ctx.Err(); err != nil { // the listener may have gone while it was shown: not delivered
			return false, err
		}
		c.done(l)
		if ends(e, id) {
			return true, nil
		}
	}
}

// ends tells whether an event is the last of the turn that answers id.
func ends(e channels.Event, id string) bool {
	if p := e.Part; p != nil {
		return p.Last && slices.Contains(p.Answers, id)
	}
	return e.Progress.Phase == channels.Done && slices.Contains(e.Progress.Answers, id)
}

// inbound is the message as the agent takes it.
func (c *Channel) inbound(m channels.Message) channels.Inbound {
	return channels.Inbound{
		Channel: c.name, Event: m.ID, Message: m.ID, Kind: channels.KindMessage, At: time.Now(),
		Chat:   channels.Chat{ID: m.Conversation, Kind: channels.Private},
		Sender: channels.Sender{ID: "owner", Name: m.Name},
		Text:   m.Text, Mentioned: true,
	}
}

// Send gives a part to those who listen to its conversation and returns when one of them has shown it. It waits
// two seconds at most; a part that is shown after that is not shown again to the same listener.
func (c *Channel) Send(ctx context.Context, part channels.Part) (string, error) {
	results := c.deliver(part)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	late := errors.New("the terminal is too slow")
	for range cap(results) {
		shown := false
		select {
		case shown = <-results:
		case <-timer.C:
			return "", &channels.SendError{Failure: channels.Temporary, Err: late}
		case <-ctx.Done():
			select {
			case shown = <-results: // it was shown and then we were stopped: once is enough
			default:
				return "", &channels.SendError{Failure: channels.Temporary, Err: ctx.Err()}
			}
		}
		if shown {
			return "", nil
		}
	}
	return "", &channels.SendError{Failure: channels.WindowClosed, Err: errors.New("nobody listens")}
}

// Show tells the listeners of a conversation how a turn stands. It never blocks.
func (c *Channel) Show(a channels.Address, p channels.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.listeners {
		if l.chat == a.Chat {
			l.show(p)
		}
	}
}
