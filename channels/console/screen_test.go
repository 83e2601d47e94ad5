package console_test

import (
	"strings"
	"testing"

	"pinch/channels"
	"pinch/channels/console"
)

// shown is what a screen keeps when the status lines are gone.
func shown(events ...channels.Event) string {
	var out strings.Builder
	console.Screen(&out, events...)
	var kept []string
	for _, line := range strings.SplitAfter(out.String(), "\n") {
		if i := strings.LastIndex(line, "\r\x1b[K"); i >= 0 {
			line = line[i+len("\r\x1b[K"):]
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

func using(name string) channels.Event {
	return channels.Event{Progress: &channels.Progress{Phase: channels.Using, Detail: name}}
}

func TestScreenPrintsNothingTwice(t *testing.T) {
	old := writing("to yes")
	old.Progress.Answers = []string{"m0"}
	for name, row := range map[string]struct {
		events []channels.Event
		want   string
	}{
		"not streamed":           {[]channels.Event{part("Hello", "m")}, "Hello\n\n"},
		"streamed whole":         {[]channels.Event{writing("Hel"), writing("lo"), part("Hello", "m")}, "Hello\n\n"},
		"streamed in part":       {[]channels.Event{writing("Hel"), part("Hello", "m")}, "Hello\n\n"},
		"final is trimmed":       {[]channels.Event{writing("Hello \n\n"), part("Hello", "m")}, "Hello \n\n\n"},
		"final goes on":          {[]channels.Event{writing("Hello\n"), part("Hello ⚡", "m")}, "Hello\n ⚡\n\n"},
		"another final":          {[]channels.Event{writing("Hel"), part("Sorry", "m")}, "Hel\nSorry\n\n"},
		"in two parts":           {[]channels.Event{writing("One.\n\nTw"), part("One."), part("Two.", "m")}, "One.\n\nTwo.\n\n"},
		"two parts, one written": {[]channels.Event{writing("One."), part("One."), part("Two.", "m")}, "One.\nTwo.\n\n"},
		"a tool between":         {[]channels.Event{writing("Let me see."), using("list"), writing(" Two."), part("Let me see. Two.", "m")}, "Let me see.\n Two.\n\n"},
		"an earlier turn":        {[]channels.Event{old, part("to yesterday", "m0"), writing("He"), part("Hello", "m")}, "(to an earlier message)\nto yesterday\nHello\n\n"},
		"a broken stream before": {[]channels.Event{writing("He"), part("to yesterday", "m0"), part("Hello", "m")}, "He\n(to an earlier message)\nto yesterday\nHello\n\n"},
		"nothing":                {[]channels.Event{using("list")}, "(no reply)\n\n"},
		"nothing but an old one": {[]channels.Event{part("to yesterday", "m0")}, "(to an earlier message)\nto yesterday\n(no reply)\n\n"},
		"hostile":                {[]channels.Event{writing("a\x1b"), writing("[2Jb"), using("x\x1b]0;t\ay"), part("a\x1b[2Jbc", "m")}, "ab\nc\n\n"},
	} {
		if got := shown(row.events...); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestScreenTellsHowTheTurnStands(t *testing.T) {
	var out strings.Builder
	console.Screen(&out, channels.Event{Progress: &channels.Progress{Phase: channels.Reading, Percent: 40}}, using("a\nb\x1b[2J"))
	for _, want := range []string{"0 s reading 40 %", "0 s using a b"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q has no %q", out.String(), want)
		}
	}
}

func TestStrip(t *testing.T) {
	for text, want := range map[string]string{
		"plain 文字\ttab\n":              "plain 文字\ttab\n",
		"\x1b[1;31mred\x1b[0m":         "red",
		"\x1b]0;title\aa":              "a",
		"\x1b]8;;http://x\x1b\\link":   "link",
		"\x1b(Bset \x1bc":              "set ",
		"a\x1b]never ended\nnext":      "a\nnext",
		"a\x1b[12":                     "a",
		"bell\a\b\r back\u009b31m":     "bell back31m",
		"\u202eturned\u202c \u2066x":   "turned x",
		"\x1b\x1b[2Jtwice":             "twice",
		"\x1b[31\x1b[32mbegun again":   "begun again",
		"\x1b]a\x1b[31mosc with a csi": "osc with a csi",
	} {
		if got := console.Strip(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzStrip: nothing that a terminal would obey comes through, wherever the text is cut.
func FuzzStrip(f *testing.F) {
	f.Add("a\x1b[31mb\x1b]0;t\x1b\\c\n", 3)
	f.Add("\u009b\x7f\r\u202e文", 2)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		text = strings.ToValidUTF8(text, "")
		whole := console.Strip(text)
		for _, r := range whole {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q lets %q through", text, r)
			}
		}
		runes := []rune(text)
		cut = max(0, min(cut, len(runes)))
		if pieces := console.Strip(string(runes[:cut]), string(runes[cut:])); pieces != whole {
			t.Fatalf("%q: whole %q, in pieces %q", text, whole, pieces)
		}
	})
}
