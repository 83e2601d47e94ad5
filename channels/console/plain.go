package console

import "strings"

// escape is where a stripper stands in a terminal's control sequence.
type escape int

const (
	outside escape = iota
	begun          // after ESC
	csi            // ESC [ … until a letter
	osc            // ESC ] … until BEL, ESC \ or the end of the line
	closing        // ESC inside osc
)

// stripper takes what a terminal would obey out of a text that comes in pieces, so that a reply can only be read.
type stripper struct{ state escape }

// plain is a whole text without anything that a terminal would obey.
func plain(text string) string { return new(stripper).strip(text) }

// strip returns the readable part of the next piece.
func (s *stripper) strip(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case s.state == outside:
		case r == '\n': // an open sequence never swallows the rest
			s.state = outside
		default:
			if s.state = s.next(r); s.state != outside || r != ' ' {
				return -1
			}
		}
		switch {
		case r == 0x1b:
			s.state = begun
			return -1
		case r == '\n' || r == '\t':
			return r
		case r < 0x20, r >= 0x7f && r < 0xa0, // the control characters
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // and those that turn the direction of text
			return -1
		}
		return r
	}, text)
}

// next is the state after a rune inside a sequence.
func (s *stripper) next(r rune) escape {
	switch {
	case r == 0x1b && s.state == osc:
		return closing
	case r == 0x1b:
		return begun
	case s.state == begun && r == '[':
		return csi
	case s.state == begun && (r == ']' || r == 'P' || r == '_' || r == '^' || r == 'X'):
		return osc
	case s.state == csi && r < 0x40:
		return csi
	case s.state == osc && r != 0x07:
		return osc
	}
	return outside
}
