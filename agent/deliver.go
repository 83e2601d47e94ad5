package agent

import (
	"context"
	"math/rand/v2"
	"time"

	"pinch/channels"
)

const (
	sendBackoff    = time.Second
	maxSendBackoff = 5 * time.Minute
)

// delivery is the sending side of one channel.
type delivery struct {
	channel channels.Channel
	kick    chan struct{}
}

// wake makes a channel's deliverer look at the outbox.
func (a *Agent) wake(channel string) {
	d := a.channels[channel]
	if d == nil {
		return
	}
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// deliver sends the committed parts of one channel, in order an address, until ctx ends.
func (a *Agent) deliver(ctx context.Context, d *delivery) {
	for ctx.Err() == nil {
		due, next, err := a.store.Outbox.Due(ctx, d.channel.Name(), time.Now())
		if err != nil && ctx.Err() == nil {
			a.log.Error("reading the outbox", "channel", d.channel.Name(), "error", err)
			next = time.Now().Add(sendBackoff)
		}
		for _, part := range due {
			a.send(ctx, d.channel, part)
		}
		if len(due) == 0 {
			wait(ctx, d.kick, next)
		}
	}
}

// wait returns when kicked, at a time (none when zero), or when ctx ends.
func wait(ctx context.Context, kick <-chan struct{}, at time.Time) {
	var timer <-chan time.Time
	if !at.IsZero() {
		t := time.NewTimer(time.Until(at))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-kick:
	case <-timer:
	case <-ctx.Done():
	}
}

// send delivers one part and records what came of it.
func (a *Agent) send(ctx context.Context, ch channels.Channel, part channels.Part) {
	id, err := ch.Send(ctx, part)
	if err == nil {
		a.record(ctx, part.ID, func(ctx context.Context) error { return a.store.Outbox.Sent(ctx, part.ID, id) })
		return
	}
	until := time.Now()
	switch f := channels.FailureOf(err); f.Failure {
	case channels.Permanent:
		until = time.Time{}
		a.log.Warn("giving a part up", "channel", ch.Name(), "part", part.ID, "error", err)
	case channels.WindowClosed:
		until = channels.UntilHeard
	default:
		until = until.Add(max(f.After, backoff(part.Tries)))
		a.log.Warn("putting a part off", "channel", ch.Name(), "part", part.ID, "until", until, "error", err)
	}
	a.record(ctx, part.ID, func(ctx context.Context) error { return a.store.Outbox.Defer(ctx, part.ID, until) })
}

// record notes what came of a part. Where that fails, on a full disk for one, it tries until it works: the part would
// be sent again otherwise, and again. What the platform did is recorded even when we are asked to stop meanwhile.
func (a *Agent) record(ctx context.Context, part int64, note func(context.Context) error) {
	err := note(context.WithoutCancel(ctx))
	if err != nil {
		a.log.Error("recording what came of a part", "part", part, "error", err)
	}
	for err != nil && ctx.Err() == nil {
		wait(ctx, nil, time.Now().Add(sendBackoff))
		err = note(context.WithoutCancel(ctx))
	}
}

// backoff doubles from a second with each try, with jitter, up to five minutes.
func backoff(tries int) time.Duration {
	d := min(sendBackoff<<min(tries, 16), maxSendBackoff)
	return d/2 + rand.N(d/2+1)
}

// split makes the parts of a reply: by the channel's own limits where it has some.
func (a *Agent) split(r channels.Reply) []channels.Part {
	if d := a.channels[r.Address.Channel]; d != nil {
		if s, ok := d.channel.(channels.Splitter); ok {
			return s.Split(r)
		}
	}
	return []channels.Part{{Address: r.Address, ReplyTo: r.ReplyTo, Text: r.Text}}
}

// shower returns what shows a turn's progress at an address; nothing, where the channel cannot.
func (a *Agent) shower(addr channels.Address) func(channels.Progress) {
	if d := a.channels[addr.Channel]; d != nil {
		if s, ok := d.channel.(channels.Shower); ok {
			return func(p channels.Progress) { s.Show(addr, p) }
		}
	}
	return func(channels.Progress) {}
}
