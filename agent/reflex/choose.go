package reflex

import (
	"strings"
	"unicode/utf8"
)

// best chooses among the cells at the end of the sentence.
func (m *matcher) best() (Match, Result) {
	m.finish()
	best := int32(-1)
	for _, c := range m.ends {
		if best < 0 || m.before(c, best) {
			best = c
		}
	}
	if best < 0 {
		return Match{}, None
	}
	found := m.call(best)
	if m.cells[best].tie {
		return found, Tie
	}
	for _, c := range m.ends {
		if c == best || compare(m.cells[c], m.cells[best]) != 0 {
			continue
		}
		if other := m.call(c); m.cells[c].tie || other.Op != found.Op || other.Args != found.Args {
			return found, Tie
		}
	}
	return found, Matched
}

// finish collects the complete matches that count.
func (m *matcher) finish() {
	m.ends, m.vetoed = m.ends[:0], grow(m.vetoed, len(m.set.reflexes))
	for pos, ok := range m.tail {
		if !ok {
			continue
		}
		for c := m.lists[pos]; c >= 0; c = m.cells[c].next {
			p := m.program(c)
			st := &p.states[m.cells[c].state]
			switch {
			case !st.last || st.text && pos < len(m.tokens) && !m.tokens[pos].mark:
			case p.except:
				m.vetoed[p.reflex] = true
			case m.fits(c):
				m.ends = append(m.ends, c)
			}
		}
	}
	asks := m.asks()
	kept := m.ends[:0]
	for _, c := range m.ends {
		if r := m.program(c).reflex; !m.vetoed[r] && !(asks && m.set.reflexes[r].Statement) {
			kept = append(kept, c)
		}
	}
	m.ends = kept
}

func (m *matcher) program(c int32) *program { return &m.set.programs[m.picked[m.cells[c].candidate]] }

// before tells whether the cell a wins over b: by score, then by the order of templates.
func (m *matcher) before(a, b int32) bool {
	order := compare(m.cells[a], m.cells[b])
	return order < 0 || order == 0 && m.picked[m.cells[a].candidate] < m.picked[m.cells[b].candidate]
}

// asks tells whether the sentence is, or holds, a question.
func (m *matcher) asks() bool {
	switch m.tokens[len(m.tokens)-1].text {
	case "吗", "呢", "么":
		return true
	}
	end := strings.TrimRight(m.text, " \"'”’」』)）")
	return strings.HasSuffix(end, "?") || strings.Contains(m.text, "? ") || strings.Contains(m.text, "？")
}

// trace finds the places of the slots of a match by walking back.
func (m *matcher) trace(c int32) {
	p := m.program(c)
	m.places = grow(m.places, len(p.slots))
	for c >= 0 && m.cells[c].prev >= 0 {
		from, to := m.cells[c].prev, m.cells[c].pos
		st := &p.states[m.cells[c].state]
		for st.text && m.cells[from].state == m.cells[c].state {
			from = m.cells[from].prev
		}
		if st.word == 0 {
			m.places[st.slot] = place{m.cells[from].pos, to}
		}
		c = from
	}
}

// fits tells whether the texts of a match are within their bounds.
func (m *matcher) fits(c int32) bool {
	m.trace(c)
	for i, b := range m.program(c).slots {
		t := &m.set.types[b.kind]
		if t.base == "text" && utf8.RuneCountInString(m.original(m.places[i])) > int(t.top) {
			return false
		}
	}
	return true
}

// original returns a text slot as the person wrote it, with its quotes but without the punctuation that parts it from
// the sentence around it.
func (m *matcher) original(p place) string {
	from, to := 0, len(m.text)
	if p.from > 0 {
		from = m.tokens[p.from-1].end
	}
	if int(p.to) < len(m.tokens) {
		to = m.tokens[p.to].start
	}
	start, end := m.tokens[p.from].start, m.tokens[p.to-1].end
	before := strings.TrimLeft(m.text[from:start], " \t\u3000:：,，、.。;；!！-—)）")
	after := strings.TrimRight(m.text[end:to], " \t\u3000,，、.。…;；:：!！?？~～-—(（")
	return m.text[start-len(before) : end+len(after)]
}

// call makes the call of a match.
func (m *matcher) call(c int32) Match {
	p := m.program(c)
	r := &m.set.reflexes[p.reflex]
	found := Match{Reflex: r.ID, Template: p.template, Op: r.Op, Owner: r.Owner}
	m.trace(c)
	for i, b := range p.slots {
		t := &m.set.types[b.kind]
		if t.base == "text" {
			found.Slots = append(found.Slots, Slot{Name: b.name, Value: m.original(m.places[i])})
			continue
		}
		for _, h := range m.read(b.kind, m.places[i].from) {
			if h.end == int(m.places[i].to) {
				found.Slots = append(found.Slots, t.slot(b.name, h))
				break
			}
		}
	}
	found.Args = fill(r.Args, found.Slots)
	return found
}

// fill puts the values of slots into arguments.
func fill(args string, slots []Slot) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(args, "{")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		for _, s := range slots {
			if s.Name == name {
				out.WriteString(s.Value)
			}
		}
		args = after
	}
}
