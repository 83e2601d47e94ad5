package engine_test

import (
	"strings"
	"testing"
	"time"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// english and chinese are conversations as people have them: much of it says nothing.
const english = `U: Hi there!
A: Hello! How can I help you today?
U: I want to automate the greenhouse. The heater is on GPIO17 and the sensor is a BME280 at 0x76.
A: Nice. What temperature should it hold?
U: At least 12 degrees at night. Never let it run more than 20 minutes at once.
A: Understood. I will keep that in mind.
U: haha ok
A: :)
U: By the way, my daughter Mia is allergic to peanuts, so don't put them on shopping lists.
A: Noted.
U: What's the weather usually like in March?
A: It depends on where you live. In central Europe it is mild, with some frost. It can rain a lot. Take a coat.
U: The log is in /var/log/greenhouse/heater.log if you need it.
A: I decided to read it once an hour, at 14:05 first.
U: Thanks, sounds good.
A: You're welcome!
U: Could you also think about the watering? We still have to order the pump, model AQ-220.
A: Sure, the pump is on the list.
U: Dentist is tomorrow at 9:30, remind me in the morning.
A: I will.`

const chinese = `U: 你好！
A: 你好，有什么可以帮你？
U: 我想把鱼缸的灯自动化。灯接在GPIO22上，温度传感器是DS18B20。
A: 好的，几点开灯？
U: 每天早上7:30开，晚上9:45关。水温不要超过26度。
A: 明白了。
U: 哈哈，好的
A: 😊
U: 对了，我女儿叫小雨，对花生过敏。
A: 记住了。
U: 一般三月天气怎么样？
A: 看地方，一般比较潮湿。
U: 日志在 /var/log/tank/light.log 里。
A: 我会看的。
U: 谢谢
A: 不客气
U: 水泵还没买，型号是AQ-220，预算350元。
A: 好的。
U: 明天上午去看牙，提醒我。
A: 好的。`

// spoken makes entries of a script: two a turn, from id 1 on.
func spoken(script string) []session.Entry {
	at := time.Date(2026, 3, 2, 14, 5, 0, 0, time.Local)
	var list []session.Entry
	for i, l := range strings.Split(script, "\n") {
		m := model.Message{Role: model.Assistant, Text: l[3:]}
		if l[0] == 'U' {
			m = model.Message{Role: model.User, Text: "[Mon 2 Mar 14:05 · Ana · telegram] " + l[3:]}
		}
		list = append(list, session.Entry{ID: int64(i + 1), Turn: int64(i/2 + 1), Message: m, Tokens: budget.Tokens(m.Text) + budget.MessageTokens, At: at})
	}
	return list
}

func TestExtractKeepsWhatMatters(t *testing.T) {
	for _, c := range []struct {
		script string
		limit  int
		keeps  []string
		drops  []string
	}{
		{english, 170, []string{"GPIO17", "0x76", "12 degrees", "20 minutes", "Mia is allergic to peanuts", "/var/log/greenhouse/heater.log", "AQ-220", "tomorrow at 9:30", "(said on 2 Mar)"},
			[]string{"Hi there", "haha", "sounds good", "weather", "welcome", "How can I help", "14:05 · Ana"}},
		{chinese, 150, []string{"GPIO22", "DS18B20", "7:30", "26度", "小雨，对花生过敏", "/var/log/tank/light.log", "AQ-220", "350元", "明天上午去看牙", "(said on 2 Mar)"},
			[]string{"你好", "哈哈", "谢谢", "天气", "不客气"}},
	} {
		got := engine.Extract("", spoken(c.script), "", c.limit)
		if n := budget.Tokens(got); n > c.limit {
			t.Errorf("%d tokens, at most %d", n, c.limit)
		}
		for _, k := range c.keeps {
			if !strings.Contains(got, k) {
				t.Errorf("%q is lost in:\n%s", k, got)
			}
		}
		for _, d := range c.drops {
			if strings.Contains(got, d) {
				t.Errorf("%q is kept in:\n%s", d, got)
			}
		}
	}
}

func TestExtractOverGenerations(t *testing.T) {
	notes := engine.Extract("", spoken(english), "", 200)
	for range 5 { // five compactions of talk that says nothing
		notes = engine.Extract(notes, spoken("U: And how was the film?\nA: It was long.\nU: I liked it a lot, really.\nA: Fine."), "", 200)
	}
	for _, k := range []string{"GPIO17", "Mia is allergic", "AQ-220"} {
		if !strings.Contains(notes, k) {
			t.Errorf("%q is lost in:\n%s", k, notes)
		}
	}
}

func TestExtractKeepsWhatThePersonAskedFor(t *testing.T) {
	got := engine.Extract("", spoken(english), "the weather in March", 60)
	if !strings.Contains(got, "weather usually like in March") {
		t.Errorf("the focus is lost in:\n%s", got)
	}
	got = engine.Extract("", spoken(chinese), "三月天气", 60)
	if !strings.Contains(got, "三月天气") {
		t.Errorf("the focus is lost in:\n%s", got)
	}
}

func TestUsableSummaries(t *testing.T) {
	var source strings.Builder
	for _, e := range spoken(english + "\n" + chinese) {
		source.WriteString(e.Message.Text + "\n")
	}
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"good", "- greenhouse heater on GPIO17, BME280 sensor at 0x76\n- at least 12 degrees at night, at most 20 minutes at once\n- Mia allergic to peanuts", true},
		{"prose", "Ana automates her greenhouse: the heater is on GPIO17, the sensor a BME280 at 0x76. Pump AQ-220 must be ordered.", true},
		{"Chinese", "- 鱼缸灯接在GPIO22，传感器DS18B20\n- 每天早上7:30开，晚上9:45关，水温不超过26度\n- 女儿小雨对花生过敏", true},
		{"empty", "", false},
		{"silent", "NO_REPLY", false},
		{"chatter", "I understand! How can I help you today? Let me know what you would like to do next, and I am happy to assist you.", false},
		{"refusal", "I'm sorry, but as an AI language model I cannot access previous messages.", false},
		{"echo", "Make room: write notes from which you can go on. Keep decisions, open tasks with their ids, limits, standing wishes.", false},
		{"loop", strings.Repeat("the greenhouse heater greenhouse heater ", 30), false},
		{"Lorem", "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.", false},
		{"other Chinese", "很高兴为您服务，请问还有什么可以帮助您的吗？我随时都在这里等候您的吩咐。", false},
		{"call as text", `<tool_call>{"name":"write","arguments":{"path":"MEMORY.md"}}</tool_call>`, false},
		{"other story", "The knight rode to the castle where dragons guarded golden treasure beneath ancient towers.", false},
	} {
		if text, ok := engine.Usable(model.Reply{Text: c.text}, source.String(), 300); ok != c.want {
			t.Errorf("%s: %v (%q)", c.name, ok, text)
		}
	}
	if _, ok := engine.Usable(model.Reply{Text: "- heater on GPIO17, sensor BME280 at 0x76", Calls: []model.ToolCall{{Name: "write"}}}, source.String(), 300); ok {
		t.Error("notes with a call beside them passed")
	}
	long := strings.Repeat("- greenhouse heater on GPIO17, BME280 sensor at 0x76, AQ-220 pump\n- Mia is allergic to peanuts\n", 40)
	if text, _ := engine.Usable(model.Reply{Text: long}, source.String(), 120); budget.Tokens(text) > 120 || !strings.HasPrefix(long, text) {
		t.Errorf("%d tokens of at most 120", budget.Tokens(text))
	}
}
