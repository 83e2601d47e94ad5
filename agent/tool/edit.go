package tool

import (
	"context"
	"fmt"
	"strings"
)

type editArgs struct{ Path, Old, New string }

func (f files) edit(_ context.Context, a editArgs) (string, error) {
	switch {
	case a.Old == "":
		return "", Refuse("old is empty. Give the exact text to replace, or use write for a whole file.")
	case a.Old == a.New:
		return "", Refuse("old and new are the same, so there is nothing to do.")
	}
	name, text, err := f.text(a.Path)
	if err != nil {
		return "", err
	}
	if strings.Contains(text, "\r\n") && !strings.Contains(text, a.Old) { // read shows such files with \n
		a.Old, a.New = crlf(a.Old), crlf(a.New)
	}
	switch n := strings.Count(text, a.Old); {
	case n == 0:
		return "", notFound(name, text, a.Old)
	case n > 1:
		return "", Refuse("old stands %d times in %s (lines %s). Give more of the text around the one that you mean.",
			n, name, lineNumbers(text, a.Old))
	}
	at := strings.Index(text, a.Old)
	text = text[:at] + a.New + text[at+len(a.Old):]
	if len(text) > MostFile {
		return "", Refuse("%s would get %s; a file may have %s.", name, sizeText(int64(len(text))), sizeText(MostFile))
	}
	if err := WriteFile(f.root, name, []byte(text)); err != nil {
		return "", explain(name, err)
	}
	return fmt.Sprintf("Changed line %d of %s.", strings.Count(text[:at], "\n")+1, name), nil
}

func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

func lineNumbers(text, old string) string {
	var lines []string
	line, from := 1, 0
	for len(lines) < 5 {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return strings.Join(lines, ", ")
		}
		line += strings.Count(text[from:from+i], "\n")
		lines = append(lines, fmt.Sprint(line))
		line += strings.Count(old, "\n")
		from += i + len(old)
	}
	return strings.Join(lines, ", ") + ", …"
}

// notFound tells the line that looks most like what was asked for.
func notFound(name, text, old string) error {
	wanted := pairs(firstLine(old))
	best, score, number := "", 0.0, 0
	for i, line := range strings.Split(text, "\n") {
		if s := likeness(wanted, pairs(line)); s > score {
			best, score, number = strings.TrimSpace(line), s, i+1
		}
	}
	if score < 0.3 {
		return Refuse("old does not stand in %s. Read the file and copy the text exactly.", name)
	}
	if runes := []rune(best); len(runes) > 120 {
		best = string(runes[:120]) + "…"
	}
	return Refuse("old does not stand in %s. The nearest is line %d: %s\nCopy the text exactly, spaces too.", name, number, best)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// pairs returns the pieces that a line is compared by: pairs of neighbouring letters, without spaces and case.
func pairs(line string) map[string]int {
	runes := []rune(strings.ToLower(strings.Join(strings.Fields(line), "")))
	out := map[string]int{}
	for i := 0; i+1 < len(runes) && i < 200; i++ {
		out[string(runes[i:i+2])]++
	}
	return out
}

// likeness is the share of pairs that two lines have in common, 0 to 1.
func likeness(a, b map[string]int) float64 {
	total, common := 0, 0
	for p, n := range a {
		total += n
		common += min(n, b[p])
	}
	for _, n := range b {
		total += n
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}
