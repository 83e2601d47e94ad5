package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pinch/agent/prompt"
)

var replies = []struct {
	name, in, want string
	silent         bool
}{
	{"plain", "  Hello there.\n\nBye.  \n", "Hello there.\n\nBye.", false},
	{"empty", " \n", "", false},
	{"silent", "NO_REPLY", "", true},
	{"silent in Markdown", " **NO_REPLY**.\n", "", true},
	{"silent in code", "`HEARTBEAT_OK`", "", true},
	{"silent after thinking", "<think>\nhm\n</think>\n\nno_reply", "", true},
	{"silent at the end", "All is well.\n\nNO_REPLY", "All is well.", false},
	{"silent at the start", "NO_REPLY\nBut one thing.", "But one thing.", false},
	{"silent named", "NO_REPLY means silence.", "NO_REPLY means silence.", false},
	{"nearly silent", "NO_REP", "NO_REP", false},
	{"no", "No reply yet from Ana.", "No reply yet from Ana.", false},
	{"thinking", "<think>a\n<b></think>\n\nYes.", "Yes.", false},
	{"thinking in the middle", "One.\n<think>two</think>\nThree.", "One.\n\nThree.", false},
	{"only thinking", "<think>and on it goes", "", false},
	{"lone closer at the start", "\n</think>\n\nYes.", "Yes.", false},
	{"lone closer later", "Hm.</think> Yes.", "Hm. Yes.", false},
	{"about the tag", "The `<think>` tag, or a <think> tag, ends with `</think>`.", "The `<think>` tag, or a <think> tag, ends with `</think>`.", false},
	{"call in a tag", "I look.\n<tool_call>\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>", "I look.", false},
	{"call cut off", "<tool_call>{\"name\":\"re", "", false},
	{"call in XML", "<function=read><parameter=path>a</parameter></function> Done.", "Done.", false},
	{"bare call", `Sure: {"name": "read", "parameters": {"path": "}{"}}`, "Sure:", false},
	{"bare call cut off", `{"name": "read", "arguments": {"path`, "", false},
	{"broken call", `{"name": "read", "arguments": {"path": 'a'}}`, "", false},
	{"list of calls", `[{"name":"read","arguments":{}},{"name":"list","arguments":{}}]`, "", false},
	{"OpenAI call", `{"type":"function","function":{"name":"read","arguments":"{}"}}`, "", false},
	{"fenced call", "Wait.\n```json\n{\"name\":\"read\",\"arguments\":{}}\n```\nOK", "Wait.\n\nOK", false},
	{"fenced call in a tag", "```xml\n<tool_call>{}</tool_call>\n```", "", false},
	{"Python call", `[read(path="a"), list()]`, "", false},
	{"Mistral call", `[TOOL_CALLS][{"name":"read"}]`, "", false},
	{"LFM call", `<|tool_call_start|>[read(path="a")]<|tool_call_end|>ok`, "ok", false},
	{"JSON that is no call", "```json\n{\"name\": \"Ana\", \"age\": 5}\n```", "```json\n{\"name\": \"Ana\", \"age\": 5}\n```", false},
	{"code", "```go\nif x { y() }\n```", "```go\nif x { y() }\n```", false},
	{"JSON unfinished", `{"name": "Ana"`, `{"name": "Ana"`, false},
	{"links and lists", "- [a](b)\n- [x] c [1, 2] {d}", "- [a](b)\n- [x] c [1, 2] {d}", false},
	{"talks on", "Hi.<|im_end|>\n<|im_start|>user\nmore", "Hi.", false},
	{"other tokens", "Hi<|foo|> you", "Hi you", false},
	{"less than", "a < b <= c <| d", "a < b <= c <| d", false},
	{"rule", "a\n-----------\nb\n***\nc", "a\n-----------\nb\n***\nc", false},
	{"Chinese", "好的。\nNO_REPLY\n再见", "好的。\n再见", false},
	{"invalid", "a\xffb", "a\uFFFDb", false},
}

func TestFinal(t *testing.T) {
	for _, c := range replies {
		if got, silent := prompt.Final(c.in); got != c.want || silent != c.silent {
			t.Errorf("%s: Final(%q) = %q, %v; want %q, %v", c.name, c.in, got, silent, c.want, c.silent)
		}
	}
}

