package reflex

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a template that was not accepted. Its text says where, and what would be right.
type Error struct {
	Reflex   string
	Template string // or example
	Rune     int    // position in the template, from 1; 0 = the whole of it
	Problem  string
}

func (e *Error) Error() string {
	where := ""
	if e.Rune > 0 {
		where = fmt.Sprintf(", rune %d", e.Rune)
	}
	return fmt.Sprintf("reflex %s, %q%s: %s", e.Reflex, e.Template, where, e.Problem)
}

// Limits of a template.
const (
	maxTemplate = 256 // runes as written
	maxWords    = 256 // words and slots with all rules in place
	maxDepth    = 4   // of rules
	maxNesting  = 16  // of brackets
)

// node is a piece of a template: a word, a slot, or branches of which one is taken.
type node struct {
	word     string
	runes    int32
	slot     *slot
	branches [][]node // of an alternative
	optional bool     // the alternative may be left out
}

type slot struct {
	name string
	kind string // the type as written, without spaces
}

// parser reads one template or one rule within it.
type parser struct {
	rules    map[string]string
	text     []rune
	i        int
	depth    int    // of rules
	nesting  int    // of brackets, rules included
	words    *int   // so far, with all rules in place
	joinable bool   // the item before ended right here in a letter
	rule     string // whose text this is
	scan     *scanner
}

// problem is a parse error before its template is known.
type problem struct {
	at   int
	text string
}

func (p problem) Error() string { return p.text }

func (p *parser) fail(at int, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if p.rule != "" {
		return problem{0, fmt.Sprintf("rule <%s>, rune %d: %s", p.rule, at+1, text)}
	}
	return problem{at + 1, text}
}

// parse reads a whole template.
func parse(template string, rules map[string]string) ([]node, error) {
	if n := utf8.RuneCountInString(template); n > maxTemplate {
		return nil, problem{maxTemplate + 1, fmt.Sprintf("longer than %d runes; split it into two templates", maxTemplate)}
	}
	p := parser{rules: rules, text: []rune(template), words: new(int), scan: &scanner{}}
	return p.all()
}

// all reads the text to its end.
func (p *parser) all() ([]node, error) {
	nodes, err := p.sequence()
	if err != nil {
		return nil, err
	}
	if p.i < len(p.text) {
		return nil, p.fail(p.i, "%q closes nothing; write \\%c for the sign itself", p.text[p.i], p.text[p.i])
	}
	if len(nodes) == 0 {
		return nil, p.fail(0, "empty; write at least one word")
	}
	return nodes, nil
}

// sequence reads items up to the end or a sign that ends a branch.
func (p *parser) sequence() ([]node, error) {
	var nodes []node
	for p.i < len(p.text) {
		r := p.text[p.i]
		var more []node
		var err error
		switch {
		case r == ']' || r == ')' || r == '|' || r == '}' || r == '>':
			return nodes, nil
		case isSpace(r):
			p.i++
			p.joinable = false
			continue
		case r == '[' || r == '(' || r == '<':
			if more, err = p.group(r); err == nil && p.i < len(p.text) && plain(p.text[p.i]) && !isHan(p.text[p.i]) {
				err = p.fail(p.i, "part of a word cannot be left out; write the whole words: (light|lights)")
			}
		case r == '{':
			more, err = p.slot()
		default:
			more, err = p.literal()
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, more...)
	}
	return nodes, nil
}

// plain tells the runes of words.
func plain(r rune) bool {
	r = fold(r)
	return isLetter(r) || isDigit(r) || isHan(r) || r == '\''
}

// literal reads a run of words, or one escaped sign.
func (p *parser) literal() ([]node, error) {
	start := p.i
	for p.i < len(p.text) && plain(p.text[p.i]) {
		p.i++
	}
	source := string(p.text[start:p.i])
	switch {
	case p.i > start:
		p.joinable = !isHan(p.text[p.i-1])
	case p.text[p.i] != '\\':
		return nil, p.fail(p.i, "%q is no word; leave punctuation out, write the orders of (a; b) as two templates, "+
			"and \\%c for the sign itself", p.text[p.i], p.text[p.i])
	case p.i+1 == len(p.text):
		return nil, p.fail(p.i, "nothing follows the backslash")
	default:
		source = string(p.text[p.i+1])
		p.i += 2
		p.joinable = false
	}
	tokens := p.scan.scan(source)
	if len(tokens) == 0 {
		return nil, p.fail(start, "%q never counts in a sentence; leave it out", source)
	}
	nodes := make([]node, len(tokens))
	for k, t := range tokens {
		nodes[k] = node{word: t.text, runes: t.runes}
	}
	return nodes, p.count(start, len(nodes))
}

