package reflex

// trie holds phrases of words, each with a value. Its walk costs the longest phrase, whatever their number.
type trie struct {
	edges  map[edge]int32
	values []string // by node; node 0 is the root
	ends   []bool
}

type edge struct{ node, word int32 }

// add puts a phrase in; ok is false where it is there with another value.
func (t *trie) add(words []int32, value string) (ok bool) {
	if t.edges == nil {
		t.edges, t.values, t.ends = map[edge]int32{}, []string{""}, []bool{false}
	}
	node := int32(0)
	for _, w := range words {
		next, found := t.edges[edge{node, w}]
		if !found {
			next = int32(len(t.values))
			t.edges[edge{node, w}] = next
			t.values, t.ends = append(t.values, ""), append(t.ends, false)
		}
		node = next
	}
	if t.ends[node] {
		return t.values[node] == value
	}
	t.values[node], t.ends[node] = value, true
	return true
}

// hits returns the ends of all phrases that begin at token i.
func (t *trie) hits(tokens []token, i int, out []hit) []hit {
	node := int32(0)
	for ; i < len(tokens); i++ {
		next, ok := t.edges[edge{node, tokens[i].word}]
		if !ok {
			break
		}
		if node = next; t.ends[node] {
			out = append(out, hit{end: i + 1, id: t.values[node]})
		}
	}
	return out
}
