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
}

// push hands an accepted row to its conversation's lane, or runs it at once where it must not wait behind a turn.
func (a *Agent) push(row session.Pending) {
	key := session.Route(a.persona.ID, row.Inbound, row.Decision.Owner)
	if a.actsNow(row) {
		a.work.Go(func() { a.turn(a.ctx, key, row) })
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
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
			a.turn(ctx, key, row)
			<-a.slots
		case <-a.ctx.Done():
		}
		stop(nil)
	}
}

// Stop ends the running turn of a conversation and says whether there was one.
func (a *Agent) Stop(key session.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.lanes[key]
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
