package tool

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"pinch/agent/prompt"
	"pinch/budget"
)

// data finds what no model can read: long runs of base64 or hex, in one line or in at least three full ones.
var data = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z0-9+/_-]{160,}={0,2}|(?m:^[A-Za-z0-9+/]{60,78}\r?\n){3,}(?m:^[A-Za-z0-9+/]{1,78}={0,2}$)?`)
})

// Shape makes a tool's result small where that loses nothing for a model, and cuts it to a number of tokens where it
// must: JSON loses its blanks, a list of alike objects becomes a table, data that is no text is left out; of the rest
// the first 70 % and the last 20 % stay. It is applied once, when a result comes in: what was sent is never shortened
// later but by a compaction.
func Shape(text string, tokens int) (short string, cut bool) {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		if small, ok := plainJSON(t); ok {
			text = small
		}
	}
	if len(text) > 160 {
		text = data().ReplaceAllStringFunc(text, func(run string) string {
			end := run[len(strings.TrimRight(run, "\r\n")):]
			return fmt.Sprintf("[%d bytes of data left out]", len(run)-len(end)) + end
		})
	}
	if budget.Tokens(text) <= tokens {
		return text, false
	}
	const marker = "\n[… the middle is left out …]\n"
	room := max(tokens-budget.Tokens(marker)-2, 0)
	for ; ; room -= 8 { // parts may count more together than apart
		head, tail, _ := prompt.Ends(text, room)
		if short = head + marker + tail; budget.Tokens(short) <= tokens || room <= 0 {
			return short, true
		}
	}
}

// plainJSON is a JSON text without blanks, or as a table where it is a list of objects with the same plain fields.
func plainJSON(text string) (string, bool) {
	if table, ok := tableOf(text); ok {
		return table, true
	}
	var b bytes.Buffer
	err := json.Compact(&b, []byte(text))
	return b.String(), err == nil
}

// tableOf writes a list of at least two alike objects as CSV, with the names of the fields in the first line.
func tableOf(text string) (string, bool) {
	var rows []map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &rows) != nil || len(rows) < 2 || len(rows[0]) == 0 {
		return "", false
	}
	names := fieldNames(text, len(rows[0]))
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(names) // a Builder never fails
	for _, row := range rows {
		line := make([]string, len(names))
		for i, name := range names {
			value, ok := row[name]
			if !ok || len(row) != len(names) || value[0] == '{' || value[0] == '[' {
				return "", false
			}
			if line[i] = string(value); value[0] == '"' && json.Unmarshal(value, &line[i]) != nil {
				return "", false
			}
		}
		_ = w.Write(line)
	}
	w.Flush()
	return strings.TrimRight(b.String(), "\n"), true
}

// fieldNames are the names of the first object of a list, in their order.
func fieldNames(text string, n int) []string {
	d := json.NewDecoder(strings.NewReader(text))
	var names []string
	for depth := 0; len(names) < n; {
		token, err := d.Token()
		if err != nil {
			return names
		}
		switch t := token.(type) {
		case json.Delim:
			if depth++; t == '}' || t == ']' {
				depth -= 2
			}
		case string:
			names = append(names, t)
			var value json.RawMessage
			if d.Decode(&value) != nil {
				return names
			}
		}
		if depth == 0 {
			break
		}
	}
	return names
}
