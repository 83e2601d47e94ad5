package reflex_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pinch/agent/reflex"
)

// now is a Wednesday, 10:00.
var now = time.Date(2026, time.December, 2, 10, 0, 0, 0, time.UTC)

// house is a list of reflexes as a board with devices would have them.
func house() []reflex.Reflex {
	return append(reflex.Builtins(),
		reflex.Reflex{ID: "lamp.set", Op: "do", Args: "lamp {room} {state}", Templates: map[string][]string{
			"en": {"(turn|switch) {state:enum(onoff)} [the] {room:enum(rooms)} <lamp>"},
			"zh": {"[把] {room:enum(rooms)} [的] 灯 {state:enum(onoff)}", "{state:enum(onoff)} {room:enum(rooms)} [的] 灯 [吗]"},
		}, Examples: map[string][]string{
			"en": {"turn on the kitchen light"}, "zh": {"把厨房的灯打开", "打开厨房灯"},
		}},
		reflex.Reflex{ID: "dim", Op: "do", Args: "dim {room} {n}", Templates: map[string][]string{
			"en": {"set {room:enum(rooms)} brightness to {n:number(0..100,1,percent)} [percent]"},
			"zh": {"[把] {room:enum(rooms)} 亮度 (调到|设为) {n:number(0..100,1,percent)}"},
		}},
		reflex.Reflex{ID: "remind", Op: "remind", Args: "{d} {what}", Templates: map[string][]string{
			"en": {"remind me in {d:duration(10s..7d)} to {what:text(120)}"},
			"zh": {"{d:duration(10s..7d)} (后|之后) 提醒我 {what:text(120)}"},
		}},
		reflex.Reflex{ID: "alarm", Op: "wake", Args: "{t}", Templates: map[string][]string{
			"en": {"wake me [up] at {t:time}"}, "zh": {"{t:time} 叫醒我"},
		}},
		reflex.Reflex{ID: "run", Op: "do", Args: "{x}", Templates: map[string][]string{
			"en": {"run {x:tool} [now]"}, "zh": {"[现在] 运行 {x:tool}"},
		}},
	)
}

var rules = map[string]string{"lamp": "(light|lights|lamp)"}

func lists() reflex.Lists {
	return reflex.Lists{
		Enums: map[string][]reflex.Value{
			"onoff": {{ID: "on", Aliases: []string{"打开", "开"}}, {ID: "off", Aliases: []string{"关闭", "关掉", "关"}}},
			"rooms": {{ID: "kitchen", Aliases: []string{"厨房"}}, {ID: "living", Aliases: []string{"living room", "living room wall", "客厅"}}},
		},
		Tools: []reflex.Value{{ID: "porch_light", Aliases: []string{"门廊灯"}}, {ID: "photo"}},
	}
}