// count adds words, so that rules within rules stay bounded.
func (p *parser) count(at, n int) error {
	if *p.words += n; *p.words > maxWords {
		return p.fail(at, "more than %d words with all rules in place; split it into two templates", maxWords)
	}
	return nil
}

// group reads [ ], ( ) or < >.
func (p *parser) group(open rune) ([]node, error) {
	start := p.i
	if p.joinable {
		return nil, p.fail(start, "part of a word cannot be left out; write the whole words: (light|lights)")
	}
	if p.nesting++; p.nesting > maxNesting {
		return nil, p.fail(start, "brackets nested more than %d deep", maxNesting)
	}
	defer func() { p.nesting-- }()
	if open == '<' {
		return p.expand()
	}
	n := node{optional: open == '['}
	closing := map[rune]rune{'[': ']', '(': ')'}[open]
	for {
		p.i++
		p.joinable = false
		from := p.i
		branch, err := p.sequence()
		switch {
		case err != nil:
			return nil, err
		case p.i == len(p.text):
			return nil, p.fail(start, "%q is not closed by %q", open, closing)
		case len(branch) == 0:
			return nil, p.fail(from, "an empty branch; write [a|b] for what may be left out")
		}
		n.branches = append(n.branches, branch)
		if p.text[p.i] != '|' {
			break
		}
	}
	if p.text[p.i] != closing {
		return nil, p.fail(p.i, "%q instead of %q", p.text[p.i], closing)
	}
	p.i++
	p.joinable = false
	if at := slotIn(n.branches); at != nil {
		return nil, p.fail(start, "the slot {%s} stands inside brackets; write two templates instead", at.name)
	}
	return []node{n}, nil
}

// slotIn returns a slot that stands in branches. Inner groups were checked before.
func slotIn(branches [][]node) *slot {
	for _, b := range branches {
		for _, n := range b {
			if n.slot != nil {
				return n.slot
			}
		}
	}
	return nil
}

// expand reads <name> and puts the rule in its place.
func (p *parser) expand() ([]node, error) {
	start := p.i
	name, err := p.until('>')
	if err != nil {
		return nil, err
	}
	text, ok := p.rules[name]
	switch {
	case !ok:
		return nil, p.fail(start, "there is no rule <%s>", name)
	case p.depth == maxDepth:
		return nil, p.fail(start, "rules nested more than %d deep", maxDepth)
	case utf8.RuneCountInString(text) > maxTemplate:
		return nil, p.fail(start, "the rule <%s> is longer than %d runes", name, maxTemplate)
	}
	inner := parser{rules: p.rules, text: []rune(text), depth: p.depth + 1, nesting: p.nesting, words: p.words, rule: name,
		scan: p.scan}
	p.joinable = false
	return inner.all()
}

// until reads a name between the sign at i and a closing one.
func (p *parser) until(closing rune) (string, error) {
	start := p.i
	for p.i++; p.i < len(p.text); p.i++ {
		if p.text[p.i] == closing {
			p.i++
			return strings.ReplaceAll(string(p.text[start+1:p.i-1]), " ", ""), nil
		}
	}
	return "", p.fail(start, "%q is not closed by %q", p.text[start], closing)
}

// slot reads {name:type}.
func (p *parser) slot() ([]node, error) {
	start := p.i
	source, err := p.until('}')
	if err != nil {
		return nil, err
	}
	name, kind, ok := strings.Cut(source, ":")
	if !ok {
		return nil, p.fail(start, "a slot is {name:type}")
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || name == "" {
		return nil, p.fail(start, "a slot's name has lower-case letters, digits and _, not %q", name)
	}
	if _, err := parseType(kind); err != nil {
		return nil, p.fail(start, "slot {%s}: %v", name, err)
	}
	p.joinable = false
	return []node{{slot: &slot{name, kind}}}, p.count(start, 1)
}
