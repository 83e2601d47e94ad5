package engine

import (
	"context"
	"fmt"
	"slices"
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

// job is a span of a conversation that a summary shall stand for.
type job struct {
	ask     Ask
	tail    tail            // the conversation as it was sent
	dropped []session.Entry // its oldest part
	limit   int             // tokens of the summary
	focus   string          // what matters to the person
}

// leastSummary is the fewest tokens for which a model is worth asking.
const leastSummary = 64

// body is how many tokens of a summary are for its text; the rest is for identifiers that it lost.
func (j job) body() int { return (j.limit - budget.Tokens(summaryHead)) * 3 / 4 }

// before is what the notes so far hold.
func (j job) before() string { return strings.TrimPrefix(j.tail.epoch.Summary, summaryHead) }

// summary writes down what a conversation loses: by the model in band, by the model in chunks where the whole does
// not fit, else by rule. It always succeeds unless ctx ends.
func (w *Window) summary(ctx context.Context, j job, asked bool) (text string, how How, err error) {
	source := sourceText(j.before(), j.dropped)
	body, how := "", ByRule
	switch {
	case w.Config.Compaction == Off && !asked:
		if budget.Tokens(j.tail.epoch.Summary) <= j.limit {
			return j.tail.epoch.Summary, ByCut, nil
		}
		j.dropped = nil // what there is of notes gets shorter
	case j.ask.Generate != nil && j.limit >= leastSummary && len(j.dropped) > 0:
		if body, how, err = w.byModel(ctx, j, source); err != nil {
			return "", "", err
		}
	}
	if body == "" {
		body, how = extract(j.before(), j.dropped, j.focus, j.body()), ByRule
	}
	body = scrub(prompt.Defuse(body))
	if body == "" {
		return "", how, nil
	}
	body = summaryHead + prompt.First(body, j.body())
	for room := j.limit - budget.Tokens(body); ; room -= 16 { // texts may count more together than apart
		text = body + missing(body, j.before(), j.dropped, room)
		if budget.Tokens(text) <= j.limit || room <= 0 {
			return text, how, nil
		}
	}
}

// byModel returns a summary that passed its check, or "" after the second that did not.
func (w *Window) byModel(ctx context.Context, j job, source string) (string, How, error) {
	for _, instruction := range []string{summaryPrompt, summaryAgain} {
		req, ok, err := j.tail.inband(instruct(instruction, j.body(), j.focus), j.ask)
		if err != nil {
			return "", "", err
		}
		if !ok {
			return w.cascade(ctx, j, source)
		}
		reply, err := j.ask.Generate(ctx, "compaction", req)
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		if err != nil {
			break // it is away; asking again would only wait again
		}
		if body, ok := usable(reply, source, j.body()); ok {
			return body, ByModel, nil
		}
	}
	return "", ByRule, nil
}

// instruct completes an instruction for notes of so many tokens.
func instruct(instruction string, tokens int, focus string) string {
	text := fmt.Sprintf(instruction, tokens*6/10)
	if focus = prompt.DefuseName(focus); focus != "" {
		text += fmt.Sprintf(summaryFocus, focus)
	}
	return text
}

// cascade summarises a text that is too long for one prompt: its chunks one by one, then what came of them. A chunk
// that the model does not manage is shortened by rule. Notes that are done are kept until the compaction is, so that
// one that was interrupted goes on where it was.
func (w *Window) cascade(ctx context.Context, j job, text string) (string, How, error) {
	room := unbound(j.ask.Plan.Window-summaryCap(j.ask.Plan)) - 200
	how := ByRule
	for {
		parts := chunks(text, room)
		limit := j.body()
		if len(parts) > 1 {
			limit = min(limit, room/4) // so that each pass is shorter than the last
		}
		var notes []string
		for _, part := range parts {
			body, by, err := w.note(ctx, j, part, limit)
			if err != nil {
				return "", "", err
			}
			if by == ByModel {
				how = ByModel
			}
			notes = append(notes, body)
		}
		if how == ByRule { // no chunk came back: the rule does better with the whole than with what is left of it
			return "", how, nil
		}
		if text = strings.Join(notes, "\n"); len(parts) == 1 || budget.Tokens(text) <= j.body() {
			return text, how, nil
		}
	}
}

// note summarises one text, by the model within its time, else by rule.
func (w *Window) note(ctx context.Context, j job, text string, limit int) (string, How, error) {
	w.mu.Lock()
	done, ok := w.notes[j.ask.Key][text]
	w.mu.Unlock()
	if ok {
		return done, ByModel, nil
	}
	wait, cancel := context.WithTimeout(ctx, chunkTime)
	defer cancel()
	reply, err := j.ask.Generate(wait, "compaction", model.Request{
		Messages: []model.Message{
			{Role: model.System, Text: instruct(chunkPrompt, limit, j.focus)},
			{Role: model.User, Text: text},
		},
		Reply: summaryCap(j.ask.Plan),
	})
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	body, ok := "", false
	if err == nil {
		body, ok = usable(reply, text, limit)
	}
	if !ok {
		return extract(text, nil, j.focus, limit), ByRule, nil
	}
	w.mu.Lock()
	if w.notes[j.ask.Key] == nil {
		w.notes[j.ask.Key] = map[string]string{}
	}
	w.notes[j.ask.Key][text] = body
	w.mu.Unlock()
	return body, ByModel, nil
}

// usable checks a summary: notes and no tool call, not empty, not the same over and over, and made of the words of its
// source. What is over the limit is cut at a line end.
func usable(reply model.Reply, source string, limit int) (string, bool) {
	const leastWords, leastKnown, leastNew = 4, 0.4, 0.34
	text, silent := prompt.Final(reply.Text)
	if silent || len(reply.Calls) > 0 {
		return "", false
	}
	text = prompt.First(text, limit)
	known, all := 0, 0
	words, own := map[string]bool{}, map[string]bool{}
	for _, word := range content(source) {
		words[word] = true
	}
	for _, word := range content(text) {
		all++
		own[word] = true
		if words[word] {
			known++
		}
	}
	ok := all >= leastWords && float64(known) >= leastKnown*float64(all) && float64(len(own)) >= leastNew*float64(all)
	return strings.TrimSpace(text), ok
}

// common are words that say nothing about what was talked of.
var common = strings.Fields(`that this with from have has had will would could should what when where which there their they them
	then than your you're i'm about into just also like know want need please thanks thank sure okay here help
	assist assistance anything something more some make made been being were was does doing done tell today
	can't don't i'll it's let's how can you are the and for not but all any get our out her him his its she who
	understand conversation summary notes note question questions happy glad great good well very really
	好的 哈哈 谢谢 你好 您好 不客 客气 没问 问题 明白 知道 记住 住了 可以 什么 怎么 有什 帮你 吗我 我会 的吗 还有 请问 没有 这个 那个 一个 就是`)

// content are the words of a text that carry meaning, in lower case. Han text, which has no spaces, counts by pairs of
// runes, since single ones are in every text.
func content(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}) {
		word = strings.Trim(word, "'")
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			runes := []rune(word)
			for i := range len(runes) - 1 {
				list = append(list, string(runes[i:i+2]))
			}
		} else if len(word) > 2 || strings.ContainsAny(word, "0123456789") {
			list = append(list, word)
		}
	}
	return slices.DeleteFunc(list, func(w string) bool { return slices.Contains(common, w) })
}

// sourceText is what a summary may speak of.
func sourceText(before string, dropped []session.Entry) string {
	var b strings.Builder
	b.WriteString(before)
	for _, e := range dropped {
		b.WriteString("\n" + string(e.Message.Role) + ": " + bare(e.Message.Text))
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
