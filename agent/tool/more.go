package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pinch/agent/command"
	"pinch/agent/model"
	"pinch/agent/session"
)

// Use is the name of the tool that calls one outside of the tools block. The loop takes it apart with Unwrap, so
// that the real tool is checked, recorded and logged under its own name.
const Use = "use"

// mostFound is how many schemas more_tools returns.
const mostFound = 3

// More returns the core tools more_tools and use over tools that do not stand in the tools block.
func More(hidden Set) []Tool {
	return []Tool{
		{
			Name: "more_tools", Doc: "Find other tools by what they do.", Effect: None,
			Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
			Run: func(_ context.Context, c Call) (Result, error) {
				var args struct{ Query string }
				if err := json.Unmarshal(c.Args, &args); err != nil {
					return Result{}, err
				}
				return Result{Text: hidden.For(c.Owner()).find(args.Query)}, nil
			},
		},
		{
			Name: Use, Doc: "Call a tool that more_tools found.", Effect: None,
			Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"]}`),
			Run: func(context.Context, Call) (Result, error) {
				return Result{}, Refuse("use cannot call itself: give the name of another tool")
			},
		},
	}
}

// Unwrap returns the call inside a checked call of use.
func Unwrap(id string, args json.RawMessage) (model.ToolCall, error) {
	var inner struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(args, &inner); err != nil {
		return model.ToolCall{}, err
	}
	return model.ToolCall{ID: id, Name: inner.Name, Arguments: cmp.Or(string(inner.Arguments), "{}")}, nil
}

// Owner tells whether a call comes from a conversation that only the owner hears.
func (c Call) Owner() bool { return c.Audience == session.OwnerOnly }

// find returns the schemas of the tools that fit a query best, a line each, or the names of all.
func (s Set) find(query string) string {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return r == ' ' || r == '_' || r == ',' })
	score := func(t Tool) int {
		n, text := 0, strings.ToLower(t.Name+" "+t.Doc)
		for _, w := range words {
			if len(w) > 2 && strings.Contains(text, strings.TrimSuffix(w, "s")) {
				n++
			}
		}
		return n
	}
	list := slices.DeleteFunc(s.All(), func(t Tool) bool { return score(t) == 0 })
	slices.SortStableFunc(list, func(a, b Tool) int { return score(b) - score(a) })
	if len(list) == 0 {
		names := make([]string, len(s.tools))
		for i, t := range s.tools {
			names[i] = t.Name
		}
		if len(names) == 0 {
			return "There are no other tools."
		}
		return "Nothing fits. Other tools: " + strings.Join(names, ", ")
	}
	var b strings.Builder
	for _, t := range list[:min(len(list), mostFound)] {
		line, err := json.Marshal(t.Spec())
		if err != nil {
			continue // a set holds only schemas that are JSON
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String() + `Call one with use, such as {"name":"` + list[0].Name + `","arguments":{…}}`
}

// Operation makes a tool of an operation. Its one argument, where it takes one, is the text behind the command.
func Operation(op command.Op, effect Effect) Tool {
	schema := `{"type":"object","properties":{}}`
	if op.Usage != "" {
		schema = `{"type":"object","properties":{"text":{"type":"string"}}}`
	}
	return Tool{
		Name: op.Name, Doc: op.Doc.EN, Schema: json.RawMessage(schema), Effect: effect, Owner: op.Who == command.Owner,
		Run: func(ctx context.Context, c Call) (Result, error) {
			var args struct{ Text string }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return Result{}, err
			}
			r, err := op.Run(ctx, command.Call{
				Name: op.Name, Args: args.Text, Conversation: string(c.Conversation), Owner: c.Owner(), Language: "en",
			})
			return Result{Text: r.Text}, err
		},
	}
}
