package reflex

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// headPhrases may stand before any sentence and tailPhrases behind it. They are never taken out of its middle, and
// next to a text slot they count as text unless punctuation parts them from it.
var (
	headPhrases = []string{"please", "can you", "could you", "would you", "will you", "hey", "hi", "hello", "ok", "okay",
		"请", "请你", "请问", "麻烦", "麻烦你", "帮我", "帮忙", "你好", "能不能", "可以", "你能", "你可以"}
	tailPhrases = []string{"please", "thanks", "thank you", "thanks a lot", "谢谢", "谢谢你", "多谢", "吧"}
)

// loader builds a Set.
type loader struct {
	set    *Set
	lists  Lists
	rules  map[string]string
	kinds  map[string]int32 // types by their source
	common map[string]bool  // words of the edge phrases
	count  map[string]int   // how many templates must have a word
	musts  [][][]string     // by program: sets of words, one of each set is in every match
	scan   scanner
}

// New loads reflexes. Rules are named pieces of templates, written <name> in them. It refuses templates that break the
// rules of the language and sets in which an example is not won by its own reflex; such an error is an *Error.
func New(reflexes []Reflex, lists Lists, rules map[string]string) (*Set, error) {
	s := &Set{reflexes: reflexes, words: map[string]int32{}, first: map[int32][]int32{}, anywhere: map[int32][]int32{},
		scratch: &sync.Pool{New: func() any { return &matcher{} }}}
	l := loader{set: s, lists: lists, rules: rules, kinds: map[string]int32{}, common: map[string]bool{}, count: map[string]int{}}
	for _, p := range headPhrases {
		s.heads.add(l.edgePhrase(p), "")
	}
	for _, p := range tailPhrases {
		s.tails.add(l.edgePhrase(p), "")
	}
	ids := map[string]bool{}
	for i, r := range reflexes {
		if r.ID == "" || r.Op == "" || ids[r.ID] {
			return nil, &Error{Reflex: r.ID, Problem: "needs an ID of its own and an operation"}
		}
		ids[r.ID] = true
		if err := l.reflex(int32(i)); err != nil {
			return nil, err
		}
	}
	l.index()
	return s, s.check()
}

func (l *loader) edgePhrase(p string) []int32 {
	words := l.phrase(p)
	for _, t := range l.scan.tokens {
		l.common[t.text] = true
	}
	return words
}

// phrase returns the words of a text.
func (l *loader) phrase(text string) []int32 {
	var words []int32
	for _, t := range l.scan.scan(text) {
		words = append(words, l.intern(t.text))
	}
	return words
}

func (l *loader) intern(word string) int32 {
	if _, ok := l.set.words[word]; !ok {
		l.set.words[word] = int32(len(l.set.words) + 1)
	}
	return l.set.words[word]
}

// reflex loads the templates of one reflex.
func (l *loader) reflex(i int32) error {
	r := l.set.reflexes[i]
	var slots, shown string
	for _, language := range slices.Sorted(maps.Keys(r.Templates)) {
		for _, template := range r.Templates[language] {
			nodes, err := l.template(i, template, false)
			if err != nil {
				return err
			}
			own := slotNames(nodes)
			if shown == "" {
				slots, shown = own, template
			}
			if own != slots {
				return &Error{r.ID, template, 0, fmt.Sprintf("its slots (%s) are not those of %q (%s); all templates of a "+
					"reflex need the same", own, shown, slots)}
			}
		}
	}
	if shown == "" {
		return &Error{Reflex: r.ID, Problem: "has no template"}
	}
	for _, language := range slices.Sorted(maps.Keys(r.Except)) {
		for _, template := range r.Except[language] {
			if _, err := l.template(i, template, true); err != nil {
				return err
			}
		}
	}
	return checkArgs(r, slots)
}

// slotNames returns the slots of a template with their types, sorted.
func slotNames(nodes []node) string {
	var names []string
	for _, n := range nodes {
		if n.slot != nil {
			names = append(names, "{"+n.slot.name+":"+n.slot.kind+"}")
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// template parses, checks and builds one template.
func (l *loader) template(reflex int32, template string, except bool) ([]node, error) {
	fail := func(err error) error {
		e := &Error{Reflex: l.set.reflexes[reflex].ID, Template: template, Problem: err.Error()}
		var p problem
		if errors.As(err, &p) {
			e.Rune = p.at
		}
		return e
	}
	nodes, err := parse(template, l.rules)
	if err != nil {
		return nil, fail(err)
	}
	if err := checkSlots(nodes); err != nil {
		return nil, fail(err)
	}
	musts := l.mandatory(nodes)
	if len(musts) == 0 {
		return nil, fail(errors.New("needs a word of two letters or a Han rune that cannot be left out and is no edge word such as please"))
	}
	for _, n := range nodes {
		if n.slot != nil {
			if err := l.kind(n.slot.kind); err != nil {
				return nil, fail(err)
			}
		}
	}
	p := program{reflex: reflex, template: template, except: except}
	p.build(l, nodes)
	if p.edges > maxEdges {
		return nil, fail(errors.New("too many words in a row may be left out; split it into two templates"))
	}
	p.begin()
	l.set.programs = append(l.set.programs, p)
	l.musts = append(l.musts, musts)
	return nodes, nil
}

// kind makes a slot type known to the set.
func (l *loader) kind(source string) error {
	if _, ok := l.kinds[source]; ok {
		return nil
	}
	t, err := parseType(source)
	if err != nil {
		return err
	}
	switch t.base {
	case "tool":
		t.phrases, err = l.values("tools", l.lists.Tools)
	case "enum":
		name := strings.TrimSuffix(strings.TrimPrefix(source, "enum("), ")")
		values, ok := l.lists.Enums[name]
		if !ok {
			return fmt.Errorf("there is no list %q", name)
		}
		t.phrases, err = l.values(name, values)
	}
	if err != nil {
		return err
	}
	l.kinds[source] = int32(len(l.set.types))
	l.set.types = append(l.set.types, t)
	return nil
}

// values puts a list into a trie.
func (l *loader) values(list string, values []Value) (*trie, error) {
	t := &trie{}
	for _, v := range values {
		for _, alias := range append([]string{v.ID}, v.Aliases...) {
			words := l.phrase(alias)
			if len(words) == 0 {
				return nil, fmt.Errorf("list %s: the alias %q of %q has no word", list, alias, v.ID)
			}
			if !t.add(words, v.ID) {
				return nil, fmt.Errorf("list %s: the alias %q of %q belongs to another value too", list, alias, v.ID)
			}
		}
	}
	return t, nil
}

// index files each program under the words that may begin it or, where it may begin with a slot, under its rarest
// mandatory words.
func (l *loader) index() {
	for _, sets := range l.musts {
		for _, set := range sets {
			for _, w := range set {
				l.count[w]++
			}
		}
	}
	rarity := func(set []string) (n int) {
		for _, w := range set {
			n += l.count[w]
		}
		return n
	}
	for i, p := range l.set.programs {
		to, under := l.set.first, p.byFirst
		if under == nil {
			best := slices.MinFunc(l.musts[i], func(a, b []string) int { return rarity(a) - rarity(b) })
			to = l.set.anywhere
			for _, w := range best {
				under = append(under, l.set.words[w])
			}
		}
		for _, w := range under {
			to[w] = append(to[w], int32(i))
		}
	}
}
