package config

import (
	"strconv"
	"strings"
)

// scan finds the line of each key and table of a valid TOML text, by its path. The TOML reader keeps these
// positions to itself. What stands inside an inline table or list is not looked at.
func scan(text string) map[string]int {
	s := &scanner{text: text, line: 1, lines: make(map[string]int), lists: make(map[string]int)}
	for s.blank(); s.at < len(s.text); s.blank() {
		line := s.line
		list := strings.HasPrefix(s.text[s.at:], "[[")
		switch {
		case list:
			s.at += len("[[")
			s.table = s.note(line, nil, s.key(), true)
		case s.text[s.at] == '[':
			s.at++
			s.table = s.note(line, nil, s.key(), false)
		default:
			s.note(line, s.table, s.key(), false)
		}
		s.value() // or the brackets that close a header
	}
	return s.lines
}

type scanner struct {
	text  string
	at    int
	line  int
	table []string       // path of the current [table]
	lines map[string]int // path to line
	lists map[string]int // path to number of [[entries]] so far
}

// note keeps the line of a key below a table and returns the whole path, with the entries of lists in it.
func (s *scanner) note(line int, table, key []string, entry bool) []string {
	path := append([]string(nil), table...)
	for i, step := range key {
		path = append(path, step)
		at := strings.Join(path, separator)
		s.keep(at, line)
		if entry && i == len(key)-1 {
			s.lists[at]++
		}
		if n := s.lists[at]; n > 0 {
			path = append(path, index(n-1))
			s.keep(strings.Join(path, separator), line)
		}
	}
	return path
}

// keep holds the first line only: a table may be opened by one of its keys and named later.
func (s *scanner) keep(path string, line int) {
	if s.lines[path] == 0 {
		s.lines[path] = line
	}
}

// blank skips white space, empty lines and comments.
func (s *scanner) blank() {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\n':
			s.line++
		case ' ', '\t', '\r':
		case '#':
			s.comment()
		default:
			if strings.HasPrefix(s.text[s.at:], "\ufeff") {
				s.at += len("\ufeff") - 1
				continue
			}
			return
		}
	}
}

// comment stops on the last character before the end of the line.
func (s *scanner) comment() {
	for s.at+1 < len(s.text) && s.text[s.at+1] != '\n' {
		s.at++
	}
}

// key reads a dotted key and stops after the = or ] that ends it.
func (s *scanner) key() []string {
	var steps []string
	bare := s.at
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		switch c {
		case '"', '\'':
			steps = append(steps, unquote(s.quoted()))
			bare = s.at + 1
		case '.', '=', ']', '\n':
			if word := strings.TrimSpace(s.text[bare:s.at]); word != "" {
				steps = append(steps, word)
			}
			bare = s.at + 1
			if c == '.' {
				continue
			}
			if c != '\n' {
				s.at++
			}
			return steps
		}
	}
	return steps
}

func unquote(text string) string {
	if text[0] == '\'' {
		return strings.Trim(text, "'")
	}
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return strings.Trim(text, `"`)
}

// quoted reads a string of any of the four kinds and stops on its last character.
func (s *scanner) quoted() string {
	from, quote := s.at, s.text[s.at:s.at+1]
	if three := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.at:], three) {
		quote = three
	}
	s.at += len(quote)
	for ; s.at < len(s.text); s.at++ {
		switch {
		case s.text[s.at] == '\\' && quote[0] == '"':
			s.at++
			if s.at < len(s.text) && s.text[s.at] == '\n' {
				s.line++
			}
		case s.text[s.at] == '\n':
			s.line++
		case strings.HasPrefix(s.text[s.at:], quote):
			s.at += len(quote) - 1
			for len(quote) == 3 && s.at+1 < len(s.text) && s.text[s.at+1] == quote[0] { // "" may stand before the end
				s.at++
			}
			return s.text[from : s.at+1]
		}
	}
	return s.text[from:]
}

// value skips to the end of the line on which a value ends; lists and inline tables may span several.
func (s *scanner) value() {
	for depth := 0; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"', '\'':
			s.quoted()
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			s.comment()
		case '\n':
			if depth <= 0 {
				return
			}
			s.line++
		}
	}
}
