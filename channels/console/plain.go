package console

import "strings"

// escape is where a stripper stands in a terminal's control sequence.
type escape int

const (
	outside escape = iota
	begun          // after ESC, until a letter that ends it or opens one of the next two
	csi            // ESC [ … until a letter
	osc            // ESC ] … until BEL or ESC \
)

// stripper takes what a terminal would obey out of a text that comes in pieces, so that a reply can only be read.
type stripper struct{ state escape }

// plain is a whole text without anything that a terminal would obey.
func plain(text string) string { return new(stripper).strip(text) }

// strip returns the readable part of the next piece. A sequence that is left open never swallows the next line.
func (s *stripper) strip(text string) string {
	return strings.Map(func(r rune) rune {
		inside := s.state != outside
		s.state = s.next(r)
		switch {
		case r == '\n':
			return r
		case inside, s.state != outside:
			return -1
		case r < 0x20 && r != '\t', r >= 0x7f && r < 0xa0, // the control characters
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // and those that turn the direction of text
			return -1
		}
		return r
	}, text)
}

// next is the state after a rune.
func (s *stripper) next(r rune) escape {
	switch {
	case r == '\n':
		return outside
	case r == 0x1b:
		return begun
	case s.state == begun && r == '[':
		return csi
	case s.state == begun && strings.ContainsRune("]P_^X", r):
		return osc
	case s.state == begun && r >= 0x20 && r < 0x30, s.state == csi && r < 0x40, s.state == osc && r != '\a':
		return s.state
	}
	return outside
}
