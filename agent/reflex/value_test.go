package reflex_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pinch/agent/reflex"
)

func TestParseDuration(t *testing.T) {
	for text, seconds := range map[string]int{
		"一个半小时": 5400, "1小时30分": 5400, "an hour and a half": 5400, "两分半": 150, "三刻钟": 2700, "二十四分钟": 1440, "半小时": 1800,
		"一小时二十分": 4800, "twenty five minutes": 1500,
		"1h30m": 5400, "90s": 90, "1H 30M": 5400, "half an hour": 1800, "a quarter of an hour": 900, "a couple of minutes": 120,
		"one and a half hours": 5400, "2 and a half minutes": 150, "an hour": 3600, "a minute and thirty seconds": 90, "1.5 hours": 5400,
		"two weeks": 1209600, "a hundred seconds": 100, "one hour, thirty minutes": 5400, "three hundred and five seconds": 305,
		"半个小时": 1800, "半个钟头": 1800, "两个半小时": 9000, "一小时零五分": 3900, "１０分钟": 600, "一百二十秒": 120, "两天": 172800, "半天": 43200,
		"一个星期": 604800, "一分半钟": 90, "三点五小时": 12600, "1小时又20分": 4800, "5 分": 300, "一刻钟": 900, "二百五秒": 250, "0 s": 0,
		"": -1, "5": -1, "minutes": -1, "five": -1, "30 minutes 1 hour": -1, "1 hour 2 hours": -1, "an hour and": -1, "1.5 seconds": -1,
		"五": -1, "小时": -1, "三五分钟": -1, "一小时一天": -1, "5 minutes later": -1, "-5 minutes": -1, "half hour": -1, "1h30": -1, "1:30 m": -1,
		"in an hour": -1, "9999999999999999999999 weeks": -1, "half a minute and a second": -1, "半": -1, "一个半": -1, "五 minutes": 300,
		strings.Repeat("1 s ", 90): -1,
	} {
		d, ok := reflex.ParseDuration(text)
		if ok != (seconds >= 0) || ok && d != time.Duration(seconds)*time.Second {
			t.Errorf("%q: got %v %v, want %d s", text, d, ok, seconds)
		}
	}
}

// units are those of a duration in both languages.
var units = []struct {
	seconds int
	en, zh  string
}{{86400, "day", "天"}, {3600, "hour", "小时"}, {60, "minute", "分钟"}, {1, "second", "秒"}}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.IntRange(1, 7*86400).Draw(t, "seconds")
		digits := rapid.Bool().Draw(t, "digits")
		var en, zh []string
		for rest, i := seconds, 0; i < len(units); i++ {
			n := rest / units[i].seconds
			rest %= units[i].seconds
			if n == 0 {
				continue
			}
			inEnglish, inChinese := englishWords(n), hanWords(n)
			if digits {
				inEnglish, inChinese = fmt.Sprint(n), fmt.Sprint(n)
			}
			en = append(en, inEnglish+" "+units[i].en+strings.Repeat("s", min(n-1, 1)))
			zh = append(zh, inChinese+units[i].zh)
		}
		compact := (time.Duration(seconds) * time.Second).String()
		for _, text := range []string{strings.Join(en, " "), strings.Join(en, " and "), strings.Join(zh, ""), compact, fmt.Sprintf("%ds", seconds)} {
			if d, ok := reflex.ParseDuration(text); !ok || d != time.Duration(seconds)*time.Second {
				t.Fatalf("%q: got %v %v, want %d s", text, d, ok, seconds)
			}
		}
	})
}

// englishWords writes a number below 100 in words.
func englishWords(n int) string {
	ones := strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	if n < 20 {
		return ones[n]
	}
	tens := strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety")[n/10-2]
	if n%10 == 0 {
		return tens
	}
	return tens + "-" + ones[n%10]
}

