package engine

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// line is one sentence that an extract may keep.
type line struct {
	text  string
	score int
	at    int // its place in the conversation
}

// marks are words that make a sentence worth keeping.
var marks = []string{"remember", "don't forget", "always", "never", "prefer", "decide", "agreed", "todo", "deadline", "must", "my ", "our ", "is called", "password", "code", "address", "birthday",
	"记住", "记得", "一定", "总是", "不要", "决定", "我的", "我们", "生日", "地址", "电话", "密码"}

// extract is a summary by rule, of at most limit tokens: the lines of the notes before and the sentences of the
// person that say most (facts, numbers, names, wishes), in the order in which they were said.
func extract(before string, dropped []session.Entry, limit int) string {
	var list []line
	add := func(text string, bonus int) {
		text = strings.TrimSpace(text)
		if len(text) < 4 {
			return
		}
		list = append(list, line{text: text, score: weight(text) + bonus, at: len(list)})
	}
	for l := range strings.Lines(before) {
		add(strings.TrimPrefix(strings.TrimSpace(l), "- "), 1)
	}
	for i, e := range dropped {
		switch {
		case e.Message.Role == model.User:
			bonus := 1
			if i >= len(dropped)-4 { // the last requests
				bonus = 3
			}
			for _, s := range sentences(bare(e.Message.Text)) {
				add(s, bonus)
			}
		case e.Message.Role == model.Assistant && e.Message.Text != "":
			if s := sentences(e.Message.Text); len(s) > 0 {
				add("I said: "+s[0], -1)
			}
		}
	}
	best := slices.Clone(list)
	slices.SortStableFunc(best, func(a, b line) int { return cmp.Or(b.score-a.score, b.at-a.at) })
	used, seen := 0, map[string]bool{}
	var kept []line
	for _, l := range best {
		l.text = clip(l.text, 40)
		n := budget.Tokens(l.text) + 3
		if used+n > limit || seen[l.text] {
			continue
		}
		seen[l.text] = true
		used += n
		kept = append(kept, l)
	}
	slices.SortFunc(kept, func(a, b line) int { return a.at - b.at })
	var b strings.Builder
	for _, l := range kept {
		b.WriteString("- " + l.text + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// weight says how much a sentence is worth keeping.
func weight(s string) int {
	w, low := 0, strings.ToLower(s)
	for _, m := range marks {
		if strings.Contains(low, m) {
			w += 2
			break
		}
	}
	if len(identifiers(s)) > 0 {
		w += 2
	} else if strings.ContainsAny(s, "0123456789") {
		w++
	}
	for i, word := range strings.Fields(s) {
		if r := []rune(word)[0]; i > 0 && unicode.IsUpper(r) && len(word) > 1 {
			w++
			break
		}
	}
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
		w -= 2
	}
	return w
}

// bare is a stored user message without its header.
func bare(text string) string {
	if strings.HasPrefix(text, "[") {
		if _, rest, ok := strings.Cut(text, "] "); ok {
			return rest
		}
	}
	return text
}

// sentences cuts a text at the ends of sentences and lines.
func sentences(text string) []string {
	var list []string
	start := 0
	runes := []rune(text)
	for i, r := range runes {
		end := r == '\n' || r == '。' || r == '！' || r == '？' ||
			(r == '.' || r == '!' || r == '?' || r == ';') && (i+1 == len(runes) || runes[i+1] == ' ' || runes[i+1] == '\n')
		if end {
			if s := strings.TrimSpace(string(runes[start : i+1])); s != "" {
				list = append(list, s)
			}
			start = i + 1
		}
	}
	if s := strings.TrimSpace(string(runes[start:])); s != "" {
		list = append(list, s)
	}
	return list
}

// clip shortens a line to about so many tokens.
func clip(s string, tokens int) string {
	if budget.Tokens(s) <= tokens {
		return s
	}
	runes := []rune(s)
	for len(runes) > 8 && budget.Tokens(string(runes)) > tokens {
		runes = runes[:len(runes)*9/10]
	}
	return strings.TrimSpace(string(runes)) + "…"
}
