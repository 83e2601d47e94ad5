package agent

import (
	"context"
	"errors"
	"fmt"

	"pinch/agent/command"
	"pinch/agent/session"
)

// errStopped ends a turn because a person said so.
var errStopped = errors.New("stopped by the person")

// lane owns one conversation's turns, in order. It lives while something waits.
type lane struct {
	queue []session.Pending
	stop  context.CancelCauseFunc // of the running turn
	rest  context.CancelFunc      // of what is done after it while nobody waits
}

// push hands an accepted row to its conversation's lane, or runs it at once where it must not wait behind a turn.
func (a *Agent) push(row session.Pending) {
	key := session.Route(a.persona.ID, row.Inbound, row.Decision.Owner)
	if a.actsNow(row) {
		a.work.Go(func() { a.turn(a.ctx, a.newTurn(key, row)) })
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.lanes {
		if l.rest != nil { // a person waits: what runs meanwhile can wait longer
			l.rest()
		}
	}
	if l, ok := a.lanes[key]; ok {
		l.queue = append(l.queue, row)
		return
	}
	l := &lane{queue: []session.Pending{row}}
	a.lanes[key] = l
	a.work.Go(func() { a.run(key, l) })
}

// actsNow reports whether a row is a command that acts past the lane, such as /stop.
func (a *Agent) actsNow(row session.Pending) bool {
	name, _, ok := command.Parse(row.Inbound.Text)
	if !ok {
		return false
	}
	op, ok := a.table.Find(name)
	return ok && op.Now
}

// run takes a lane's rows one by one until none waits.
func (a *Agent) run(key session.Key, l *lane) {
	for {
		a.mu.Lock()
		if len(l.queue) == 0 || a.ctx.Err() != nil {
			delete(a.lanes, key)
			a.mu.Unlock()
			return
		}
		row := l.queue[0]
		l.queue = l.queue[1:]
		ctx, stop := context.WithCancelCause(a.ctx)
		l.stop = stop
		a.mu.Unlock()

		select {
		case a.slots <- struct{}{}:
			t := a.newTurn(key, row)
			a.turn(ctx, t)
			a.rest(l, t)
			<-a.slots
		case <-a.ctx.Done():
		}
		stop(nil)
	}
}

// rest does what is due after a turn while no conversation has anything to do. A new message ends it.
func (a *Agent) rest(l *lane, t *turn) {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	a.mu.Lock()
	l.stop = nil
	quiet := true
	for _, other := range a.lanes {
		quiet = quiet && len(other.queue) == 0 && (other == l || other.stop == nil)
	}
	if quiet {
		l.rest = cancel
	}
	a.mu.Unlock()
	if quiet {
		a.afterTurn(ctx, t)
	}
	a.mu.Lock()
	l.rest = nil
	a.mu.Unlock()
}

// Stop ends the running turn of a conversation and says whether there was one.
func (a *Agent) Stop(key session.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.lanes[key]
	if ok && l.rest != nil {
		l.rest()
	}
	if !ok || l.stop == nil {
		return false
	}
	l.stop(errStopped)
	return true
}

// guard turns a panic in a turn into an error: one bad message must not end the process.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal fault: %v", v)
		}
	}()
	return f()
}
