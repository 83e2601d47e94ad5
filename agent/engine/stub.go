package engine

import (
	"fmt"
	"strings"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// stubbed is the entry as prompts of an epoch show it whose Stub is above the entry's id: a long tool result is one
// line. It depends on nothing but the entry, so the same bytes are sent until the next compaction.
func stubbed(e session.Entry) session.Entry {
	const short = 24 // tokens that a result may have as it is
	if e.Message.Role != model.Tool || e.Tokens <= short+budget.MessageTokens {
		return e
	}
	first, _, _ := strings.Cut(strings.TrimSpace(e.Message.Text), "\n")
	if runes := []rune(first); len(runes) > 60 {
		first = string(runes[:60]) + "…"
	}
	full := e
	e.Message.Text = fmt.Sprintf("[%s: %s (%d tokens left out)]", e.Message.Name, first, e.Tokens)
	if e.Tokens = budget.Tokens(e.Message.Text) + budget.MessageTokens; e.Tokens >= full.Tokens {
		return full
	}
	return e
}

// shown are the entries as the prompts of an epoch show them. Those of the running turn have no id yet.
func shown(epoch session.Epoch, entries []session.Entry) []session.Entry {
	list := make([]session.Entry, len(entries))
	for i, e := range entries {
		if e.ID != 0 && e.ID < epoch.Stub {
			e = stubbed(e)
		}
		list[i] = e
	}
	return list
}
