package engine_test

import (
	"testing"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/session"
)

func TestWhatChangesStandsBehindTheSystemMessage(t *testing.T) {
	const system, memory, notes = "You are Pinch.\n\n## SOUL.md\nDry.", "## MEMORY.md\n- the key is brass", "[Notes of what was said before]\n- tea"
	for _, c := range []struct{ head, summary, want string }{
		{system, "", ""},
		{system, notes, notes},
		{system + "\n\n" + memory, "", memory},
		{system + "\n\n" + memory, notes, memory + "\n\n" + notes},
	} {
		hello := session.Entry{ID: 1, Message: model.Message{Role: model.User, Text: "Hello"}}
		req, err := engine.Stored(session.Epoch{Head: c.head, Summary: c.summary, Tools: "[]"}, []session.Entry{hello})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(req.Messages) == 3 {
			got = req.Messages[1].Text
		}
		if m := req.Messages; m[0].Text != system || m[len(m)-1].Text != "Hello" || got != c.want || c.want == "" && len(m) != 2 {
			t.Errorf("%q and %q become %+v", c.head, c.summary, m)
		}
	}
}
