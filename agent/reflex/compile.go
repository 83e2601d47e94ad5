package reflex

// program is one template as an automaton without empty edges: each state but the first stands for one word or slot
// of the template, and an edge leads to what may come next.
type program struct {
	reflex   int32
	template string
	except   bool // a match takes the reflex out
	states   []state
	edges    int
	byFirst  []int32 // the words that may come first; nil where a slot may
	openHead bool    // a text may come first
	slots    []boundSlot
}

type state struct {
	next  []int32
	word  int32 // of a word; 0 = a slot
	runes int32
	slot  int32 // index in program.slots
	text  bool  // a text slot: may take the next token too
	last  bool  // a match may end here
}

type boundSlot struct {
	name string
	kind int32 // index in Set.types
}

// fragment is a piece of an automaton: where it begins and ends, and whether it may be left out.
type fragment struct {
	first, last []int32
	empty       bool
}

// maxEdges bounds a template with long rows of optional words.
const maxEdges = 4096

// build turns nodes into states. The types of its slots must be known to the set.
func (p *program) build(l *loader, nodes []node) {
	p.states = []state{{}}
	all := p.sequence(l, nodes)
	p.join([]int32{0}, all.first)
	for _, q := range all.last {
		p.states[q].last = true
	}
}

func (p *program) sequence(l *loader, nodes []node) fragment {
	whole := fragment{empty: true}
	for _, n := range nodes {
		f := p.node(l, n)
		p.join(whole.last, f.first)
		if whole.empty {
			whole.first = append(whole.first, f.first...)
		}
		if f.empty {
			whole.last = append(whole.last, f.last...)
		} else {
			whole.last = f.last
		}
		whole.empty = whole.empty && f.empty
	}
	return whole
}

func (p *program) node(l *loader, n node) fragment {
	if n.branches != nil {
		f := fragment{empty: n.optional}
		for _, b := range n.branches {
			inner := p.sequence(l, b)
			f.first = append(f.first, inner.first...)
			f.last = append(f.last, inner.last...)
			f.empty = f.empty || inner.empty
		}
		return f
	}
	var st state
	if n.slot == nil {
		st = state{word: l.intern(n.word), runes: n.runes}
	} else {
		k := l.kinds[n.slot.kind]
		st = state{slot: int32(len(p.slots)), text: l.set.types[k].base == "text"}
		p.slots = append(p.slots, boundSlot{n.slot.name, k})
		if st.text {
			p.edges++
		}
	}
	q := int32(len(p.states))
	p.states = append(p.states, st)
	return fragment{first: []int32{q}, last: []int32{q}}
}

func (p *program) join(from, to []int32) {
	for _, q := range from {
		p.states[q].next = append(p.states[q].next, to...)
		p.edges += len(to)
	}
}

// begin fills in what the index needs.
func (p *program) begin() {
	open := false
	for _, q := range p.states[0].next {
		st := p.states[q]
		open = open || st.word == 0
		p.openHead = p.openHead || st.text
		p.byFirst = append(p.byFirst, st.word)
	}
	if open {
		p.byFirst = nil
	}
}
