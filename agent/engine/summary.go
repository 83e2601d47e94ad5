package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"pinch/agent/model"
	"pinch/agent/prompt"
	"pinch/agent/session"
	"pinch/budget"
)

// The instructions of background requests: at most 120 tokens, so that they cost little behind a cached prompt.
const (
	summaryPrompt = `[Pinch] Make room: write notes from which you can go on, at most %d words, in the person's language. Keep: decisions; open tasks with their ids; limits; standing wishes; facts with names, numbers, dates, places and paths copied exactly. Include what older notes above still hold. No greeting, no tools, only the notes.`
	summaryAgain  = `[Pinch] That was not usable as notes. Write only facts from this conversation, one "- fact" a line, at most %d words, names and numbers copied exactly. No tools.`
	summaryFocus  = ` Above all keep: %s.`
	flushPrompt   = `[Pinch] Before old messages are shortened: write facts about the person or the house that will matter in weeks, one "- fact" a line, copied exactly. Nothing that is in MEMORY.md already. If there is none, reply NO_REPLY. No tools.`
	chunkPrompt   = `Write notes of this part of a conversation: decisions, open tasks, wishes, facts with names and numbers copied exactly. At most %d words, only the notes.`
)

// summaryHead begins the message that stands for what a prompt leaves out. It is data like any old message.
const summaryHead = "[Notes of what was said before]\n"

// chunkTime is how long one chunk of a cascade may take.
const chunkTime = 3 * time.Minute

// summary writes down what a conversation loses: by the model in band, by the model in chunks where the whole does
// not fit, else by rule. It always succeeds unless ctx ends.
func (w *Window) summary(ctx context.Context, ask Ask, t tail, dropped []session.Entry, focus string) (text string, how How, err error) {
	limit := cap12(ask.Plan)
	source := sourceText(t.epoch.Summary, dropped)
	body, how := "", ByRule
	switch {
	case w.Config.Compaction == Off:
		return t.epoch.Summary, ByCut, nil
	case ask.Generate == nil:
	default:
		if body, err = byModel(ctx, ask, t, source, focus); err != nil {
			return "", "", err
		}
	}
	if body != "" {
		how = ByModel
	} else {
		body = extract(strings.TrimPrefix(t.epoch.Summary, summaryHead), dropped, limit)
	}
	body = scrub(prompt.Defuse(body))
	return summaryHead + body + missing(body, source, limit/2), how, nil
}

// byModel returns a summary that passed its check, or "" after the second that did not.
func byModel(ctx context.Context, ask Ask, t tail, source, focus string) (string, error) {
	words := cap12(ask.Plan) * 6 / 10
	for _, instruction := range []string{summaryPrompt, summaryAgain} {
		text := fmt.Sprintf(instruction, words)
		if focus != "" {
			text += fmt.Sprintf(summaryFocus, prompt.DefuseName(focus))
		}
		req, ok, err := t.inband(text, ask.Plan)
		if err != nil {
			return "", err
		}
		if !ok {
			return cascade(ctx, ask, source)
		}
		reply, err := ask.Generate(ctx, "compaction", req)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return "", nil // it is away; asking again would only wait again
		}
		if body, ok := usable(reply, source, cap12(ask.Plan)); ok {
			return body, nil
		}
	}
	return "", nil
}

// cascade summarises a text that is too long for one prompt: its chunks one by one, then what came of them. A chunk
// that the model does not manage is shortened by rule.
func cascade(ctx context.Context, ask Ask, source string) (string, error) {
	limit := cap12(ask.Plan)
	room := ask.Plan.Window - ask.Plan.Reply - 200
	var notes []string
	for _, chunk := range chunks(source, room*3/4) {
		body, err := note(ctx, ask, chunk, limit/2)
		if err != nil {
			return "", err
		}
		notes = append(notes, body)
	}
	all := strings.Join(notes, "\n")
	if budget.Tokens(all) <= limit {
		return all, nil
	}
	return note(ctx, ask, all, limit)
}

// note summarises one text, by the model within its time, else by rule.
func note(ctx context.Context, ask Ask, text string, limit int) (string, error) {
	wait, cancel := context.WithTimeout(ctx, chunkTime)
	defer cancel()
	reply, err := ask.Generate(wait, "compaction", model.Request{
		Messages: []model.Message{
			{Role: model.System, Text: fmt.Sprintf(chunkPrompt, limit*6/10)},
			{Role: model.User, Text: text},
		},
		Reply: limit,
	})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil {
		if body, ok := usable(reply, text, limit); ok {
			return body, nil
		}
	}
	return extract(text, nil, limit), nil
}

// usable checks a summary: notes and no tool call, not empty, not too long, and made of the words of its source.
func usable(reply model.Reply, source string, limit int) (string, bool) {
	const leastWords, leastKnown = 6, 0.4
	text, silent := prompt.Final(reply.Text)
	if silent || len(reply.Calls) > 0 {
		return "", false
	}
	if budget.Tokens(text) > limit {
		head, _, _ := prompt.Ends(text, limit*3/2)
		if i := strings.LastIndexByte(head, '\n'); i > 0 {
			head = head[:i]
		}
		text = head
	}
	known, all := 0, 0
	words := map[string]bool{}
	for _, word := range content(source) {
		words[word] = true
	}
	for _, word := range content(text) {
		all++
		if words[word] {
			known++
		}
	}
	return text, all >= leastWords && float64(known) >= leastKnown*float64(all)
}

// content are the words of a text that carry meaning, in lower case; each Han rune counts as one.
func content(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if han := strings.IndexFunc(word, func(r rune) bool { return unicode.Is(unicode.Han, r) }); han >= 0 {
			for _, r := range word {
				list = append(list, string(r))
			}
			continue
		}
		if len(word) > 3 || strings.ContainsAny(word, "0123456789") {
			list = append(list, word)
		}
	}
	return list
}

// sourceText is what a summary may speak of.
func sourceText(summary string, dropped []session.Entry) string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(summary, summaryHead))
	for _, e := range dropped {
		b.WriteString("\n" + string(e.Message.Role) + ": " + e.Message.Text)
		for _, c := range e.Message.Calls {
			b.WriteString(" " + c.Name + c.Arguments)
		}
	}
	return b.String()
}

// chunks cuts a text at line ends into pieces of at most so many tokens, but for a longer line.
func chunks(text string, tokens int) []string {
	var list []string
	var b strings.Builder
	size := 0
	for line := range strings.Lines(text) {
		n := budget.Tokens(line)
		if size > 0 && size+n > tokens {
			list = append(list, b.String())
			b.Reset()
			size = 0
		}
		if n > tokens {
			head, tail, _ := prompt.Ends(line, tokens)
			line = head + " … " + tail
		}
		b.WriteString(line)
		size += n
	}
	return append(list, b.String())
}

// factLines are the "- fact" lines of a reply.
func factLines(text string) string {
	text, _ = prompt.Final(text)
	var facts []string
	for line := range strings.Lines(text) {
		if fact, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && len(fact) > 3 {
			facts = append(facts, "- "+scrub(prompt.Defuse(fact)))
		}
	}
	return strings.Join(facts, "\n")
}
