package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pinch/agent/model"
	"pinch/agent/prompt"
	"pinch/agent/tool"
	"pinch/budget"
)

// Lossless is the engine whose notes are nodes that keep the way back: each names the span of entries that it stands
// for, and the tool expand brings any part of them back verbatim. Old nodes are joined into coarser ones when they
// take too much room; the originals stay reachable by the joined span.
//
//	[#340-361, 14 Nov] the porch lamp is on GPIO17; …
type Lossless struct{ *Window }

// NewLossless returns a lossless engine over a window.
func NewLossless(w *Window) *Lossless {
	l := &Lossless{w}
	w.summarise = l.nodes
	return l
}

// Tools returns the tool expand.
func (l *Lossless) Tools() []tool.Tool {
	return []tool.Tool{{
		Name: "expand", Doc: "Show the original messages of a note's #span.", Effect: tool.None, Run: l.expand,
		Schema: json.RawMessage(`{"type":"object","properties":{"span":{"type":"string"},"page":{"type":"integer"}},"required":["span"]}`),
	}}
}

const nodesHead = summaryHead + "(expand shows the messages behind a #span)\n"

// nodes adds a node for what is dropped, and joins the oldest ones until all fit.
func (l *Lossless) nodes(ctx context.Context, j job, asked bool) (string, How, error) {
	list, how := parseNodes(j.tail.epoch.Summary), ByRule
	share := j.limit / 3
	if len(j.dropped) > 0 {
		source, body := sourceText("", j.dropped), ""
		if j.ask.Generate != nil && share >= leastSummary && (l.Config.Compaction != Off || asked) {
			var err error
			if body, how, err = l.byModel(ctx, j, source); err != nil {
				return "", "", err
			}
		}
		if body == "" {
			body, how = extract("", j.dropped, j.focus, share), ByRule
		}
		body = clip(body, share)
		body += missing(body, "", j.dropped, share/2)
		first, last := j.dropped[0], j.dropped[len(j.dropped)-1]
		list = append(list, node{first: first.ID, last: last.ID, when: first.At.Format("2 Jan"), text: flat(scrub(prompt.Defuse(body)))})
	}
	for len(list) > 1 && size(list) > j.limit {
		a, b := list[0], list[1]
		joined := node{first: a.first, last: b.last, when: a.when, text: flat(extract(a.text+"\n"+b.text, nil, "", share))}
		list = append([]node{joined}, list[2:]...)
	}
	if len(list) == 0 {
		return "", how, nil
	}
	return render(list), how, nil
}

// node is one note and the span of entries behind it.
type node struct {
	first, last int64
	when, text  string
}

func (n node) String() string { return fmt.Sprintf("[#%d-%d, %s] %s", n.first, n.last, n.when, n.text) }

func render(list []node) string {
	var b strings.Builder
	b.WriteString(nodesHead)
	for _, n := range list {
		b.WriteString(n.String() + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func size(list []node) int { return budget.Tokens(render(list)) }

// parseNodes reads the nodes of a summary back; a line that is none is left out.
func parseNodes(summary string) []node {
	var list []node
	for line := range strings.Lines(strings.TrimPrefix(summary, nodesHead)) {
		var n node
		head, text, ok := strings.Cut(strings.TrimSpace(line), "] ")
		if !ok {
			continue
		}
		span, when, _ := strings.Cut(head, ", ")
		if _, err := fmt.Sscanf(span, "[#%d-%d", &n.first, &n.last); err == nil {
			n.when, n.text = when, text
			list = append(list, n)
		}
	}
	return list
}

func flat(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\n- ", "; ")), " ")
}

// pageTokens is how much of a span expand shows at once.
const pageTokens = 350

// expand shows the entries of a span of the same conversation, page by page.
func (l *Lossless) expand(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct {
		Span string
		Page int
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tool.Result{}, err
	}
	var first, last int64
	if _, err := fmt.Sscanf(strings.TrimLeft(args.Span, "[# "), "%d-%d", &first, &last); err != nil {
		return tool.Result{}, tool.Refuse("a span looks like #340-361, as in the notes")
	}
	entries, err := l.Log.Between(ctx, c.Conversation, first, last)
	if err != nil {
		return tool.Result{}, err
	}
	var pages []string
	var b strings.Builder
	for _, e := range entries {
		if e.Message.Role == model.Tool || e.Message.Text == "" {
			continue
		}
		line := string(e.Message.Role) + ": " + e.Message.Text + "\n"
		if b.Len() > 0 && budget.Tokens(b.String()+line) > pageTokens {
			pages = append(pages, b.String())
			b.Reset()
		}
		b.WriteString(line)
	}
	pages = append(pages, b.String())
	page := min(max(args.Page, 1), len(pages))
	return tool.Result{Text: fmt.Sprintf("page %d of %d\n%s", page, len(pages), pages[page-1])}, nil
}
