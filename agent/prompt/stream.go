package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stream takes a reply in pieces and releases what a person may see: no thinking, no tool call written as text, no
// control token, no silent token. It holds text back while it may still be one of these. What it released is never
// taken back, and does not depend on how the reply was cut into pieces. The zero value is ready to use.
type Stream struct {
	// Opened says that the model's template opens a thinking block itself: all up to the closer is thinking.
	Opened bool

	held   string // not decided yet
	blank  string // white space that goes out only when something follows
	skip   *block // what is being dropped; nil = text
	begun  bool   // something visible was released
	inLine bool   // something visible stands in this line
	last   byte   // the byte before held
	silent bool   // a silent token was seen
	over   bool   // the rest is dropped
}

// Write takes the next piece and returns what may be shown now.
func (s *Stream) Write(piece string) (release string) { return s.take(piece, false) }

// Close ends the reply and returns the rest of what may be shown.
func (s *Stream) Close() (rest string) { return s.take("", true) }

// Silent reports, after Close, that the reply asked to say nothing and nothing was released.
func (s *Stream) Silent() bool { return s.silent && !s.begun }

// Final cleans a whole reply, exactly as Stream does. silent means that the model asked to say nothing; a reply that
// is empty for another reason is not silent.
func Final(text string) (clean string, silent bool) {
	var s Stream
	clean = s.Write(text)
	clean += s.Close()
	return clean, s.Silent()
}

func (s *Stream) take(piece string, closed bool) string {
	if s.Opened {
		s.Opened, s.skip = false, &block{closers: thinkClosers}
	}
	var out strings.Builder
	// One byte at a time: a decision then depends on what came before alone, never on where a piece ends.
	for i := range len(piece) {
		s.held += piece[i : i+1]
		s.settle(&out, false)
	}
	if closed {
		s.settle(&out, true)
	}
	return out.String()
}

// settle decides as much of held as can be decided.
func (s *Stream) settle(out *strings.Builder, closed bool) {
	for s.held != "" {
		if s.over {
			s.held = ""
			return
		}
		if s.skip != nil {
			if !s.dropBlock(closed) {
				return
			}
			continue
		}
		v := s.look(closed)
		switch {
		case v.wait:
			return
		case v.drop > 0:
			s.held, s.last = s.held[v.drop:], ' '
			s.skip, s.over = v.skip, v.over
			if v.thought && !s.begun {
				s.blank = ""
			}
		default:
			if !utf8.FullRuneInString(s.held) && !closed {
				return
			}
			s.emit(out)
		}
	}
}

// emit moves one rune from held to out.
func (s *Stream) emit(out *strings.Builder) {
	r, n := utf8.DecodeRuneInString(s.held)
	c := s.held[:n]
	s.held, s.last = s.held[n:], c[n-1]
	if r == utf8.RuneError && n == 1 {
		c = string(utf8.RuneError)
	}
	if unicode.IsSpace(r) {
		if s.begun {
			s.blank += c
		}
		if r == '\n' {
			s.inLine = false
		}
		return
	}
	out.WriteString(s.blank + c)
	s.blank, s.begun, s.inLine = "", true, true
}

// dropBlock drops up to the end of the block; false = the end is not there yet.
func (s *Stream) dropBlock(closed bool) bool {
	at, width := s.skip.end(s.held)
	switch {
	case at >= 0:
		s.held, s.skip = s.held[at+width:], nil
		return true
	case closed: // never closed: all of it belongs to the block
		s.held, s.skip = "", nil
	case len(s.held) > longestTag:
		s.held = s.held[len(s.held)-longestTag:]
	}
	return false
}

// verdict says what to do with the beginning of held; its zero value releases one rune.
type verdict struct {
	wait    bool
	drop    int // bytes
	skip    *block
	over    bool // nothing after it is for the person
	thought bool
}

// look judges the beginning of held.
func (s *Stream) look(closed bool) verdict {
	if !s.inLine {
		if v := s.silentLine(closed); v.wait || v.drop > 0 {
			return v
		}
		if v := fence(s.held, closed); v.wait || v.drop > 0 {
			return v
		}
	}
	quoted := s.last == '`' // a tag that the reply talks about
	switch c := s.held[0]; {
	case c == '<' && !quoted:
		return s.tag(closed)
	case c == '{' || c == '[':
		if v := object(s.held, closed); v.wait || v.drop > 0 || c == '{' || quoted {
			return v
		}
		return s.bracket(closed)
	}
	return verdict{}
}

// silentTokens are the replies that say nothing.
var silentTokens = []string{"NO_REPLY", "HEARTBEAT_OK"}

const (
	wrappers    = "*_`~\"'#>-.!()[] \t"
	mostWrapper = 8 // characters around a silent token
)

// silentLine recognises a line that is a silent token alone, in Markdown or not.
func (s *Stream) silentLine(closed bool) verdict {
	line, _, ended := strings.Cut(s.held, "\n")
	rest := strings.TrimLeft(line, wrappers)
	if len(line)-len(rest) > mostWrapper {
		return verdict{}
	}
	open := !ended && !closed
	if rest == "" {
		return verdict{wait: open && strings.TrimSpace(line) != ""}
	}
	for _, token := range silentTokens {
		n := min(len(token), len(rest))
		if !strings.EqualFold(rest[:n], token[:n]) {
			continue
		}
		if n < len(token) {
			return verdict{wait: open}
		}
		after := strings.Trim(rest[n:], wrappers+"\r")
		switch {
		case after != "" || len(rest)-n > mostWrapper:
			return verdict{}
		case open:
			return verdict{wait: true}
		}
		s.silent = true
		return verdict{drop: min(len(line)+1, len(s.held))}
	}
	return verdict{}
}
