package reflex

import (
	"time"
)

// cell says that the automaton of a candidate can be in a state after some tokens, and the best way it got there.
type cell struct {
	candidate, state int32
	text, literal    int32  // runes taken by text slots (fewer is better), then by words (more is better)
	pos              int32  // tokens taken
	prev             int32  // cell before; -1 = none
	next             int32  // another cell of the same position; -1 = none
	slots            uint32 // a hash of where the slots begin and end
	tie              bool   // an equally good way has other slots
}

// matcher runs the automata of all candidates side by side over the tokens. Its slices are kept between sentences.
type matcher struct {
	scanner
	grid
	outcome
	set   *Set
	now   time.Time
	text  string
	head  []bool // by position: only edge words stand before it
	tail  []bool // by position: only edge words follow
	reads []span // by position and type: the hits there
	hits  []hit
	steps int // edges tried
}

// grid is the states of all candidates over the positions.
type grid struct {
	chosen []bool  // by program: is a candidate
	picked []int32 // the candidates
	base   []int32 // by candidate: its first state among those of all candidates
	states int32   // of all candidates
	cells  []cell
	lookup []int32 // by position and state: cell + 1; 0 = none
	lists  []int32 // by position: a cell; -1 = none
}

// outcome is what the grid says at the end.
type outcome struct {
	ends   []int32 // cells in which a template is complete
	places []place // of the slots of one match
	vetoed []bool  // by reflex: an exception matched
}

// place is a range of tokens.
type place struct{ from, to int32 }

// span is a range of hits; done tells that they were read.
type span struct {
	from, to int32
	done     bool
}

func (m *matcher) match(s *Set, text string, now time.Time) (Match, Result) {
	m.set, m.text, m.now, m.steps = s, text, now, 0
	tokens := m.scan(text)
	for i := range tokens {
		tokens[i].word = s.words[tokens[i].text]
	}
	if len(tokens) == 0 {
		return Match{}, None
	}
	m.edges()
	m.pick()
	if len(m.picked) == 0 {
		return Match{}, None
	}
	m.run()
	return m.best()
}

// grow returns a zeroed slice of n elements, in the old one's memory where that suffices.
func grow[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

// edges finds where a sentence may begin and end, past edge words.
func (m *matcher) edges() {
	n := len(m.tokens)
	m.head, m.tail = grow(m.head, n+1), grow(m.tail, n+1)
	m.head[0], m.tail[n] = true, true
	for i := range n {
		if m.head[i] {
			m.hits = m.set.heads.hits(m.tokens, i, m.hits[:0])
			for _, h := range m.hits {
				m.head[h.end] = true
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		m.hits = m.set.tails.hits(m.tokens, i, m.hits[:0])
		for _, h := range m.hits {
			m.tail[i] = m.tail[i] || m.tail[h.end]
		}
	}
}

// pick collects the candidates from the index.
func (m *matcher) pick() {
	m.chosen, m.picked = grow(m.chosen, len(m.set.programs)), m.picked[:0]
	m.base, m.states = m.base[:0], 0
	add := func(programs []int32) {
		for _, p := range programs {
			if !m.chosen[p] {
				m.chosen[p] = true
				m.picked = append(m.picked, p)
				m.base = append(m.base, m.states)
				m.states += int32(len(m.set.programs[p].states))
			}
		}
	}
	for i := range m.tokens {
		w := m.tokens[i].word
		if w == 0 {
			continue
		}
		if m.head[i] {
			add(m.set.first[w])
		}
		add(m.set.anywhere[w])
	}
}

// run fills in the cells, position by position.
func (m *matcher) run() {
	n := len(m.tokens)
	m.cells, m.hits = m.cells[:0], m.hits[:0]
	m.lookup = grow(m.lookup, (n+1)*int(m.states))
	m.reads = grow(m.reads, n*len(m.set.types))
	m.lists = grow(m.lists, n+1)
	for i := range m.lists {
		m.lists[i] = -1
	}
	for i := range n {
		if m.head[i] {
			m.start(int32(i))
		}
		for c := m.lists[i]; c >= 0; c = m.cells[c].next {
			m.step(c)
		}
	}
}

// start puts the candidates at the beginning of the sentence at token i.
func (m *matcher) start(i int32) {
	for c, p := range m.picked {
		if i == 0 || !m.set.programs[p].openHead || m.tokens[i].mark {
			m.reach(cell{candidate: int32(c), pos: i, prev: -1})
		}
	}
}

// step follows the edges out of a cell.
func (m *matcher) step(index int32) {
	from := m.cells[index]
	from.prev = index
	p := &m.set.programs[m.picked[from.candidate]]
	t := &m.tokens[from.pos]
	if p.states[from.state].text {
		m.steps++
		to := from
		to.pos++
		to.text += t.runes
		m.reach(to)
	}
	for _, q := range p.states[from.state].next {
		m.steps++
		st := &p.states[q]
		to := from
		to.state = q
		switch {
		case st.word != 0:
			if st.word == t.word {
				to.pos++
				to.literal += st.runes
				m.reach(to)
			}
		case st.text:
			to.pos++
			to.text += t.runes
			to.slots = mix(to.slots, q, from.pos, 0)
			m.reach(to)
		default:
			for _, h := range m.read(p.slots[st.slot].kind, from.pos) {
				m.steps++
				to.pos = int32(h.end)
				to.slots = mix(from.slots, q, from.pos, to.pos)
				m.reach(to)
			}
		}
	}
}

// mix adds the place of a slot to a hash (FNV-1a over the values).
func mix(hash uint32, values ...int32) uint32 {
	for _, v := range values {
		hash = (hash ^ uint32(v+1)) * 16777619
	}
	return hash
}

// reach records a cell unless a better one is there.
func (m *matcher) reach(c cell) {
	at := &m.lookup[c.pos*m.states+m.base[c.candidate]+c.state]
	if *at == 0 {
		c.next = m.lists[c.pos]
		m.lists[c.pos] = int32(len(m.cells))
		m.cells = append(m.cells, c)
		*at = int32(len(m.cells))
		return
	}
	old := &m.cells[*at-1]
	switch order := compare(c, *old); {
	case order < 0:
		c.next = old.next
		*old = c
	case order == 0:
		old.tie = old.tie || c.tie || old.slots != c.slots
	}
}

// compare is negative where a is better than b.
func compare(a, b cell) int {
	if a.text != b.text {
		return int(a.text - b.text)
	}
	return int(b.literal - a.literal)
}

// read returns the hits of a slot type at token i, read once for all candidates.
func (m *matcher) read(kind, i int32) []hit {
	r := &m.reads[int(i)*len(m.set.types)+int(kind)]
	if !r.done {
		from := len(m.hits)
		m.hits = m.set.types[kind].hits(m.tokens, int(i), m.now, m.hits)
		*r = span{int32(from), int32(len(m.hits)), true}
	}
	return m.hits[r.from:r.to]
}
