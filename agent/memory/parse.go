package memory

import (
	"slices"
	"strings"

	"pinch/agent/session"
)

// document is MEMORY.md: its lines as they are, and which of them are notes.
type document struct {
	lines []string // without line ends; the last is "" where the file ends with one
	notes []session.Note
	spans []int // how many lines each note has
}

// parse finds the notes: a line "- text" or "* text" at the margin, outside of code blocks, with the indented lines
// after it. Every other line is the owner's and is kept.
func parse(text string) document {
	d := document{lines: strings.Split(text, "\n")}
	inFence, open := false, false // open: the line before belongs to a note
	for i, line := range d.lines {
		line = strings.TrimRight(line, " \t\r")
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		switch {
		case isFence(line) && (inFence || slices.ContainsFunc(d.lines[i+1:], isFence)): // one that never closes is a text
			inFence, open = !inFence, false
		case inFence:
		case open && indented && strings.TrimSpace(line) != "":
			last := len(d.notes) - 1
			d.notes[last].Text += " " + strings.TrimSpace(line)
			d.spans[last]++
		default:
			var note string
			if note, open = bullet(line); open {
				d.notes = append(d.notes, session.Note{Line: i + 1, Text: note})
				d.spans = append(d.spans, 1)
			}
		}
	}
	return d
}

func isFence(line string) bool { return strings.HasPrefix(line, "```") }

func bullet(line string) (string, bool) {
	text, ok := strings.CutPrefix(line, "- ")
	if !ok {
		text, ok = strings.CutPrefix(line, "* ")
	}
	text = strings.TrimSpace(text)
	return text, ok && text != ""
}

// with returns the file with a note at its end.
func (d document) with(note string) string {
	text := strings.TrimRight(strings.Join(d.lines, "\n"), "\n")
	if text != "" {
		text += "\n"
		if _, isNote := bullet(lastLine(text)); !isNote && !strings.HasPrefix(lastLine(text), " ") {
			text += "\n" // a list after a paragraph or heading
		}
	}
	return text + "- " + note + "\n"
}

func lastLine(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// without returns the file without note i, counted from 0.
func (d document) without(i int) string {
	from := d.notes[i].Line - 1
	lines := append(append([]string{}, d.lines[:from]...), d.lines[from+d.spans[i]:]...)
	return strings.Join(lines, "\n")
}