// hanWords writes a number from 1 to 99999999 in Chinese.
func hanWords(n int) string {
	if n >= 10000 {
		high, low := hanWords(n/10000)+"万", n%10000
		switch {
		case low == 0:
			return high
		case low < 1000:
			return high + "零" + hanBelow(low)
		}
		return high + hanBelow(low)
	}
	if n >= 10 && n < 20 {
		return strings.TrimPrefix(hanBelow(n), "一")
	}
	return hanBelow(n)
}

func hanBelow(n int) string {
	digits := []rune("零一二三四五六七八九")
	out, gap := "", false
	for _, u := range []struct {
		value int
		name  string
	}{{1000, "千"}, {100, "百"}, {10, "十"}, {1, ""}} {
		d := n / u.value
		n %= u.value
		if d == 0 {
			gap = out != ""
			continue
		}
		if gap {
			out += "零"
		}
		out, gap = out+string(digits[d])+u.name, false
	}
	return out
}

func englishNumber(n int) string {
	var out []string
	if n >= 1000 {
		out = append(out, englishWords(n/1000), "thousand")
	}
	if n/100%10 > 0 {
		out = append(out, englishWords(n/100%10), "hundred")
	}
	if n%100 > 0 {
		if len(out) > 0 && n%2 == 0 {
			out = append(out, "and")
		}
		out = append(out, englishWords(n%100))
	}
	return strings.Join(out, " ")
}

