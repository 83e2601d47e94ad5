package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"pinch/agent/model"
	"pinch/agent/prompt"
	"pinch/agent/session"
	"pinch/agent/tool"
	"pinch/budget"
)

const (
	batch       = 64  // entries that are indexed in one commit
	candidates  = 30  // passages that are ranked
	mostTerms   = 16  // of a question that are looked for
	quotes      = 5   // that are told
	quoteTokens = 60  // of one quote
	beside      = 0.4 // weight of a passage's neighbour in the conversation
)

// Index adds a batch of what was said to the search index; more tells whether there is more to do.
func (m *Memory) Index(ctx context.Context) (more bool, err error) {
	entries, err := m.past.Unindexed(ctx, batch)
	if err != nil || len(entries) == 0 {
		return false, err
	}
	words := make([]string, len(entries))
	for i, e := range entries {
		if e.Message.Role == model.User || e.Message.Role == model.Assistant {
			words[i] = strings.Join(Terms(said(e)), " ")
		}
	}
	return len(entries) == batch, m.past.Index(ctx, entries, words)
}

// Tools returns the core tools recall and remember.
func (m *Memory) Tools() []tool.Tool {
	return []tool.Tool{
		{
			Name: "recall", Doc: "Search old messages and notes for facts.", Effect: tool.None, Run: m.recallTool,
			Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
		},
		{
			Name: "remember", Doc: "Keep a lasting fact in MEMORY.md.", Effect: tool.Workspace, Owner: true, Run: m.rememberTool,
			Schema: json.RawMessage(`{"type":"object","properties":{"fact":{"type":"string"}},"required":["fact"]}`),
		},
	}
}

func (m *Memory) rememberTool(_ context.Context, c tool.Call) (tool.Result, error) {
	var args struct{ Fact string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tool.Result{}, err
	}
	number, added, err := m.Remember(args.Fact)
	switch {
	case err != nil:
		return tool.Result{}, err
	case !added:
		return tool.Result{Text: fmt.Sprintf("Known already, note %d.", number)}, nil
	}
	return tool.Result{Text: fmt.Sprintf("Kept as note %d.", number)}, nil
}

func (m *Memory) recallTool(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct{ Query string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tool.Result{}, err
	}
	lines, err := m.Search(ctx, c.Audience, args.Query)
	if err != nil {
		return tool.Result{}, err
	}
	if len(lines) == 0 {
		return tool.Result{Text: "Nothing found. Try other words."}, nil
	}
	return tool.Result{Text: strings.Join(lines, "\n")}, nil
}

// Search returns the best quotes for a question that an audience may hear: notes first where they match, then what
// was said, each on a line.
func (m *Memory) Search(ctx context.Context, audience session.Audience, query string) ([]string, error) {
	var lines []string
	if audience == session.OwnerOnly {
		notes, err := m.Recall(ctx, query, 2)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			lines = append(lines, fmt.Sprintf("- note %d: %s", n.Number, n.Text))
		}
	}
	found, err := m.Passages(ctx, audience, query, candidates)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if len(lines) == quotes {
			break
		}
		if line := "- " + m.Quote(p, query); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// Passages returns what an audience may be told about a question of what was said, best first. What was not indexed
// yet is indexed now.
func (m *Memory) Passages(ctx context.Context, audience session.Audience, query string, limit int) ([]session.Passage, error) {
	for more := true; more; {
		var err error
		if more, err = m.Index(ctx); err != nil {
			return nil, err
		}
	}
	found, err := m.gather(ctx, audience, QueryTerms(query), limit)
	if err != nil {
		return nil, err
	}
	found = rank(found)
	return found[:min(len(found), limit)], nil
}

