package reflex_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pinch/agent/reflex"
)

// expand draws a sentence that a template stands for. It reads the template by itself, as a check on the parser.
func expand(t *rapid.T, template string) string {
	r := []rune(template)
	out, i := expandBranches(t, r, 0)
	if i != len(r) {
		t.Fatalf("%q: stopped at %d", template, i)
	}
	return out
}

// expandBranches draws one of the branches up to a closing bracket or the end.
func expandBranches(t *rapid.T, r []rune, i int) (string, int) {
	branches := []string{""}
	for i < len(r) && r[i] != ']' && r[i] != ')' {
		last := &branches[len(branches)-1]
		switch r[i] {
		case '|':
			branches = append(branches, "")
			i++
		case '[', '(':
			inner, end := expandBranches(t, r, i+1)
			if r[i] == '(' || rapid.Bool().Draw(t, "taken") {
				*last += " " + inner + " "
			}
			i = end + 1
		case '<':
			*last += rapid.SampledFrom([]string{"light", "lights", "lamp"}).Draw(t, "rule")
			i += len("<lamp>")
		case '{':
			slot := string(r[i:])
			slot = slot[:strings.IndexByte(slot, '}')+1]
			end := i + utf8.RuneCountInString(slot)
			*last += " " + expandSlot(t, slot) + " "
			i = end
		default:
			*last += string(r[i])
			i++
		}
	}
	return rapid.SampledFrom(branches).Draw(t, "branch"), i
}

func expandSlot(t *rapid.T, slot string) string {
	_, kind, _ := strings.Cut(strings.TrimSuffix(slot, "}"), ":")
	base, _, _ := strings.Cut(kind, "(")
	values := map[string][]string{
		"time": {"7", "7:30 pm", "tomorrow at 7am", "下午三点", "明早七点半", "noon"}, "tool": {"photo", "porch light", "porch_light", "门廊灯"},
		"duration": {"10s", "an hour and a half", "七天", "两分半", "1 day 2 hours"}, "number": {"1", "twenty five", "九十九", "１００"},
		"text": {"blue cheese", "蓝色奶酪", "B2, row 7", "zebra"},
	}[base]
	switch kind {
	case "enum(onoff)":
		values = []string{"on", "打开", "关掉"}
	case "enum(rooms)":
		values = []string{"Kitchen", "living room", "客厅"}
	}
	return rapid.SampledFrom(values).Draw(t, "value")
}

func TestExpansionsMatchTheirReflex(t *testing.T) {
	s := load(t)
	type own struct{ id, template string }
	var all []own
	for _, r := range house() {
		for _, templates := range r.Templates {
			for _, template := range templates {
				all = append(all, own{r.ID, template})
			}
		}
	}
	for _, o := range all {
		rapid.Check(t, func(t *rapid.T) {
			text := expand(t, o.template)
			if m, result := s.Match(text, now); result != reflex.Matched || m.Reflex != o.id {
				t.Fatalf("%q of %q: got %q, result %d", text, o.template, m.Reflex, result)
			}
		})
	}
}

func FuzzMatch(f *testing.F) {
	for _, text := range []string{"what time is it", "记住我的车停在B2。", "remind me in 1h30m to call", "把厨房的灯打开", "？", "please please 请 谢谢", "wake me at half past 7 tomorrow",
		"remember \xff\xfe x", "删除第一万万条笔记", strings.Repeat("二百五点五", 60), strings.Repeat("把", 300), strings.Repeat("remember that ", 21), "关于关于关于我我我说说说过过过什么什么什么", "İİİ ﷽ 👩‍👩‍👧 e\u0301"} {
		f.Add(text)
	}
	s := load(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, result := s.Match(text, now)
		if (result == reflex.None) != (m.Reflex == "") {
			t.Fatalf("result %d with %+v", result, m)
		}
		for _, slot := range m.Slots {
			if m.Reflex == "remember" && !strings.Contains(text, slot.Value) || slot.Value == "" {
				t.Fatalf("slot %+v is not of %q", slot, text)
			}
		}
		if steps, bound := s.Cost(text, now); steps > bound {
			t.Fatalf("%d steps, bound %d", steps, bound)
		}
		reflex.ParseDuration(text)
		if at, _, ok := reflex.ParseTime(text, now); ok && (!at.After(now) || at.After(now.AddDate(0, 0, 15))) {
			t.Fatalf("%q is %v", text, at)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, r := range house() {
		for _, templates := range r.Templates {
			for _, template := range templates {
				f.Add(template, "(light|lights)")
			}
		}
	}
	f.Add("a <x> [b", "<x>")
	f.Add(strings.Repeat("<x>", 80), strings.Repeat("<x>", 80))
	f.Add(`\{ {n:number(1..2,0.1,percent)}`, "{t:time}")
	f.Fuzz(func(t *testing.T, template, rule string) {
		named := map[string]string{"x": rule, "y": rule + "<x>"}
		err := reflex.Parse(template, named)
		s, newErr := reflex.New([]reflex.Reflex{one("r", "", template)}, lists(), named)
		if err != nil && newErr == nil {
			t.Fatalf("%q: parse says %v, New accepts it", template, err)
		}
		if newErr == nil {
			s.Match(template, now)
		}
	})
}

// TestHostileTextStaysWithinTheBound makes long sentences of the words that most templates share.
func TestHostileTextStaysWithinTheBound(t *testing.T) {
	s := load(t)
	most := 0
	for _, text := range []string{strings.Repeat("的", 300), strings.Repeat("把记住一下", 60), strings.Repeat("what is the ", 25), strings.Repeat("1 h ", 75),
		strings.Repeat("请", 300), strings.Repeat("please ", 42), strings.Repeat("我说过关于什么的", 37), strings.Repeat("一百二十三点四五六", 33)} {
		steps, bound := s.Cost(text, now)
		if steps == 0 && bound > 0 || steps > bound {
			t.Errorf("%.20q: %d steps, bound %d", text, steps, bound)
		}
		most = max(most, steps)
	}
	if most < 300 {
		t.Errorf("at most %d steps: these sentences are not hostile", most)
	}
}

func TestMatchInParallel(t *testing.T) {
	s := load(t)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 200 {
				if m, _ := s.Match("remember that the key is blue", now); m.Args != "the key is blue" {
					t.Fatalf("got %q", m.Args)
				}
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	s := load(b)
	for name, text := range map[string]string{
		"hit": "what time is it", "hit-zh": "请问现在几点了", "hit-text": "remember that the spare key is at Anna's", "hit-slots": "一个半小时后提醒我给妈妈打电话",
		"miss": "can you write me a short poem about the sea and the wind in autumn", "miss-near": "我说过的话你都记住了没有，关于那件事我们以后再说吧",
		"miss-long": strings.Repeat("我说过关于什么的", 37),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Match(text, now)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		load(b)
	}
}
