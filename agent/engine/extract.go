package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"
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

// Words that make a sentence worth keeping: what a person wishes, decides or plans, and facts about persons and
// things; and those that date it.
var (
	marks = strings.Fields(`remember forget always never prefer decide decided agreed todo deadline must should allergic birthday
		address password code called appointment meeting remind plan born lives moved likes loves hates favourite favorite
		name's wants promised instead my our`)
	marksHan = strings.Fields(`记住 记得 别忘 一定 总是 每天 每周 不要 决定 我的 我们 我家 我叫 名字 叫做 生日 地址 电话 号码 密码 喜欢 讨厌 过敏 需要 提醒 计划
		打算 预约 会议 住在 改成 约好 截止`)
	relative = strings.Fields(`today tonight tomorrow yesterday 今天 今晚 明天 后天 昨天 下周 下个月`)
)

// The scores of an extract.
const (
	fromPerson = 1
	fromNotes  = 2 // they were worth keeping before
	lastOnes   = 3 // the last requests are what is going on
	fromModel  = -1
	leastScore = 1
)

// extract is a summary by rule, of at most limit tokens: the lines of the notes before and the sentences that say
// most (facts, numbers, names, wishes, what the focus is about), in the order in which they were said.
func extract(before string, dropped []session.Entry, focus string, limit int) string {
	about := content(focus)
	var list []line
	add := func(text string, bonus int) {
		if text = clip(strings.TrimSpace(text), min(48, limit/2)); text == "" {
			return
		}
		if len(about) > 0 && slices.ContainsFunc(content(text), func(w string) bool { return slices.Contains(about, w) }) {
			bonus += 4
		}
		list = append(list, line{text: text, score: weight(text) + bonus, at: len(list)})
	}
	for l := range strings.Lines(before) {
		add(strings.TrimPrefix(strings.TrimSpace(l), "- "), fromNotes)
	}
	for i, e := range dropped {
		switch {
		case e.Message.Role == model.User:
			bonus := fromPerson
			if i >= len(dropped)-4 {
				bonus = lastOnes
			}
			for _, s := range sentences(bare(e.Message.Text)) {
				add(dated(s, e.At), bonus)
			}
		case e.Message.Role == model.Assistant:
			for _, s := range sentences(e.Message.Text) {
				add("I said: "+s, fromModel)
			}
		}
	}
	return best(list, limit)
}

// best joins the lines that say most, within so many tokens, in their order.
func best(list []line, limit int) string {
	ranked := slices.Clone(list)
	slices.SortStableFunc(ranked, func(a, b line) int { return cmp.Or(b.score-a.score, b.at-a.at) })
	used, seen := 0, map[string]bool{}
	var kept []line
	for _, l := range ranked {
		n := budget.Tokens(l.text) + 2 // "- " and the line end
		if used+n > limit || seen[l.text] || l.score < leastScore && len(kept) > 0 {
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
	words := strings.FieldsFunc(low, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(marks, w) }) || containsAny(s, marksHan) {
		w += 2
	}
	if len(identifiers(s)) > 0 {
		w += 2
	} else if strings.ContainsAny(s, "0123456789") {
		w++
	}
	for i, word := range strings.Fields(s) {
		if r := []rune(word); i > 0 && len(r) > 1 && unicode.IsUpper(r[0]) && r[1] != '\'' && !strings.HasPrefix(s, "I said: "+word) {
			w++
			break
		}
	}
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
		w -= 2
	}
	if len(content(s)) < 2 { // thanks, and the like
		w -= 2
	}
	return w
}

func containsAny(s string, list []string) bool {
	return slices.ContainsFunc(list, func(m string) bool { return strings.Contains(s, m) })
}

// dated adds the day to a sentence that would mean another one later.
func dated(s string, at time.Time) string {
	if at.IsZero() || !containsAny(strings.ToLower(s), relative) {
		return s
	}
	return s + at.Local().Format(" (said on 2 Jan)")
}

// bare is a stored user message without its header, notes and names of files.
func bare(text string) string {
	for strings.HasPrefix(text, "[") {
		head, rest, ok := strings.Cut(text, "]")
		if !ok || strings.Contains(head, "\n") {
			break
		}
		text = strings.TrimLeft(rest, " \n")
	}
	return text
}

// sentences cuts a text at the ends of sentences and lines.
func sentences(text string) []string {
	var list []string
	start := 0
	runes := []rune(text)
	add := func(end int) {
		if s := strings.TrimSpace(string(runes[start:end])); s != "" {
			list = append(list, s)
		}
		start = end
	}
	for i, r := range runes {
		switch r {
		case '\n', '。', '！', '？', '；':
			add(i + 1)
		case '.', '!', '?', ';':
			if i+1 == len(runes) || unicode.IsSpace(runes[i+1]) {
				add(i + 1)
			}
		}
	}
	add(len(runes))
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
