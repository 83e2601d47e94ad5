package reflex

import (
	"math"
	"time"
)

// Seconds of the units of a duration.
const (
	second  = 1
	minute  = 60
	quarter = 15 * minute // 刻钟
	hour    = 60 * minute
	day     = 24 * hour
	week    = 7 * day
)

// maxSeconds bounds a duration to what time.Duration holds with ease.
const maxSeconds = 100 * 365 * day

// ParseDuration reads a text that is a duration as a whole, in English or Chinese: "an hour and a half", "1h30m",
// 一个半小时. It is in whole seconds.
func ParseDuration(text string) (time.Duration, bool) {
	if !eligible(text) {
		return 0, false
	}
	var s scanner
	t := s.scan(text)
	for _, h := range durations(t, 0, nil) {
		if h.end == len(t) {
			return time.Duration(h.num) * time.Second, true
		}
	}
	return 0, false
}

// part is one amount with its unit.
type part struct {
	end     int
	seconds float64
	unit    int
	broken  bool // a fraction: no smaller part follows
}

// durations reads parts whose units fall in size; each part that may be the last gives a hit.
func durations(t []token, i int, out []hit) []hit {
	n, sum, last := len(out), 0.0, math.MaxInt
	for i < len(t) {
		p, ok := readPart(t, i)
		if !ok || p.unit >= last {
			break
		}
		sum += p.seconds
		i, last = p.end, p.unit
		out = accept(out, i, sum)
		if phrase(t, i, "and", "a", "half") {
			out = accept(out, i+3, sum+float64(p.unit)/2)
		}
		if p.broken {
			break
		}
		switch at(t, i) {
		case "and", "零", "又", "加":
			i++
		}
	}
	return longest(out, n)
}

// accept adds a duration that is a whole number of seconds.
func accept(out []hit, end int, seconds float64) []hit {
	whole := math.Round(seconds)
	if math.Abs(whole-seconds) > 1e-6 || whole < 0 || whole > maxSeconds {
		return out
	}
	return append(out, hit{end: end, num: whole})
}

func readPart(t []token, i int) (part, bool) {
	var space [maxHits + 1]hit
	amounts := unsigned(t, i, space[:0])
	for k := len(amounts) - 1; k >= 0; k-- {
		a := amounts[k]
		if p, ok := englishPart(t, a); ok {
			return p, true
		}
		if p, ok := hanPart(t, a); ok {
			return p, true
		}
	}
	switch {
	case at(t, i) == "半":
		j := i + 1
		if at(t, j) == "个" {
			j++
		}
		end, unit := chineseUnit(t, j)
		return part{end, float64(unit) / 2, unit, true}, unit > 0
	case phrase(t, i, "half", "a"), phrase(t, i, "half", "an"):
		return article(t, i+2, 0.5)
	case phrase(t, i, "quarter", "of", "an"), phrase(t, i, "quarter", "of", "a"):
		return article(t, i+3, 0.25)
	case phrase(t, i, "a", "quarter", "of", "an"), phrase(t, i, "a", "quarter", "of", "a"):
		return article(t, i+4, 0.25)
	case phrase(t, i, "a", "couple", "of"):
		return article(t, i+3, 2)
	case phrase(t, i, "a"), phrase(t, i, "an"):
		return article(t, i+1, 1)
	}
	return part{}, false
}

// article reads the unit after an amount in words other than a number.
func article(t []token, i int, amount float64) (part, bool) {
	unit := englishUnit(at(t, i))
	return part{i + 1, amount * float64(unit), unit, amount < 1}, unit > 0
}

func englishPart(t []token, a hit) (part, bool) {
	if phrase(t, a.end, "and", "a", "half") && englishUnit(at(t, a.end+3)) > 0 {
		a.num += 0.5
		a.end += 3
	}
	unit := englishUnit(at(t, a.end))
	return part{a.end + 1, a.num * float64(unit), unit, a.num != math.Trunc(a.num)}, unit > 0
}

// hanPart reads [个] [半] unit [半] after an amount.
func hanPart(t []token, a hit) (part, bool) {
	i := a.end
	if at(t, i) == "个" {
		i++
	}
	half := at(t, i) == "半"
	if half {
		i++
	}
	end, unit := chineseUnit(t, i)
	if unit == 0 {
		return part{}, false
	}
	if !half && at(t, end) == "半" {
		half = true
		if end++; at(t, end) == "钟" && unit == minute {
			end++
		}
	}
	if half {
		a.num += 0.5
	}
	return part{end, a.num * float64(unit), unit, a.num != math.Trunc(a.num)}, true
}

func englishUnit(w string) int {
	switch w {
	case "s", "sec", "secs", "second", "seconds":
		return second
	case "m", "min", "mins", "minute", "minutes":
		return minute
	case "h", "hr", "hrs", "hour", "hours":
		return hour
	case "d", "day", "days":
		return day
	case "w", "week", "weeks":
		return week
	}
	return 0
}

// chineseUnit returns the token after a unit, and its seconds; 0 where there is none.
func chineseUnit(t []token, i int) (end, seconds int) {
	next := at(t, i+1)
	switch w := at(t, i); {
	case w == "秒" && next == "钟":
		return i + 2, second
	case w == "秒":
		return i + 1, second
	case w == "分" && next == "钟":
		return i + 2, minute
	case w == "分":
		return i + 1, minute
	case w == "刻" && next == "钟":
		return i + 2, quarter
	case w == "小" && next == "时", w == "钟" && next == "头":
		return i + 2, hour
	case w == "天":
		return i + 1, day
	case w == "周":
		return i + 1, week
	case w == "星" && next == "期", w == "礼" && next == "拜":
		return i + 2, week
	}
	return i, 0
}
