// Package reflex has the sentences that the board answers by itself: templates in English and Chinese that map a whole
// sentence to a call of an operation, with no model and no tokens.
//
// The template language:
//
//	turn on          words; white space, capitals and punctuation do not count; a Han rune is a word of its own
//	[the]  [a|b]     may be left out
//	(a|b)            one of
//	<name>           a rule: a named piece of template
//	{name:type}      a slot: enum(list), number(range[,step][,percent]), duration(range), time, text(max), tool
//	\%               a sign as it is
//
// A slot never stands inside [ ] or ( ), so that each template always gives the same slots. There is no guessing: a
// sentence matches from its first word to its last (but for edge words such as "please"), or the model gets it.
// A sentence that begins with "?" always goes to the model.
package reflex

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Reflex maps sentences to a call of an operation.
type Reflex struct {
	ID        string
	Templates map[string][]string // by language: "en", "zh"
	Except    map[string][]string // templates of sentences that are not for this reflex although they match it
	Examples  map[string][]string // each must be won by this reflex, and each template must win one; none = unchecked
	Op        string              // name of the operation (command.Op)
	Args      string              // its arguments, with {slot} where a slot's value goes
	Owner     bool                // only for the owner; the caller of Match checks it
	Statement bool                // never for a sentence that asks: one that ends in "?", 吗, 呢 or 么
}

// Value is one value of an enum, or one tool. The ID counts as an alias too.
type Value struct {
	ID      string
	Aliases []string // in any language
}

// Lists is what slots of type enum and tool choose from.
type Lists struct {
	Enums map[string][]Value
	Tools []Value
}

// Slot is one slot of a match. Value is canonical: an ID, a decimal number, a duration such as "5400s", a time in
// RFC 3339, or the text as the person wrote it.
type Slot struct {
	Name     string
	Value    string
	DayGiven bool // of a time: the sentence named the day
}

// Match is the call that a sentence stands for.
type Match struct {
	Reflex   string
	Template string // the one that matched, for /why
	Op       string
	Args     string
	Owner    bool // only for the owner
	Slots    []Slot
}

// Result says what Match found.
type Result int

// The results: no reflex, one, or several that fit equally well but call different things (the model decides).
const (
	None Result = iota
	Matched
	Tie
)

// Set is a loaded list of reflexes. It does not change and may be used by several goroutines.
type Set struct {
	reflexes []Reflex
	programs []program
	types    []slotType
	words    map[string]int32  // vocabulary of all literals and aliases; 0 = none
	first    map[int32][]int32 // first literal -> programs
	anywhere map[int32][]int32 // mandatory literal -> programs that do not begin with a literal
	heads    trie              // edge words before a sentence
	tails    trie              // and after it
	scratch  *sync.Pool        // of *matcher
}

const maxRunes = 300 // of a sentence

// Match finds the call of a sentence. now is the base of times. Text of several lines, with a code fence, of more than
// 300 runes or with a leading "?" matches nothing.
func (s *Set) Match(text string, now time.Time) (Match, Result) {
	text = strings.TrimSpace(text)
	if !eligible(text) {
		return Match{}, None
	}
	m := s.scratch.Get().(*matcher)
	defer s.scratch.Put(m)
	return m.match(s, text, now)
}

func eligible(text string) bool {
	return text != "" && len(text) <= maxRunes*utf8.UTFMax && utf8.RuneCountInString(text) <= maxRunes &&
		!strings.ContainsAny(text, "\n\r\u2028\u2029") && !strings.Contains(text, "```") &&
		!strings.HasPrefix(text, "?") && !strings.HasPrefix(text, "？")
}
