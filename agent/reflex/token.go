package reflex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the class of a token.
type kind uint8

const (
	word  kind = iota // a run of letters, with inner apostrophes
	han               // one Han rune
	digit             // a run of digits, with inner "." or ":"
	sign              // any other rune that counts
)

// token is one unit of a sentence.
type token struct {
	text       string // normalised: lower case, full-width forms as ASCII, straight apostrophe
	start, end int    // bytes in the original
	low, high  int    // bytes in the normalised text
	runes      int32
	word       int32 // id in the vocabulary of a Set, 0 = unknown
	kind       kind
	mark       bool // punctuation stands before it
}

// separators only part tokens. All other signs count, so that a sentence with one matches no plain template.
const separators = ".,!?;:\"'()-_~…。，！？；：、“”‘’「」『』《》〈〉【】—–·"

func fold(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full-width forms
		r -= 0xFEE0
	case r == '’' || r == '‘' || r == 'ʼ':
		return '\''
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case r >= 0x2E80 && r < 0xA000: // Han has no case
		return r
	}
	return unicode.ToLower(r)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isHan(r rune) bool { return r >= 0x2E80 && unicode.Is(unicode.Han, r) }

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z'
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !isHan(r)
}

// isSpace tells the runes that part tokens and are no punctuation; format characters (zero-width) are among them.
func isSpace(r rune) bool {
	return r == ' ' || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

func isSeparator(r rune) bool { return strings.ContainsRune(separators, r) }

// scanner cuts text into tokens and keeps its buffers between texts.
type scanner struct {
	tokens []token
	buf    []byte
}

// scan returns the tokens of text. They are valid until the next call.
func (s *scanner) scan(text string) []token {
	s.tokens, s.buf = s.tokens[:0], s.buf[:0]
	mark, before := false, ' '
	for i := 0; i < len(text); {
		raw, size := utf8.DecodeRuneInString(text[i:])
		r := fold(raw)
		next := peek(text, i+size)
		k, counts := classify(before, r, next)
		before = r
		if !counts {
			mark = mark || !isSpace(r)
			i += size
			continue
		}
		low := len(s.buf)
		end, n := i+size, int32(1)
		s.buf = utf8.AppendRune(s.buf, r)
		for k == word || k == digit {
			raw, size = utf8.DecodeRuneInString(text[end:])
			r = fold(raw)
			if size == 0 || !continues(k, r, peek(text, end+size)) {
				break
			}
			s.buf = utf8.AppendRune(s.buf, r)
			before = r
			end += size
			n++
		}
		s.tokens = append(s.tokens, token{start: i, end: end, low: low, high: len(s.buf), runes: n, kind: k, mark: mark})
		mark = false
		i = end
	}
	normal := string(s.buf)
	for i := range s.tokens {
		t := &s.tokens[i]
		t.text = normal[t.low:t.high]
	}
	return s.tokens
}

// peek returns the folded rune at i, or a space at the end.
func peek(text string, i int) rune {
	if i >= len(text) {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return fold(r)
}

// classify tells the kind of token that r begins, or that it counts for none.
func classify(before, r, next rune) (k kind, counts bool) {
	switch {
	case isLetter(r):
		return word, true
	case isDigit(r):
		return digit, true
	case isHan(r):
		return han, true
	case r == '-' && isDigit(next) && !isLetter(before) && !isDigit(before):
		return sign, true
	case isSpace(r) || isSeparator(r):
		return 0, false
	}
	return sign, true
}

// continues tells whether r goes on a token of kind k.
func continues(k kind, r, next rune) bool {
	if k == word {
		return isLetter(r) || r == '\'' && isLetter(next)
	}
	return isDigit(r) || (r == '.' || r == ':') && isDigit(next)
}

// phrase tells whether the tokens from i on are these words.
func phrase(t []token, i int, words ...string) bool {
	if i+len(words) > len(t) {
		return false
	}
	for k, w := range words {
		if t[i+k].text != w {
			return false
		}
	}
	return true
}

// at returns the text of token i, "" past the end.
func at(t []token, i int) string {
	if i >= len(t) {
		return ""
	}
	return t[i].text
}