// bySplit streams a reply in pieces of at most size bytes and checks what every release must hold to.
func bySplit(t interface{ Fatalf(string, ...any) }, text string, cut func(rest string) int) {
	final, silent := prompt.Final(text)
	var s prompt.Stream
	released := ""
	for rest := text; rest != ""; {
		n := cut(rest)
		released += s.Write(rest[:n])
		rest = rest[n:]
		if !strings.HasPrefix(final, released) {
			t.Fatalf("%q: released %q, which must be taken back for %q", text, released, final)
		}
		if !utf8.ValidString(released) {
			t.Fatalf("%q: released a part of a character: %q", text, released)
		}
	}
	released += s.Close()
	if released != final || s.Silent() != silent {
		t.Fatalf("%q: streamed %q (%v), whole %q (%v)", text, released, s.Silent(), final, silent)
	}
}

func TestStreamAtEverySplit(t *testing.T) {
	for _, c := range replies {
		for at := 1; at < len(c.in); at++ {
			bySplit(t, c.in, func(rest string) int {
				if len(rest) == len(c.in) {
					return at
				}
				return len(rest)
			})
		}
		bySplit(t, c.in, func(string) int { return 1 })
	}
}

func TestStreamAtRandomSplits(t *testing.T) {
	var pieces []string
	for _, c := range replies {
		pieces = append(pieces, c.in)
	}
	pieces = append(pieces, "<think>", "</think>", "```json\n", "```", "{\"name\":", "NO_REPLY", "\n", "<", "[", "**", "字", " ")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pieces"), "")
		bySplit(t, text, func(rest string) int { return rapid.IntRange(1, len(rest)).Draw(t, "cut") })
	})
}

func TestStreamReleasesEarly(t *testing.T) {
	var s prompt.Stream
	for _, c := range []struct{ in, want string }{
		{"Hel", "Hel"}, {"lo", "lo"}, {" ", ""}, {"you", " you"}, {".\n", "."}, {"N", ""}, {"ow", "\nNow"}, {" <", ""}, {"b>", " <b>"},
	} {
		if got := s.Write(c.in); got != c.want {
			t.Errorf("Write(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestStreamOpenedByTheTemplate(t *testing.T) {
	s := prompt.Stream{Opened: true}
	got := s.Write("the user asks") + s.Write("…</thi") + s.Write("nk>\n\nYes") + s.Close()
	if got != "Yes" {
		t.Errorf("got %q", got)
	}
	s = prompt.Stream{Opened: true}
	if got := s.Write("never ends") + s.Close(); got != "" {
		t.Errorf("got %q of thinking that never ends", got)
	}
}

func TestStreamHoldsNoMoreThanItMust(t *testing.T) {
	var s prompt.Stream
	long := `{"name": "` + strings.Repeat("x", 10_000)
	got := s.Write(long) + s.Close()
	if got != long {
		t.Errorf("a long text that is no call lost something: %d of %d bytes", len(got), len(long))
	}
	call := `{"name": "write", "arguments": {"content": "` + strings.Repeat("x", 10_000) + `"}}`
	if got, _ := prompt.Final(call); got != "" {
		t.Errorf("a long call leaked: %.80q", got)
	}
}

func FuzzStream(f *testing.F) {
	for i, c := range replies {
		f.Add(c.in, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		bySplit(t, text, func(rest string) int { return min(len(rest), int(step)%7+1) })
		final, _ := prompt.Final(text)
		if final != strings.TrimSpace(final) {
			t.Fatalf("blanks around %q", final)
		}
		if strings.Contains(final, "<tool_call>") && !strings.Contains(text, "`<tool_call>") {
			if strings.Contains(text, "<tool_call>") {
				t.Fatalf("a call leaked: %q", final)
			}
		}
	})
}

func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("The light in the porch is on, and it is 21.5 °C there. ", 40)
	for b.Loop() {
		if got, _ := prompt.Final(text); got == "" {
			b.Fatal("empty")
		}
	}
	b.ReportMetric(float64(len(text)), fmt.Sprintf("bytes/%s", "op"))
}