// numbers is a set with one reflex, "set it to {n}".
func numbers(t testing.TB, kind string) func(string) string {
	t.Helper()
	s, err := reflex.New([]reflex.Reflex{one("r", "{n}", "set it to {n:"+kind+"}")}, reflex.Lists{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) string {
		m, _ := s.Match("set it to "+text, now)
		return m.Args
	}
}

func TestNumberWords(t *testing.T) {
	read := numbers(t, "number(0..99999999)")
	for n := 1; n < 10000; n++ {
		want := fmt.Sprint(n)
		for _, text := range []string{englishNumber(n), hanWords(n)} {
			if got := read(text); got != want {
				t.Fatalf("%q: got %q, want %q", text, got, want)
			}
		}
	}
	for _, n := range []int{10000, 10001, 10010, 12000, 100000, 150030, 99999999} {
		if got := read(hanWords(n)); got != fmt.Sprint(n) {
			t.Errorf("%q: got %q, want %d", hanWords(n), got, n)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"number(-20..50,0.5)", "-12.5", "-12.5"}, {"number(-20..50,0.5)", "minus five", "-5"}, {"number(-20..50,0.5)", "负三点五", "-3.5"},
		{"number(-20..50,0.5)", "12.3", ""}, {"number(-20..50,0.5)", "51", ""}, {"number(-20..50,0.5)", "１２．５", "12.5"},
		{"number(0..100,1,percent)", "百分之二十", "20"}, {"number(0..100,1,percent)", "20%", "20"}, {"number(0..100,1,percent)", "百分之20%", ""},
		{"number(0..100)", "20%", ""}, {"number(0..100)", "二〇", ""}, {"number(0..100)", "三五", ""}, {"number(0..100)", "零", "0"}, {"number(0..100)", "zero", "0"},
		{"number(0..9999)", "fifteen hundred", "1500"}, {"number(0..9999)", "二百五", "250"}, {"number(0..9999)", "两千零三", "2003"}, {"number(0..9999)", "a hundred", "100"},
		{"number(0..9999)", "one two", ""}, {"number(0..9999)", "twenty twelve", ""}, {"number(0..9999)", "hundred", ""}, {"number(0..9999)", "one hundred and", ""},
		{"number(0..9999)", "百", ""}, {"number(0..9999)", "一百零", ""}, {"number(0..9999)", "十百", ""}, {"number(0..9999)", "1.2.3", ""}, {"number(0..9999)", "7:30", ""},
		{"number(0..9999)", "一百十五", "115"}, {"number(0..9999)", "1e3", ""}, {"number(0..9999)", strings.Repeat("9", 250), ""},
	} {
		if got := numbers(t, c.kind)(c.text); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.kind, c.text, got, c.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	// now is Wednesday 2026-12-02, 10:00. A result "dd hh:mm", with "!" where the day was given.
	for text, want := range map[string]string{
		"7": "02 19:00", "7am": "03 07:00", "7 a.m.": "03 07:00", "7:30 pm": "02 19:30", "19:30": "02 19:30", "07:30": "03 07:30", "9:59": "02 21:59", "10": "02 22:00", "10:01": "02 10:01",
		"half past seven": "02 19:30", "quarter past 7": "02 19:15", "a quarter to eight": "02 19:45", "quarter to one": "02 12:45", "noon": "02 12:00", "midnight": "03 00:00",
		"seven thirty": "02 19:30", "five thirty five pm": "02 17:35", "seven o'clock": "02 19:00", "7 in the morning": "03 07:00", "8 at night": "02 20:00",
		"12 am": "03 00:00", "12pm": "02 12:00", "12": "02 12:00", "0:15": "03 00:15",
		"tomorrow at 7am": "03 07:00!", "7am tomorrow": "03 07:00!", "tomorrow morning at 7": "03 07:00!", "tomorrow morning at 7am": "03 07:00!", "tonight at 8": "02 20:00!", "8 tonight": "02 20:00!",
		"8pm tonight": "02 20:00!", "today at 3": "02 15:00!", "monday at 9am": "07 09:00!", "9 am on friday": "04 09:00!", "wednesday at 9am": "09 09:00!", "wednesday 11:00": "02 11:00!", "tomorrow at noon": "03 12:00!", "tomorrow at 12": "03 12:00!",
		"七点": "02 19:00", "早上七点": "03 07:00", "今晚八点半": "02 20:30!", "明早七点": "03 07:00!", "明天早上七点半": "03 07:30!", "下午3点15分": "02 15:15", "下午三点一刻": "02 15:15", "三点三刻": "02 15:45",
		"后天上午九点": "04 09:00!", "大后天中午十二点": "05 12:00!", "下周一上午九点": "07 09:00!", "下周三上午九点": "09 09:00!", "周三上午九点": "09 09:00!", "周三下午两点": "02 14:00!", "星期天晚上八点": "06 20:00!", "周日20:00": "06 20:00!",
		"凌晨两点": "03 02:00", "中午一点": "02 13:00", "十九点二十": "02 19:20", "7点零5分": "", "七点零五分": "02 19:05", "７：３０": "02 19:30", "19点": "02 19:00", "今晚十二点": "03 00:00!", "凌晨十二点": "03 00:00", "零点": "03 00:00",
		"十一点整": "02 11:00", "八点钟": "02 20:00", "7点05分": "02 19:05", "下个星期二早上八点": "08 08:00!", "明天早上八点": "03 08:00!", "明早上八点": "03 08:00!",
		"": "", "25": "", "7:60": "", "7:3": "", "13 pm": "", "today at 7am": "", "tomorrow": "", "tomorrow at midnight": "", "seven minutes": "", "half past": "", "half past 7:30": "", "at": "", "7 8": "",
		"tomorrow at 7 monday": "", "7 am pm": "", "tomorrow morning at 7pm": "", "today at nine in the morning": "", "monday": "", "7.5": "", "next monday at 9": "",
		"今天早上七点": "", "明天": "", "七": "", "七点七十分": "", "早上十二点": "", "二十五点": "", "周八七点": "", "晚上两点": "", "昨天七点": "", "三点五": "02 15:05",
	} {
		got := ""
		if at, dayGiven, ok := reflex.ParseTime(text, now); ok {
			got = at.Format("02 15:04") + strings.Repeat("!", map[bool]int{true: 1}[dayGiven])
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
