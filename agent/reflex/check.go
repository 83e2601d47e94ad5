package reflex

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// checkSlots keeps text slots apart and names unique.
func checkSlots(nodes []node) error {
	seen := map[string]bool{}
	texts, touching, first := 0, false, true
	for i, n := range nodes {
		if n.slot == nil {
			if !n.optional {
				touching, first = false, false
			}
			continue
		}
		if seen[n.slot.name] {
			return fmt.Errorf("two slots are named {%s}", n.slot.name)
		}
		seen[n.slot.name] = true
		text := strings.HasPrefix(n.slot.kind, "text(")
		switch {
		case text && touching:
			return fmt.Errorf("nothing parts the texts before and in {%s}; put a word between them", n.slot.name)
		case text && first && literalRun(nodes[i+1:]) < 2:
			return fmt.Errorf("begins with the text {%s}; a word of two or more runes must follow it", n.slot.name)
		}
		if text {
			texts++
		}
		touching, first = text, false
	}
	if texts > 2 {
		return errors.New("more than two text slots")
	}
	return nil
}

// literalRun counts the runes of the words that nodes begin with.
func literalRun(nodes []node) (runes int32) {
	for _, n := range nodes {
		if n.word == "" {
			break
		}
		runes += n.runes
	}
	return runes
}

// mandatory returns sets of words; each match has a word of each set.
func (l *loader) mandatory(nodes []node) (sets [][]string) {
	for _, n := range nodes {
		switch {
		case n.word != "" && l.telling(n):
			sets = append(sets, []string{n.word})
		case n.branches != nil && !n.optional:
			var union []string
			for _, b := range n.branches {
				inner := l.mandatory(b)
				if len(inner) == 0 {
					union = nil
					break
				}
				union = append(union, inner[0]...)
			}
			if union != nil {
				sets = append(sets, union)
			}
		}
	}
	return sets
}

// telling tells whether a word says something by itself.
func (l *loader) telling(n node) bool {
	r := []rune(n.word)[0]
	return !l.common[n.word] && (isHan(r) || isLetter(r) && n.runes >= 2)
}

// checkArgs refuses arguments that name a slot which no template gives.
func checkArgs(r Reflex, slots string) error {
	for rest := r.Args; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			return nil
		}
		name, tail, ok := strings.Cut(after, "}")
		if !ok || !strings.Contains(slots, "{"+name+":") {
			return &Error{Reflex: r.ID, Template: r.Args, Problem: fmt.Sprintf("the arguments name {%s}, but the slots are (%s)", name, slots)}
		}
		rest = tail
	}
}

// check matches all examples with all reflexes loaded.
func (s *Set) check() error {
	now := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC) // a Monday's first moment: all of its times are ahead
	for _, r := range s.reflexes {
		won := map[string]bool{}
		for _, language := range slices.Sorted(maps.Keys(r.Examples)) {
			for _, example := range r.Examples[language] {
				m, result := s.Match(example, now)
				switch {
				case result == Tie:
					return &Error{Reflex: r.ID, Template: example, Problem: "this example fits another reflex as well; make one of them narrower"}
				case result == None:
					return &Error{Reflex: r.ID, Template: example, Problem: "this example fits none of its templates"}
				case m.Reflex != r.ID:
					return &Error{Reflex: r.ID, Template: example, Problem: fmt.Sprintf("this example is taken by reflex %s (%q)", m.Reflex, m.Template)}
				}
				won[m.Template] = true
			}
		}
		for _, language := range slices.Sorted(maps.Keys(r.Templates)) {
			for _, template := range r.Templates[language] {
				if len(r.Examples) > 0 && !won[template] {
					return &Error{Reflex: r.ID, Template: template, Problem: "no example is won by this template; add one"}
				}
			}
		}
	}
	return nil
}