// gather looks for each term by itself and adds up: half by the index's own score, half by the best that the term
// reaches anywhere, so that a rare name in a long message counts for more than common words in a short one.
func (m *Memory) gather(ctx context.Context, audience session.Audience, terms []string, limit int) ([]session.Passage, error) {
	var all []session.Passage
	place := map[int64]int{}
	for _, term := range terms[:min(len(terms), mostTerms)] {
		found, err := m.past.Said(ctx, audience, []string{term}, limit)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			i, known := place[p.Entry.ID]
			if !known {
				i = len(all)
				place[p.Entry.ID] = i
				all = append(all, p)
				all[i].Score = 0
			}
			all[i].Score += (p.Score + found[0].Score) / 2
		}
	}
	return all, nil
}

// Quote is a passage in one line: when, who, and the part that fits the question best.
func (m *Memory) Quote(p session.Passage, query string) string {
	return quote(p.Entry, QueryTerms(query))
}

// rank orders passages by their own score and, with less weight, that of their neighbours; what only asks comes
// after what tells.
func rank(found []session.Passage) []session.Passage {
	score := map[int64]float64{}
	for _, p := range found {
		score[p.Entry.ID] = p.Score
	}
	value := func(p session.Passage) float64 {
		v := p.Score + beside*max(score[p.Entry.ID-1], score[p.Entry.ID+1])
		if asks(said(p.Entry)) {
			v *= 0.6
		}
		if p.Entry.Message.Role == model.Assistant {
			v *= 0.8
		}
		return v
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b session.Passage) int { return cmp.Compare(value(b), value(a)) })
	return found
}

// asks reports whether a text is a question and nothing else.
func asks(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "?") && !strings.Contains(text, ". ") || strings.HasSuffix(text, "？") && !strings.Contains(text, "。")
}

// said is what an entry itself says: without the header of its envelope and what was quoted in it.
func said(e session.Entry) string {
	text := e.Message.Text
	if e.Message.Role != model.User || !strings.HasPrefix(text, "[") {
		return text
	}
	for strings.HasPrefix(text, "[") {
		_, rest, ok := strings.Cut(text, "]")
		if !ok {
			break
		}
		text = strings.TrimLeft(rest, " \n")
	}
	return text
}

// quote is the part of an entry that holds most of the terms, with who said it and when.
func quote(e session.Entry, terms []string) string {
	who := "the person"
	if e.Message.Role == model.Assistant {
		who = "you"
	}
	text := strings.Join(strings.Fields(said(e)), " ")
	if budget.Tokens(text) > quoteTokens {
		text = best(text, terms)
	}
	return fmt.Sprintf("%s, %s: %s", e.At.Format(time.DateOnly), who, prompt.Defuse(text))
}

// best is the stretch of a long text with most of the terms.
func best(text string, terms []string) string {
	words := strings.SplitAfter(text, " ")
	if len(words) == 1 { // no spaces: by runes
		words = strings.Split(text, "")
	}
	const span = 40
	at, most := 0, -1
	for i := 0; i < len(words); i += span / 4 {
		piece := strings.Join(words[i:min(i+span, len(words))], "")
		n := 0
		for _, t := range Terms(piece) {
			if slices.Contains(terms, t) {
				n++
			}
		}
		if n > most {
			at, most = i, n
		}
	}
	out := strings.TrimSpace(strings.Join(words[at:min(at+span, len(words))], ""))
	if at > 0 {
		out = "…" + out
	}
	if at+span < len(words) {
		out += "…"
	}
	return out
}

// Note appends lines to the notes of a day, memory/YYYY-MM-DD.md.
func (m *Memory) Note(day time.Time, lines string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := "memory/" + day.Format(time.DateOnly) + ".md"
	old, err := tool.ReadFile(m.root, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write a note of the day: %w", err)
	}
	text := string(old)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); !strings.Contains(text, line+"\n") {
			text += line + "\n"
		}
	}
	if err := tool.WriteFile(m.root, name, []byte(text)); err != nil {
		return fmt.Errorf("write a note of the day: %w", err)
	}
	return nil
}
