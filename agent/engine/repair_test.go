package engine_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/session"
)

// shape makes entries of a short form: u and a are messages, "c12" calls 1 and 2, "r1" is the result of 1.
func shape(form string) []session.Entry {
	var list []session.Entry
	for i, word := range strings.Fields(form) {
		m := model.Message{Role: model.User, Text: word}
		switch word[0] {
		case 'a':
			m.Role = model.Assistant
		case 'c':
			m = model.Message{Role: model.Assistant}
			for _, id := range word[1:] {
				m.Calls = append(m.Calls, model.ToolCall{ID: string(id), Name: "read", Arguments: "{}"})
			}
		case 'r':
			m = model.Message{Role: model.Tool, CallID: word[1:], Name: "read", Text: word}
		}
		list = append(list, session.Entry{ID: int64(i + 1), Turn: 1, Message: m, At: time.Unix(int64(i+1), 0)})
	}
	return list
}

// formOf is the reverse of shape; "!1" is a synthetic result.
func formOf(list []session.Entry) string {
	var words []string
	for _, e := range list {
		m := e.Message
		word := m.Text
		if m.Role == model.Tool && !strings.HasPrefix(word, "r") {
			word = "!" + m.CallID
		}
		if len(m.Calls) > 0 {
			word = "c"
			for _, c := range m.Calls {
				word += c.ID
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestRepair(t *testing.T) {
	for _, c := range []struct {
		in, want string
		latest   int64 // 0 = whole
	}{
		{"", "", 0},
		{"u a u c1 r1 a", "u a u c1 r1 a", 0},
		{"u c12 r2 r1 a", "u c12 r2 r1 a", 0},
		{"u c1 a", "u c1 !1 a", 2},
		{"u c1", "u c1 !1", 2},
		{"u c12 r2", "u c12 r2 !1", 2},
		{"r1 u a", "u a", 1},
		{"u a r1 u", "u a u", 3},
		{"u c1 r1 r1 a", "u c1 r1 a", 4},
		{"u c1 u r1 a", "u c1 !1 u a", 4},
		{"u c11 r1 r1 a", "u c11 r1 r1 a", 0},
		{"u c11 r1 a", "u c11 r1 !1 a", 2},
		{"c1 c2 r2 r1", "c1 !1 c2 r2", 4},
	} {
		in := shape(c.in)
		got, latest := engine.Repair(in)
		if formOf(got) != c.want || (c.latest == 0) != latest.IsZero() || c.latest != 0 && latest.Unix() != c.latest {
			t.Errorf("%q became %q at %v, want %q at %d", c.in, formOf(got), latest, c.want, c.latest)
		}
		if !reflect.DeepEqual(in, shape(c.in)) {
			t.Errorf("%q: the caller's entries were changed", c.in)
		}
	}
}

func FuzzRepair(f *testing.F) {
	for _, seed := range []string{"ucr", "uc", "ur", "ucra", "uCRra", "cucrR", "CrRu", "Crrr"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, letters string) {
		var words []string
		for _, l := range letters {
			switch l {
			case 'c', 'r':
				words = append(words, string(l)+"1")
			case 'C':
				words = append(words, "c12")
			case 'R':
				words = append(words, "r2")
			case 'u', 'a':
				words = append(words, string(l))
			}
		}
		in := shape(strings.Join(words, " "))
		got, latest := engine.Repair(in)
		var messages, kept, talk []model.Message
		for _, e := range got {
			messages = append(messages, e.Message)
			if e.Message.Role != model.Tool {
				kept = append(kept, e.Message)
			}
		}
		for _, e := range in {
			if e.Message.Role != model.Tool {
				talk = append(talk, e.Message)
			}
		}
		if err := paired(messages); err != nil {
			t.Fatalf("%q became %q: %v", formOf(in), formOf(got), err)
		}
		if fmt.Sprint(kept) != fmt.Sprint(talk) {
			t.Fatalf("%q became %q: what was said changed", formOf(in), formOf(got))
		}
		if again, more := engine.Repair(got); formOf(again) != formOf(got) || !more.IsZero() {
			t.Fatalf("%q became %q, then %q", formOf(in), formOf(got), formOf(again))
		}
		if latest.IsZero() != (formOf(in) == formOf(got)) {
			t.Fatalf("%q became %q, repaired %v", formOf(in), formOf(got), !latest.IsZero())
		}
	})
}

func TestPairRepairStartsOneEpoch(t *testing.T) {
	k := newTalk(t, 4096, nil)
	k.turn(append([]model.Message{user("What is in the file?")}, append(use("1", "hello"), assistant("hello"))...)...)
	k.turn(user("And now?"), assistant("Nothing."))
	if len(k.log.epochs) != 1 {
		t.Fatalf("%d epochs before anything broke", len(k.log.epochs))
	}
	k.log.entries = append(k.log.entries[:2:2], k.log.entries[3:]...) // the result is lost
	a := k.turn(user("Still there?"), assistant("Yes."))
	if a.Epoch.Reason != "pair repair" || len(k.log.epochs) != 2 || !strings.Contains(texts(a.Request), "was lost") {
		t.Errorf("epoch %d: %q, %s", len(k.log.epochs), a.Epoch.Reason, texts(a.Request))
	}
	k.now = k.now.Add(-time.Hour) // the clock is set back
	k.turn(user("And again?"), assistant("Yes."))
	k.turn(user("And again?"), assistant("Yes."))
	if len(k.log.epochs) != 2 {
		t.Errorf("the same repair started %d more epochs", len(k.log.epochs)-2)
	}
}
