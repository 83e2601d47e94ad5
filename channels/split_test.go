package channels_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"pinch/channels"
)

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func texts(parts []channels.Part) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return out
}

func split(text string, max int) []string {
	return texts(channels.Split(channels.Reply{Text: text}, max, units))
}

func TestSplitCutsAtTheCoarsestBorder(t *testing.T) {
	for _, c := range []struct {
		name, text string
		max        int
		want       []string
	}{
		{"fits", "  hello\n", 40, []string{"hello"}},
		{"nothing", " \n ", 40, nil},
		{"paragraph", "one two.\n\nthree four.\nfive", 20, []string{"one two.", "three four.\nfive"}},
		{"line", "one two. three\nfour five", 18, []string{"one two. three", "four five"}},
		{"sentence", "One two. Three four. Five six seven", 24, []string{"One two. Three four.", "Five six seven"}},
		{"chinese sentence", "今天下雨。明天晴天。后天不知道", 12, []string{"今天下雨。明天晴天。", "后天不知道"}},
		{"word", "alpha beta gamma delta", 12, []string{"alpha beta", "gamma delta"}},
		{"character", "abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"emoji is two units", "😀😀😀", 5, []string{"😀😀", "😀"}},
		{"cluster stays whole", "aaa👍🏽bbb", 6, []string{"aaa", "👍🏽bb", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := split(c.text, c.max); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSplitReopensACodeFence(t *testing.T) {
	got := split("Look:\n\n```go\nfunc a() {}\nfunc b() {}\nfunc c() {}\n```\n\nDone.", 39)
	want := []string{"Look:\n\n```go\nfunc a() {}\n```", "```go\nfunc b() {}\nfunc c() {}\n```", "Done."}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestSplitDedentsAFenceOfAList(t *testing.T) {
	got := split("- step\n  - inner\n    ```sh\n    ls aaaa\n    ls bbbb\n    ```\n- next step", 48)
	want := []string{"- step\n  - inner\n    ```sh\n    ls aaaa\n```", "```sh\nls bbbb\n```\n- next step"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestSplitDedentsAFenceThatBeginsAPart(t *testing.T) {
	got := split("- step\n  - inner\n    ```sh\n    ls aaaa\n    ls bbbb\n    ```\n- next step", 36)
	want := []string{"- step\n  - inner", "```sh\nls aaaa\nls bbbb\n```", "- next step"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestSplitKeepsAParagraphOfCodeTogether(t *testing.T) {
	text := strings.Repeat("word ", 12) + "\n\n~~~\na\n\nb\n~~~"
	if got := split(text, 62); len(got) != 2 || got[1] != "~~~\na\n\nb\n~~~" {
		t.Errorf("got %q", got)
	}
}

func TestSplitAddressesItsParts(t *testing.T) {
	at := channels.Address{Channel: "x", Chat: "7", Topic: "3"}
	parts := channels.Split(channels.Reply{Address: at, ReplyTo: "42", Text: "aaa bbb"}, 4, units)
	want := []channels.Part{{Address: at, ReplyTo: "42", Text: "aaa"}, {Address: at, Text: "bbb"}}
	if !reflect.DeepEqual(parts, want) {
		t.Errorf("got %+v", parts)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("one\n\ntwo three. four\n```go\nx := 1\n\ny := 2\n```\nend", 30)
	f.Add("    ~~~~ text\n\n\n    a\n    ~~~~\n😀👍🏽\u0301 。好", 24)
	f.Add("```\n\n\n\n```", 20)
	f.Add("```a`b\nc\xffd", 20)
	f.Add("x```y\n```\n``` ```", 21)
	f.Fuzz(func(t *testing.T, text string, max int) {
		if len(text) > 4<<10 {
			return
		}
		max = 20 + max&0x1ff
		parts := split(text, max)
		for _, p := range parts {
			if strings.TrimSpace(p) == "" || !utf8.ValidString(p) || units(p) > max {
				t.Fatalf("bad part %q of %d units, limit %d", p, units(p), max)
			}
		}
		kept, whole := bare(strings.Join(parts, "\n")), bare(strings.ToValidUTF8(text, "\uFFFD"))
		extra := len(kept) - len(whole)
		if !subsequence(whole, kept) || extra > len(parts)*max {
			t.Fatalf("%q became %q", text, parts)
		}
		if !strings.ContainsAny(text, "`~") && extra != 0 {
			t.Fatalf("%q became %q", text, parts)
		}
	})
}

// bare is a text without its white space.
func bare(s string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
}

func subsequence(part, whole []rune) bool {
	for _, r := range whole {
		if len(part) > 0 && part[0] == r {
			part = part[1:]
		}
	}
	return len(part) == 0
}
