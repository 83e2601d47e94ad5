package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Defuse makes text from outside plain data: no chat-template control token, bracketed system tag, role prefix at
// the start of a line, look-alike of our own header, invisible or bidirectional control character or terminal
// escape survives. What a person would read stays. Line ends become \n. Defuse(Defuse(s)) == Defuse(s), and the
// result is at most three times as long.
func Defuse(s string) string {
	s = Inert(s)
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(roles(header(tags(line))))
	}
	return b.String()
}

// Inert takes out of a text only what no text needs: control tokens, invisible characters, escapes. It is for
// file contents that the model must be able to quote exactly; everything else goes through Defuse.
func Inert(s string) string { return tokens(visible(s)) }

// nameLength is the most runes of a one-line name.
const nameLength = 40

// DefuseName is Defuse for a one-line field of a header: newlines, brackets and our separator go out as well, and
// a long name is cut. A name that is a role's gets quotes, so that nobody is called System.
func DefuseName(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("[](){}<>‹›【】（）［］|·\"", r) {
			return ' '
		}
		return r
	}, Defuse(s))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > nameLength {
		s = strings.TrimSpace(string(runes[:nameLength-1])) + "…"
	}
	if n := roleAt(s); n > 0 && strings.Trim(s[n:], " :：") == "" {
		s = `"` + s[:n] + `"`
	}
	return s
}

// visible drops invalid bytes, escapes and characters that cannot be seen, and makes every line end a \n.
func visible(s string) string {
	s = strings.ReplaceAll(unescape(strings.ToValidUTF8(s, "\uFFFD")), "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || isJoiner(r):
			return r
		case r == 'ſ': // folds to s
			return 's'
		case r == '\u212A': // folds to k
			return 'K'
		case r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
			return -1
		case r == '\u034F' || r == '\u115F' || r == '\u1160' || r == '\u3164' || r == '\uFFA0': // empty letters
			return -1
		case r >= 0xFE00 && r <= 0xFE0D || r >= 0xE0000 && r <= 0xE0FFF: // selectors that can carry hidden text
			return -1
		}
		return r
	}, s)
	return joiners(s)
}

// isJoiner tells the invisible characters that some scripts and emoji need.
func isJoiner(r rune) bool { return r == '\u200C' || r == '\u200D' || r == '\uFE0E' || r == '\uFE0F' }

// joiners keeps a joiner only where it can do its work, so that it cannot split a word that we look for.
func joiners(s string) string {
	if !strings.ContainsFunc(s, isJoiner) {
		return s
	}
	var b strings.Builder
	last := rune(' ')
	for i, r := range s {
		if isJoiner(r) {
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			keycap := r == '\uFE0F' && next == '\u20E3'
			selects := r >= 0xFE0E && joins(last)
			if !keycap && !selects && (!joins(last) && last != '\uFE0F' || !joins(next)) {
				continue
			}
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

func joins(r rune) bool {
	return r > 0x7F && r != utf8.RuneError && !isJoiner(r) && !unicode.Is(unicode.Han, r) && r != '｜'
}

// unescape drops terminal escape sequences.
func unescape(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] == 0x1b:
			i += escapeLength(s[i:])
		case strings.HasPrefix(s[i:], "\u009b"):
			i += len("\u009b") + csiLength(s[i+len("\u009b"):])
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// mostEscape is the bytes of the longest escape sequence with a text.
const mostEscape = 512

// escapeLength returns the length of the sequence that begins with the ESC at s[0].
func escapeLength(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		return 2 + csiLength(s[2:])
	case ']', 'P', 'X', '^', '_': // a string up to BEL or ST, on this line
		for i := 2; i < min(len(s), mostEscape) && s[i] != '\n'; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	}
	if s[1] > ' ' && s[1] < utf8.RuneSelf {
		return 2
	}
	return 1
}

func csiLength(s string) int {
	for i := range len(s) {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 || s[i] > 0x7e {
			return i
		}
	}
	return len(s)
}