func load(t testing.TB) *reflex.Set {
	t.Helper()
	s, err := reflex.New(house(), lists(), rules)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// said is a sentence with the reflex and the arguments that it stands for.
type said struct{ text, id, args string }

func TestEnglishSentences(t *testing.T) {
	testSentences(t, []said{
		{"help", "help", ""},
		{"Help!", "help", ""},
		{"What can you do?", "help", ""},
		{"hey, what can you do", "help", ""},
		{"what time is it", "time", ""},
		{"What's the time?", "time", ""},
		{"what’s the time, please?", "time", ""},
		{"could you please tell me the time", "time", ""},
		{"what day is it today?", "time", ""},
		{"time?", "time", ""},
		{"status", "status", ""},
		{"board status please", "status", ""},
		{"How warm is the board?", "temperature", ""},
		{"board temperature", "temperature", ""},
		{"how hot are you right now", "temperature", ""},
		{"Remember that the spare key is at Anna's.", "remember", "the spare key is at Anna's"},
		{"remember: gate code = 4711", "remember", "gate code = 4711"},
		{"Please remember I parked on Level B2, please", "remember", "I parked on Level B2"},
		{"can you remember that Tom owes me 5.50€", "remember", "Tom owes me 5.50€"},
		{"remember to say thanks", "remember", "to say thanks"},
		{"remember that the freezer is set to -18 (not -20)", "remember", "the freezer is set to -18 (not -20)"},
		{`remember "blue door" is the shed`, "remember", `"blue door" is the shed`},
		{"what did I tell you about the spare key?", "recall", "the spare key"},
		{"What do you remember about Anna's car", "recall", "Anna's car"},
		{"list my notes", "notes", ""},
		{"show me my notes, thanks", "notes", ""},
		{"delete note 3", "forget", "3"},
		{"forget note twenty-five", "forget", "25"},
		{"Delete note #3", "", ""},
		{"delete note number １２", "forget", "12"},
		{"TURN ON the kitchen light", "lamp.set", "lamp kitchen on"},
		{"switch off living room wall lamp", "lamp.set", "lamp living off"},
		{"set kitchen brightness to forty", "dim", "dim kitchen 40"},
		{"set kitchen brightness to 40%", "dim", "dim kitchen 40"},
		{"set kitchen brightness to 40 percent", "dim", "dim kitchen 40"},
		{"remind me in an hour and a half to call Mum", "remind", "5400s call Mum"},
		{"remind me in 1h30m to get To Kyoto guide", "remind", "5400s get To Kyoto guide"},
		{"wake me up at 6:45 am", "alarm", "2026-12-03T06:45:00Z"},
		{"wake me at 7 tomorrow", "alarm", "2026-12-03T07:00:00Z"},
		{"run porch light", "run", "porch_light"},
		{"run porch_light now", "run", "porch_light"},
	})
}

func TestChineseSentences(t *testing.T) {
	testSentences(t, []said{
		{"帮助", "help", ""},
		{"你能做什么？", "help", ""},
		{"请问你会做什么呢", "help", ""},
		{"现在几点", "time", ""},
		{"请问现在几点了？", "time", ""},
		{"现在 几点 钟", "time", ""},
		{"今天几号", "time", ""},
		{"今天星期几呀", "time", ""},
		{"状态", "status", ""},
		{"查看一下状态", "status", ""},
		{"板子多少度", "temperature", ""},
		{"板子温度", "temperature", ""},
		{"主板有多热？", "temperature", ""},
		{"记住我的车停在B2。", "remember", "我的车停在B2"},
		{"请记住，门禁密码是 4711", "remember", "门禁密码是 4711"},
		{"麻烦你帮我记一下 Anna 的生日是五月三号，谢谢", "remember", "Anna 的生日是五月三号"},
		{"请你把妈妈的电话是123记下来", "remember", "妈妈的电话是123"},
		{"我跟你说过关于备用钥匙的什么？", "recall", "备用钥匙"},
		{"关于 Anna 我说过什么", "recall", "Anna"},
		{"我说过钥匙什么", "recall", "钥匙"},
		{"列出笔记", "notes", ""},
		{"请列出我的笔记", "notes", ""},
		{"我的笔记", "notes", ""},
		{"笔记", "notes", ""},
		{"记个笔记：周六 洗车", "remember", "周六 洗车"},
		{"CPU 温度多少？", "temperature", ""},
		{"删除笔记3", "forget", "3"},
		{"请删除第三条笔记", "forget", "3"},
		{"删掉第二十一条笔记吧", "forget", "21"},
		{"把厨房的灯打开", "lamp.set", "lamp kitchen on"},
		{"麻烦你关掉客厅的灯，谢谢", "lamp.set", "lamp living off"},
		{"把厨房亮度调到百分之五十", "dim", "dim kitchen 50"},
		{"厨房亮度设为８０％", "dim", "dim kitchen 80"},
		{"一个半小时后提醒我 Call 妈妈。", "remind", "5400s Call 妈妈"},
		{"5分钟之后提醒我关火", "remind", "300s 关火"},
		{"请明天早上七点半叫醒我", "alarm", "2026-12-03T07:30:00Z"},
		{"现在运行门廊灯", "run", "porch_light"},
	})
}

func testSentences(t *testing.T, table []said) {
	t.Helper()
	s := load(t)
	for _, c := range table {
		m, result := s.Match(c.text, now)
		if result == reflex.Tie || m.Reflex != c.id || m.Args != c.args {
			t.Errorf("%q: got %q args %q (result %d), want %q %q", c.text, m.Reflex, m.Args, result, c.id, c.args)
		}
	}
}

func TestSentencesForTheModel(t *testing.T) {
	s := load(t)
	for _, text := range []string{
		"", " ", "?", "。。。", "please", "请", "hey please",
		"? what time is it", "？现在几点", "?status",
		"help\nstatus", "```help```", "remember " + strings.Repeat("a", 292), "remember a\nb", "remember ```a```",
		"help me write a letter", "what can you do about the noise", "帮助我写一封信", "你能做什么菜", "帮我", "status 😀", "/help",
		"what time is it in Tokyo", "what time is it when I say so", "现在几点去合适", "东京现在几点", "今天几号发工资", "what's the time complexity",
		"what is the status of my order", "order status", "我的订单状态", "status code 404", "订单状态怎么样",
		"how warm is it today", "temperature in Berlin", "how hot are you guys", "今天多少度", "现在多少度",
		"don't remember that I said so", "do you remember", "do you remember Anna?", "remember when we went to Rome?", "remember when we went to Rome",
		"remember", "remember that", "remember this", "Remember it!", "remember me", "remember why we left", "I remember that the key is blue",
		"remember the gate code? it was 4711", "remember my name?", "can you remember that the key is blue?", "remember what I said",
		"不要记住我的生日", "别记住这个", "记住了吗", "记住了", "你记住我的生日了吗", "记住我喜欢什么了么", "你能记住这个吗", "记住这个", "记住我的生日吗？", "我记住了密码", "请记住",
		"what did I tell you", "what did I tell you about it?", "what do you know", "what did you tell me about Rome", "我说过什么", "你跟我说过关于钥匙的什么",
		"don't list my notes", "list my notes about Rome", "我的笔记本", "我的笔记在哪里",
		"delete note", "delete note 0", "delete note 10000", "delete note 2.5", "delete note -3", "delete note 3 and 4", "delete notes 3", "记笔记", "notes on Rome", "time flies", "your temperature in Rome", "你热爱什么", "删除笔记", "删除所有笔记", "不要删除笔记3", "forget it", "note three",
		"don't turn on the kitchen light", "不要打开厨房灯", "why did you turn on the kitchen light", "打开厨房灯是什么意思", "turn on the garage light",
		"turn on the light", "turn on the kitchen light and the living room light", "turn the kitchen light", "把灯打开", "打开所有的灯",
		"set kitchen brightness to 140", "set kitchen brightness to 12.5", "set kitchen brightness to", "厨房亮度设为负五",
		"remind me in 5 seconds to call", "remind me in 8 days to call", "remind me in an hour", "remind me in hours to call",
		"run away", "run photo and porch light", "wake me at 25:00", "wake me at seven minutes",
	} {
		if m, result := s.Match(text, now); result != reflex.None {
			t.Errorf("%q matched %s %q by %q, result %d", text, m.Reflex, m.Args, m.Template, result)
		}
	}
}

func TestMatchTellsWhatItFound(t *testing.T) {
	m, result := load(t).Match("wake me at 7 tomorrow", now)
	want := []reflex.Slot{{Name: "t", Value: "2026-12-03T07:00:00Z", DayGiven: true}}
	if result != reflex.Matched || m.Op != "wake" || m.Template != "wake me [up] at {t:time}" || m.Owner || len(m.Slots) != 1 || m.Slots[0] != want[0] {
		t.Errorf("got %+v, result %d", m, result)
	}
	if m, _ = load(t).Match("wake me at 7", now); m.Slots[0].DayGiven || m.Slots[0].Value != "2026-12-02T19:00:00Z" {
		t.Errorf("without a day: got %+v", m.Slots)
	}
	if m, _ = load(t).Match("list my notes", now); !m.Owner {
		t.Error("notes are not marked as the owner's")
	}
}

func one(id, args string, templates ...string) reflex.Reflex {
	return reflex.Reflex{ID: id, Op: id, Args: args, Templates: map[string][]string{"en": templates}}
}

func TestTie(t *testing.T) {
	s, err := reflex.New([]reflex.Reflex{
		one("a", "", "open [the] door"), one("b", "", "open (the|a) door"), one("same", "", "close it", "close [it]", "lock up"),
		one("move", "{x} > {y}", "move {x:text(50)} to {y:text(50)}"),
	}, reflex.Lists{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]reflex.Result{
		"open the door": reflex.Tie, "open door": reflex.Matched, "open a door": reflex.Matched,
		"close it":         reflex.Matched, // two templates, one call
		"move tea to shed": reflex.Matched,
		"move a to b to c": reflex.Tie, // one template, two calls
		"move to to to":    reflex.Matched,
		"move to to to to": reflex.Tie,
		"move to to":       reflex.None,
	} {
		if m, got := s.Match(text, now); got != want {
			t.Errorf("%q: result %d (%+v), want %d", text, got, m, want)
		}
	}
}

func TestScorePrefersLessTextThenMoreWords(t *testing.T) {
	s, err := reflex.New([]reflex.Reflex{
		one("any", "{x}", "play {x:text(99)}"), one("radio", "{x}", "play radio {x:text(99)}"), one("two", "", "play {n:enum(nums)}"), one("jazz", "", "play radio two"),
	}, reflex.Lists{Enums: map[string][]reflex.Value{"nums": {{ID: "radio two"}, {ID: "radio three"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"play it": "any", "play radio one": "radio", "play radio three": "two", "play radio two": "jazz"} {
		if m, _ := s.Match(text, now); m.Reflex != want {
			t.Errorf("%q went to %q, want %q", text, m.Reflex, want)
		}
	}
	if _, result := s.Match("play "+strings.Repeat("a", 100), now); result != reflex.None {
		t.Error("a text over its bound matched")
	}
}

func TestExamplesGuardAgainstOverMatch(t *testing.T) {
	lamp := one("lamp", "", "set the light to max")
	lamp.Examples = map[string][]string{"en": {"set the light to max"}}
	for _, c := range []struct {
		other reflex.Reflex
		want  string
	}{
		{one("media", "", "set [the] light to max"), "fits another reflex as well"},
		{one("media", "{x}", "set {x:enum(things)}"), "taken by reflex media"},
		{one("other", "", "good night"), ""},
	} {
		lists := reflex.Lists{Enums: map[string][]reflex.Value{"things": {{ID: "the light to max"}}}}
		own := lamp
		if c.want == "taken by reflex media" {
			own.Templates = map[string][]string{"en": {"set the light to {what:text(9)}"}}
		}
		_, err := reflex.New([]reflex.Reflex{own, c.other}, lists, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("with %s: got %v, want %q", c.other.ID, err, c.want)
		}
	}
	lamp.Templates = map[string][]string{"en": {"set the light to max", "light up"}}
	if _, err := reflex.New([]reflex.Reflex{lamp}, reflex.Lists{}, nil); err == nil || !strings.Contains(err.Error(), "no example is won") {
		t.Errorf("a template without example: %v", err)
	}
}

func TestTemplateErrors(t *testing.T) {
	deep := map[string]string{"a": "<b> x", "b": "<c> x", "c": "<d> x", "d": "<e> x", "e": "end", "loop": "so <loop>", "bad": "so [", "empty": " ",
		"big": strings.Repeat("ab <many> ", 20), "many": strings.Repeat("word ", 50), "slot": "{n:number(1..2)}"}
	for _, c := range []struct {
		template string
		rune     int
		want     string
	}{
		{"open [the", 6, "is not closed by ']'"},
		{"open (a|b", 6, "is not closed by ')'"},
		{"open (a]", 8, "instead of ')'"},
		{"open a]", 7, "closes nothing"},
		{"open a|b", 7, "closes nothing"},
		{"open {n:number(1..2)", 6, "is not closed by '}'"},
		{"open <lamp", 6, "is not closed by '>'"},
		{"open <lamp>", 6, "there is no rule <lamp>"},
		{"open <loop>", 0, "nested more than 4 deep"},
		{"open <a>", 0, "nested more than 4 deep"},
		{"open <bad>", 0, "rule <bad>, rune 4: '['"},
		{"open <empty>", 0, "write at least one word"},
		{"open <big>", 0, "with all rules in place"},
		{"open [<slot>]", 6, "stands inside brackets"},
		{"open [x {n:number(1..2)}]", 6, "stands inside brackets"},
		{"open [x [(a|{n:number(1..2)})]]", 10, "stands inside brackets"},
		{"open []", 7, "an empty branch"},
		{"open (a|)", 9, "an empty branch"},
		{"open (a; b)", 8, "as two templates"},
		{"light[s] on", 6, "whole words"},
		{"[un]lock it", 5, "whole words"},
		{"open, please", 5, "leave punctuation out"},
		{`open \. it`, 6, "never counts"},
		{`open \`, 6, "nothing follows"},
		{"open {n}", 6, "a slot is {name:type}"},
		{"open {N:time}", 6, "lower-case letters"},
		{"open {n:date}", 6, "unknown type"},
		{"open {n:time(1)}", 6, "write time alone"},
		{"open {n:number(9..1)}", 6, "is empty"},
		{"open {n:number(1)}", 6, "write number(0..100)"},
		{"open {n:number(0..9,0)}", 6, "step is empty"},
		{"open {n:number(0..NaN)}", 6, "is empty"},
		{"open {n:number(0..9,1,miles)}", 6, "percent is the only one"},
		{"open {n:duration(7d..10s)}", 6, "write duration"},
		{"open {n:text(0)}", 6, "write text(N)"},
		{"open {n:text}", 6, "write text(...)"},
		{"open {n:enum(rooms)}", 0, "there is no list"},
		{"", 1, "empty"},
		{"please you", 0, "needs a word"},
		{"[open]", 0, "needs a word"},
		{"a {n:number(1..9)}", 0, "needs a word"},
		{"(a|open) {n:number(1..9)}", 0, "needs a word"},
		{"open {a:text(9)} {b:text(9)}", 0, "put a word between"},
		{"open {a:text(9)} [and] {b:text(9)}", 0, "put a word between"},
		{"[so] {a:text(9)} [is] open", 0, "must follow it"},
		{"open {a:text(9)} x {b:text(9)} y {c:text(9)}", 0, "more than two"},
		{"open {a:time} x {a:time}", 0, "two slots are named"},
		{"open " + strings.Repeat("x", 252), 257, "longer than 256"},
		{"open " + strings.Repeat("[a] ", 62), 0, ""},
		{strings.Repeat("[", 20) + "a", 17, "nested more than 16"},
	} {
		_, err := reflex.New([]reflex.Reflex{one("r", "", c.template)}, reflex.Lists{}, deep)
		var e *reflex.Error
		if c.want == "" {
			if err != nil {
				t.Errorf("%q: %v", c.template, err)
			}
		} else if !errors.As(err, &e) || e.Rune != c.rune || !strings.Contains(e.Problem, c.want) {
			t.Errorf("%q: got %v, want rune %d and %q", c.template, err, c.rune, c.want)
		}
	}
}

func TestReflexErrors(t *testing.T) {
	twice := one("r", "", "open it")
	for want, list := range map[string][]reflex.Reflex{
		"ID of its own":             {twice, twice},
		"and an operation":          {{ID: "x", Templates: twice.Templates}},
		"has no template":           {one("r", "")},
		"the arguments name {y}":    {one("r", "{x} {y}", "open {x:time}")},
		"of a reflex need the same": {one("r", "", "open {x:time}", "open it")},
		"belongs to another":        {one("r", "", "open {x:enum(twins)}")},
		"has no word":               {one("r", "", "open {x:enum(blank)}")},
	} {
		lists := reflex.Lists{Enums: map[string][]reflex.Value{"twins": {{ID: "a", Aliases: []string{"Bob"}}, {ID: "bob"}}, "blank": {{ID: "a", Aliases: []string{"..."}}}}}
		if _, err := reflex.New(list, lists, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
