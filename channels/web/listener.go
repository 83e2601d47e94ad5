package web

import (
	"slices"

	"pinch/channels"
)

// listener is one Say in progress; the channel's mutex guards it.
type listener struct {
	chat  string
	queue []item
	busy  bool           // the first of the queue is being shown
	shown map[int64]bool // parts, by their id
	wake  chan struct{}  // holds one signal: the queue is not empty
}

// item is one event that waits to be shown. Each result channel gets exactly one answer.
type item struct {
	event  channels.Event
	result chan<- bool // nil for progress; has room for the answer
}

// listen adds a listener to a conversation.
func (c *Channel) listen(chat string) *listener {
	l := &listener{chat: chat, shown: map[int64]bool{}, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, l)
	return l
}

// leave removes a listener; what it did not show is not delivered by it.
func (c *Channel) leave(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = slices.DeleteFunc(c.listeners, func(x *listener) bool { return x == l })
	for _, it := range l.queue {
		if it.result != nil {
			it.result <- false
		}
	}
	l.queue = nil
}

// next returns the first event that waits for a listener. It stays in the queue until done.
func (c *Channel) next(l *listener) (channels.Event, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(l.queue) == 0 {
		return channels.Event{}, false
	}
	l.busy = true
	return l.queue[0].event, true
}

// done takes the event of next, which was shown, from the queue.
func (c *Channel) done(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	it := l.queue[0]
	l.queue, l.busy = slices.Delete(l.queue, 0, 1), false
	if it.result == nil {
		return
	}
	if id := it.event.Part.ID; id != 0 {
		l.shown[id] = true
	}
	it.result <- true
}

// deliver queues a part with each listener of its conversation. The returned channel has the capacity of their
// number and gets one answer from each.
func (c *Channel) deliver(part channels.Part) <-chan bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var to []*listener
	for _, l := range c.listeners {
		if l.chat == part.Address.Chat {
			to = append(to, l)
		}
	}
	results := make(chan bool, len(to))
	for _, l := range to {
		l.put(part, results)
	}
	return results
}

// put queues a part once, however often it is sent.
func (l *listener) put(part channels.Part, result chan<- bool) {
	if l.shown[part.ID] {
		result <- true
		return
	}
	if i := slices.IndexFunc(l.queue, func(it item) bool {
		return it.event.Part != nil && part.ID != 0 && it.event.Part.ID == part.ID
	}); i >= 0 {
		l.queue[i].result <- false // the Send before this one has given up
		l.queue[i].result = result
		return
	}
	l.push(item{channels.Event{Part: &part}, result})
}

// show queues progress. What a slow listener has not seen yet is merged: streamed text grows, the rest is replaced
// by what is newer.
func (l *listener) show(p channels.Progress) {
	if n := len(l.queue); n > 1 || n == 1 && !l.busy {
		if last := l.queue[n-1].event.Progress; last != nil && last.Phase == p.Phase && slices.Equal(last.Answers, p.Answers) {
			if p.Phase == channels.Writing && len(last.Text) < mergeMost {
				p.Text = last.Text + p.Text
			}
			l.queue[n-1].event.Progress = &p
			return
		}
		if n >= backlog && p.Phase != channels.Done {
			return
		}
	}
	l.push(item{event: channels.Event{Progress: &p}})
}

func (l *listener) push(it item) {
	l.queue = append(l.queue, it)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
