package budget

import "unicode/utf8"

// The features of a text: how often each thing occurs that costs tokens. Vocabularies differ in the price of each,
// see priors.go, but agree in what it is that costs.
const (
	word     = iota // run of ASCII letters after a blank, or at the start
	glued           // run of ASCII letters after anything else
	foreign         // run of ASCII letters not far behind a letter with a mark: not English
	camel           // capital after a small letter
	capital         // capital after a capital
	middle          // letters 5 to 8 of a run
	long            // letters from the 9th of a run
	digit           // any
	triple          // group of up to three digits
	spaced          // number after a blank: the blank belongs to no word
	punct           // run of punctuation
	mixed           // punctuation after other punctuation
	same            // punctuation after the same
	newline         // run of line ends
	indent          // run of two or more blanks
	latin           // letter with a mark
	rare            // letter of a small script or with two marks: Greek, Armenian, Vietnamese
	cyrillic        // letter, as all below
	arabic          // and Hebrew
	han             //
	kana            //
	hangul          //
	indic           //
	thai            // and its neighbours
	phrase          // run of letters of a script that puts blanks between words
	wide            // punctuation outside of ASCII
	symbol          // emoji and everything unknown
	joiner          // what modifies an emoji
	codes           // letters of a code, such as base64, hashes, UUIDs
	figures         // digits of a code
	features        // how many there are
)

type vector [features]int

// reach is how many bytes after a letter with a mark a text counts as foreign.
const reach = 100

// shortest is how many bytes a code has at least.
const shortest = 16

// What a byte is.
const (
	part = iota // of a character with more than one
	small
	big
	number
	mark
	space
	line
)

var kinds = func() (k [256]uint8) {
	for c := range utf8.RuneSelf {
		switch {
		case c >= 'a' && c <= 'z':
			k[c] = small
		case c >= 'A' && c <= 'Z':
			k[c] = big
		case c >= '0' && c <= '9':
			k[c] = number
		case c == ' ' || c == '\t':
			k[c] = space
		case c == '\n' || c == '\r':
			k[c] = line
		default:
			k[c] = mark
		}
	}
	return k
}()

// inCode are the bytes that codes consist of.
var inCode = func() (in [256]bool) {
	for c, k := range kinds {
		in[c] = k == small || k == big || k == number || c == '+' || c == '/' || c == '_' || c == '=' || c == '-'
	}
	return in
}()

// measure counts the features of a text in one pass, without allocating.
func measure(s string) (x vector) {
	checked := 0    // no code starts before this
	abroad := -1    // up to here words are foreign
	last := -1      // script of the character before, where it is not ASCII
	before := space // kind of the byte before
	for i := 0; i < len(s); {
		kind := int(kinds[s[i]])
		if kind == part {
			r, n := utf8.DecodeRuneInString(s[i:])
			f := script(r)
			x[f]++
			if f != last && (f == cyrillic || f == arabic || f == hangul || f == indic) {
				x[phrase]++
			}
			if i, last, before = i+n, f, part; f == latin {
				abroad = i + reach
			}
			continue
		}
		last = -1
		switch kind {
		case small, big, number:
			if i >= checked {
				end, is := code(s, i)
				if checked = end; is {
					x.code(s[i:end])
					i, before = end, number
					continue
				}
			}
			if kind == number {
				i = x.number(s, i, before)
			} else {
				x[wordKind(before, i < abroad)]++
				i = x.letters(s, i)
			}
		case mark:
			i = x.marks(s, i)
		default:
			i = x.gap(s, i, kind)
		}
		before = kind
	}
	return x
}

func wordKind(before int, abroad bool) int {
	switch {
	case abroad:
		return foreign
	case before == space:
		return word
	}
	return glued
}

func (x *vector) letters(s string, i int) int {
	from, last := i, number
	for ; i < len(s); i++ {
		switch kinds[s[i]] {
		case small:
			last = small
			continue
		case big:
			if last == small {
				x[camel]++
			} else if last == big {
				x[capital]++
			}
			last = big
			continue
		}
		break
	}
	if n := i - from; n > 4 {
		x[middle] += min(n-4, 4)
		x[long] += max(n-8, 0)
	}
	return i
}

func (x *vector) number(s string, i, before int) int {
	from := i
	for i < len(s) && kinds[s[i]] == number {
		i++
	}
	x[digit] += i - from
	x[triple] += (i - from + 2) / 3
	if before == space {
		x[spaced]++
	}
	return i
}

func (x *vector) marks(s string, i int) int {
	x[punct]++
	for i++; i < len(s) && kinds[s[i]] == mark; i++ {
		if s[i] == s[i-1] {
			x[same]++
		} else {
			x[mixed]++
		}
	}
	return i
}

func (x *vector) gap(s string, i, kind int) int {
	from := i
	for i < len(s) && int(kinds[s[i]]) == kind {
		i++
	}
	if kind == line {
		x[newline]++
	} else if i-from > 1 {
		x[indent]++
	}
	return i
}

func (x *vector) code(s string) {
	for i := range len(s) {
		if kinds[s[i]] == number {
			x[figures]++
		} else {
			x[codes]++
		}
	}
}

// code returns up to where no other code can start, and whether it is one that starts at i: a long run of letters,
// digits and +/_=- that changes between digits, small letters and capitals as no word and no name does.
func code(s string, i int) (end int, is bool) {
	for end = i + shortest - 1; end >= i; end-- { // most words are short, and from behind that is seen soonest
		if end >= len(s) || !inCode[s[end]] {
			return end + 1, false
		}
	}
	changes, last := 0, mark
	for end = i; end < len(s) && inCode[s[end]]; end++ {
		k := int(kinds[s[end]])
		if k != last && k != mark && last != mark && (k != small || last != big) { // a word starts with big and small
			changes++
		}
		last = k
	}
	return end, 10*changes >= 3*(end-i)
}

func script(r rune) int {
	switch {
	case r < 0xC0:
		return wide
	case r < 0x370:
		return latin
	case r >= 0x400 && r < 0x530:
		return cyrillic
	case r < 0x590, r >= 0x1E00 && r < 0x2000:
		return rare
	case r < 0x780:
		return arabic
	case r >= 0x900 && r < 0xE00:
		return indic
	case r >= 0xE00 && r < 0x10A0:
		return thai
	case r >= 0x2010 && r < 0x2070 && r != 0x200D, r >= 0x3000 && r < 0x3040, r >= 0xFF00 && r < 0xFFF0:
		return wide
	case r >= 0x3040 && r < 0x3100:
		return kana
	case r >= 0x3400 && r < 0xA000, r >= 0x20000 && r < 0x30000:
		return han
	case r >= 0xAC00 && r < 0xD7B0:
		return hangul
	case r == 0x200D, r >= 0xFE00 && r < 0xFE10, r >= 0x1F3FB && r < 0x1F400:
		return joiner
	}
	return symbol
}
