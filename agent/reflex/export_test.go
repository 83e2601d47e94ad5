package reflex

import "time"

// Cost matches a text and returns the edges tried, and the bound: positions times edges of the candidates times hits.
func (s *Set) Cost(text string, now time.Time) (steps, bound int) {
	var m matcher
	m.match(s, text, now)
	edges := 0
	for _, p := range m.picked {
		edges += s.programs[p].edges
	}
	return m.steps, len(m.tokens) * edges * (1 + maxHits)
}

// Parse is the template parser alone.
func Parse(template string, rules map[string]string) error {
	_, err := parse(template, rules)
	return err
}
