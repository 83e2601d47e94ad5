package agent

import (
	"fmt"
	"hash/fnv"
	"sync"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/session"
)

// prefixes watches that within an epoch each request begins with the one before, whatever engine makes them.
type prefixes struct {
	mu     sync.Mutex
	last   map[session.Key]sent
	faults int
}

// sent is what the last request of a conversation was.
type sent struct {
	epoch    int64
	messages int
	hash     uint64
}

// check counts a fault when a request does not begin with the last one and no epoch start explains it.
func (p *prefixes) check(key session.Key, a engine.Assembly) (ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	messages := a.Request.Messages
	last, known := p.last[key]
	ok = !known || last.epoch != a.Epoch.ID ||
		last.messages <= len(messages) && last.hash == hashOf(a.Epoch, messages[:last.messages])
	if !ok {
		p.faults++
	}
	if p.last == nil || len(p.last) > 256 { // forgetting only means that a fault could go unseen
		p.last = map[session.Key]sent{}
	}
	p.last[key] = sent{a.Epoch.ID, len(messages), hashOf(a.Epoch, messages)}
	return ok
}

// count is the number of faults so far.
func (p *prefixes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults
}

func hashOf(epoch session.Epoch, messages []model.Message) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, epoch.Tools)
	for _, m := range messages {
		fmt.Fprintf(h, "\x00%s\x00%s\x00%s\x00%s", m.Role, m.Text, m.CallID, m.Name)
		for _, c := range m.Calls {
			fmt.Fprintf(h, "\x01%s\x01%s\x01%s", c.ID, c.Name, c.Arguments)
		}
	}
	return h.Sum64()
}
