package channels

import (
	"sort"
	"strings"
	"unicode"
)

// Split cuts a reply into parts whose count is at most max each, at the coarsest border that still fills a part:
// paragraph, line, sentence, word, character. A code fence that is cut is closed in its part and opened again, with
// its language, in the next. Only white space at a cut is lost. Every part has the reply's address, the first one
// also answers its message; a reply without text has no parts. count measures a whole part as its channel does; it
// may be any function that grows with the text, roughly. max must leave room for one character.
func Split(reply Reply, max int, count func(string) int) []Part {
	var parts []Part
	rest := trim(strings.ToValidUTF8(reply.Text, "\uFFFD"))
	for rest != "" {
		var text string
		text, rest = cutter{rest, max, count}.cut()
		parts = append(parts, Part{Address: reply.Address, Text: text})
	}
	if len(parts) > 0 {
		parts[0].ReplyTo = reply.ReplyTo
	}
	return parts
}

// The borders, coarsest first. Inside a character is the last resort for a cluster that does not end.
const (
	paragraph = iota
	line
	sentence
	word
	character
	anywhere
)

// cutter takes one part off the front of a text.
type cutter struct {
	text  string
	max   int
	count func(string) int
}

func (c cutter) cut() (part, rest string) {
	// A longer part is not looked for, even where most of it is markup that is not counted. It bounds the work.
	window := c.text
	if limit := 4 * max(c.max, 1); len(window) > limit {
		window = strings.ToValidUTF8(window[:limit], "")
	} else if c.count(c.text) <= c.max {
		return c.text, ""
	}
	for border := paragraph; border <= anywhere; border++ {
		at := c.last(borders(window, border))
		if at > 0 && (border >= character || c.count(c.before(at)) > c.max/3) {
			return c.before(at), c.after(at)
		}
	}
	for _, at := range borders(window, anywhere) {
		if part = c.before(at); part != "" {
			return part, c.after(at)
		}
	}
	return c.text, ""
}

// last returns the last of the borders that gives a part within the limit, 0 for none.
func (c cutter) last(borders []int) (best int) {
	sort.Search(len(borders), func(i int) bool {
		part := c.before(borders[i])
		if part != "" && c.count(part) > c.max {
			return true
		}
		if part != "" {
			best = max(best, borders[i])
		}
		return false
	})
	return best
}

// before returns the part that ends there, empty where it would have nothing to read.
func (c cutter) before(at int) string {
	f := c.fence(at)
	switch {
	case f.marker == "":
		return strings.TrimSpace(c.text[:at])
	case strings.TrimSpace(c.text[f.body:at]) == "":
		return ""
	}
	return strings.TrimRightFunc(c.text[:at], unicode.IsSpace) + "\n" + f.marker
}

// after returns what is left after a part that ends there.
func (c cutter) after(at int) string {
	f := c.fence(at)
	if f.marker == "" {
		return trim(c.text[at:])
	}
	rest := trimBlankLines(c.text[at:])
	first, after, _ := strings.Cut(rest, "\n")
	switch {
	case f.closes(first):
		return trim(after)
	case rest == "":
		return ""
	}
	return strings.TrimRightFunc(f.open()+"\n"+f.dedent(rest), unicode.IsSpace)
}

// fence returns the fence that a cut there must close and reopen; none where that would leave too little room.
func (c cutter) fence(at int) fence {
	f := openFence(c.text[:at])
	if f.marker != "" && c.count(f.open()+"\n\n"+f.marker) > c.max/2 {
		return fence{}
	}
	return f
}

// borders returns the places of a border, ascending, without the beginning and the end.
func borders(text string, border int) []int {
	if border == paragraph {
		return paragraphs(text)
	}
	var at []int
	var before, last rune
	for i, r := range text {
		if i > 0 && borderBetween(border, before, last, r) && (border == anywhere || !startsFence(text[i:], last)) {
			at = append(at, i)
		}
		before, last = last, r
	}
	return at
}

