package engine

import (
	"time"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// lostResult stands for a result that the conversation does not hold.
const lostResult = "error: the result of this call was lost"

// Repair makes a conversation acceptable to providers, which refuse all of it for one broken pair: each call is
// followed at once by exactly one result. A call without one gets an error, a result without a call is dropped. What
// is whole is returned as it is. latest is when the newest entry was made that a repair is about; zero = none was
// needed. Repair(Repair(x)) == Repair(x).
func Repair(entries []session.Entry) (repaired []session.Entry, latest time.Time) {
	if whole(entries) {
		return entries, time.Time{}
	}
	var caller session.Entry
	var open []model.ToolCall // of caller, without a result so far
	broken := func(e session.Entry) {
		if e.At.After(latest) {
			latest = e.At
		}
	}
	settle := func() {
		for _, c := range open {
			broken(caller)
			m := model.Message{Role: model.Tool, CallID: c.ID, Name: c.Name, Text: lostResult}
			repaired = append(repaired, session.Entry{
				ID: caller.ID, Turn: caller.Turn, Message: m, Tokens: budget.Tokens(m.Text) + budget.MessageTokens, At: caller.At,
			})
		}
		open = nil
	}
	for _, e := range entries {
		if e.Message.Role == model.Tool {
			if i := answers(open, e.Message.CallID); i >= 0 {
				open = append(open[:i:i], open[i+1:]...)
				repaired = append(repaired, e)
			} else {
				broken(e)
			}
			continue
		}
		settle()
		repaired = append(repaired, e)
		caller, open = e, e.Message.Calls
	}
	settle()
	return repaired, latest
}

// whole reports whether no pair is broken.
func whole(entries []session.Entry) bool {
	var open []model.ToolCall
	for _, e := range entries {
		if e.Message.Role != model.Tool {
			if len(open) > 0 {
				return false
			}
			open = e.Message.Calls
			continue
		}
		i := answers(open, e.Message.CallID)
		if i < 0 {
			return false
		}
		open = append(open[:i:i], open[i+1:]...)
	}
	return len(open) == 0
}

// answers is the index of the call that a result belongs to; -1 = none.
func answers(open []model.ToolCall, id string) int {
	for i, c := range open {
		if c.ID == id {
			return i
		}
	}
	return -1
}