// borderBetween reports whether there is a border between last and next; before is the rune before last.
func borderBetween(border int, before, last, next rune) bool {
	switch border {
	case line:
		return last == '\n'
	case sentence:
		return strings.ContainsRune("。！？；", last) || unicode.IsSpace(last) && strings.ContainsRune(".!?…:;", before)
	case word:
		return unicode.IsSpace(last)
	case character:
		const joiner = '\u200D'
		joined := unicode.Is(unicode.M, next) || next == joiner || last == joiner ||
			next >= 0x1F3FB && next <= 0x1F3FF || last == '\r' && next == '\n'
		return !joined
	}
	return true
}

// startsFence reports whether a cut in the middle of a line would turn what follows into a fence.
func startsFence(rest string, last rune) bool {
	return last != '\n' && (strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~"))
}

// paragraphs returns the line starts outside of code that follow a blank line, or border on a fence.
func paragraphs(text string) []int {
	var at []int
	var f fence
	blank := false
	for start := 0; start < len(text); {
		end := lineEnd(text, start)
		was := f
		f = f.next(text[start:end], end)
		opens, out := was.marker == "" && f.marker != "", was.marker == ""
		if start > 0 && out && (blank || opens) {
			at = append(at, start)
		}
		blank = strings.TrimSpace(text[start:end]) == "" || was.marker != "" && f.marker == ""
		start = end
	}
	return at
}

// fence is an open code fence; the zero value is none.
type fence struct {
	marker   string // its run of backticks or tildes
	language string
	indent   string
	body     int // where its text begins
}

// openFence returns the fence that is open at the end of a text.
func openFence(text string) fence {
	var f fence
	for start := 0; start < len(text); {
		end := lineEnd(text, start)
		if f.marker != "" || strings.HasSuffix(text[:end], "\n") {
			f = f.next(text[start:end], end)
		}
		start = end
	}
	return f
}

// next returns the state after one more line, which ends at end.
func (f fence) next(line string, end int) fence {
	if f.marker != "" {
		if f.closes(line) {
			return fence{}
		}
		return f
	}
	body := strings.TrimLeft(line, " \t")
	marker := body[:len(body)-len(strings.TrimLeft(body, "`"))]
	if marker == "" {
		marker = body[:len(body)-len(strings.TrimLeft(body, "~"))]
	}
	info := strings.TrimSpace(body[len(marker):])
	if len(marker) < 3 || marker[0] == '`' && strings.Contains(info, "`") {
		return fence{}
	}
	language, _, _ := strings.Cut(info, " ")
	if len(language) > 20 {
		language = ""
	}
	return fence{marker: marker, language: language, indent: line[:len(line)-len(body)], body: end}
}

func (f fence) closes(line string) bool {
	t := strings.TrimSpace(line)
	return len(t) >= len(f.marker) && strings.Trim(t, f.marker[:1]) == ""
}

func (f fence) open() string { return f.marker + f.language }

// dedent takes the fence's own indentation off its lines: in the next part it does not stand in a list.
func (f fence) dedent(text string) string {
	if f.indent == "" {
		return text
	}
	var out strings.Builder
	for start := 0; start < len(text); {
		end := lineEnd(text, start)
		out.WriteString(strings.TrimPrefix(text[start:end], f.indent))
		if start, end = end, start; f.closes(text[end:start]) {
			out.WriteString(text[start:])
			break
		}
	}
	return out.String()
}

// trim cuts white space off both ends. A fence at the front loses its indentation in all of its lines.
func trim(text string) string {
	text = strings.TrimRightFunc(trimBlankLines(text), unicode.IsSpace)
	end := lineEnd(text, 0)
	f := fence{}.next(text[:end], end)
	if f.marker == "" {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(text[:end]) + strings.TrimRightFunc("\n"+f.dedent(text[end:]), unicode.IsSpace)
}

// lineEnd returns where the line that begins at start ends, its newline included.
func lineEnd(text string, start int) int {
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		return start + i + 1
	}
	return len(text)
}

// trimBlankLines cuts blank lines off the front, and keeps the indentation of the first other line.
func trimBlankLines(text string) string {
	for {
		first, after, more := strings.Cut(text, "\n")
		if strings.TrimSpace(first) != "" {
			return text
		}
		if !more {
			return ""
		}
		text = after
	}
}
