package reflex

import "time"

// ParseTime reads a text that is a clock time as a whole, with or without a day, in English or Chinese: "7:30 pm",
// "tomorrow at 7am", 明天早上七点半. The result is the next such moment after now, in now's zone; dayGiven tells that
// the text named the day. A bare hour from 1 to 12 means the next of both halves of the day, so repeat the result to
// the person. ok is false also where the time named has passed.
func ParseTime(text string, now time.Time) (at time.Time, dayGiven, ok bool) {
	if !eligible(text) {
		return time.Time{}, false, false
	}
	var s scanner
	t := s.scan(text)
	for _, h := range clocks(t, 0, now, nil) {
		if h.end == len(t) {
			return h.at.when, h.at.dayGiven, true
		}
	}
	return time.Time{}, false, false
}

// moment is a time with what the sentence said about it.
type moment struct {
	when     time.Time
	dayGiven bool
}

// half is a part of the day.
type half int

const (
	anyHalf   half = iota
	morning        // am
	midday         // 中午: 11 to 14
	afternoon      // pm and afternoon
	evening        // 5 pm to midnight
)

// dayKind says how a day was named.
type dayKind int

const (
	noDay    dayKind = iota
	inDays           // n days from today
	onDay            // the next weekday n
	nextWeek         // weekday n of next week, which begins on Monday
)

// clock is a time as it was said.
type clock struct {
	hour, minute int
	bare         bool // an hour from 1 to 12 that may be of either half
	part         half
	day          dayKind
	n            int
}

// clocks reads a clock time at token i.
func clocks(t []token, i int, now time.Time, out []hit) []hit {
	n := len(out)
	return longest(hanClock(t, i, now, englishClock(t, i, now, out)), n)
}

// add adds the clock's next moment, if there is one.
func (c clock) add(out []hit, end int, now time.Time) []hit {
	when, ok := c.next(now)
	if !ok {
		return out
	}
	return append(out, hit{end: end, at: moment{when, c.day != noDay}})
}

// next returns the first moment after now that the clock can mean.
func (c clock) next(now time.Time) (time.Time, bool) {
	hours, n := c.hours()
	y, m, d := now.Date()
	first, last := 0, 0 // days from today to try
	switch c.day {
	case noDay:
		last = 1
	case inDays:
		first, last = c.n, c.n
	case onDay:
		first = (c.n - int(now.Weekday()) + 7) % 7
		last = first + 7
	case nextWeek:
		first = 7 + (c.n+6)%7 - (int(now.Weekday())+6)%7
		last = first
	}
	step := 1
	if c.day == onDay {
		step = 7
	}
	for day := first; day <= last; day += step {
		for _, h := range hours[:n] {
			if at := time.Date(y, m, d+day, h, c.minute, 0, 0, now.Location()); at.After(now) {
				return at, true
			}
		}
	}
	return time.Time{}, false
}

// hours returns the hours of a day that the clock can mean, in order; 24 is the midnight at the day's end.
func (c clock) hours() (hours [2]int, n int) {
	h := c.hour
	one := func(h int) ([2]int, int) { return [2]int{h}, 1 }
	switch {
	case c.minute > 59 || h > 24 || h == 24 && c.minute > 0:
		return hours, 0
	case c.part == anyHalf && c.bare && h == 12 && c.day != noDay:
		return one(12)
	case c.part == anyHalf && c.bare:
		return [2]int{h % 12, h%12 + 12}, 2
	case c.part == anyHalf:
		return one(h)
	case c.part == morning && h < 12:
		return one(h)
	case c.part == midday && (h == 11 || h == 12):
		return one(h)
	case c.part == midday && (h == 1 || h == 2):
		return one(h + 12)
	case (c.part == afternoon || c.part == evening && h >= 5) && h < 12 && h > 0:
		return one(h + 12)
	case c.part == afternoon && h == 12, c.part == afternoon && h >= 13 && h < 24, c.part == evening && h >= 17:
		return one(h)
	case c.part == evening && h == 12:
		return one(24)
	}
	return hours, 0
}

// setHour takes an hour from a token of digits such as 7, 07, 7:30, or false.
func (c *clock) setHour(t token) bool {
	if t.kind != digit {
		return false
	}
	hour, rest := 0, t.text
	for len(rest) > 0 && rest[0] != ':' {
		if rest[0] == '.' || hour > 24 {
			return false
		}
		hour = hour*10 + int(rest[0]-'0')
		rest = rest[1:]
	}
	c.hour, c.minute = hour, 0
	if rest != "" {
		if len(rest) != 3 || rest[1] > '5' {
			return false
		}
		c.minute = int(rest[1]-'0')*10 + int(rest[2]-'0')
	}
	c.bare = t.text[0] != '0' && hour >= 1 && hour <= 12
	return hour <= 24
}

// englishClock reads [day] [at] clock [part] [day].
func englishClock(t []token, i int, now time.Time, out []hit) []hit {
	var c clock
	i = c.englishDay(t, i)
	if at(t, i) == "at" && c.day != noDay {
		i++
	}
	i, ok := c.englishHour(t, i)
	if !ok {
		return out
	}
	out = c.add(out, i, now)
	for range 2 {
		end := i
		if c.bare {
			end = c.englishPart(t, i)
		}
		if end == i && c.day == noDay {
			end = c.englishDay(t, i)
		}
		if end == i {
			break
		}
		i = end
		out = c.add(out, i, now)
	}
	return out
}

// englishHour reads 7, 7:30, seven thirty, half past seven, noon, midnight.
func (c *clock) englishHour(t []token, i int) (int, bool) {
	past := 0
	switch {
	case at(t, i) == "noon" && c.part == anyHalf:
		c.hour, c.part = 12, midday
		return i + 1, true
	case at(t, i) == "midnight" && (c.day == noDay && c.part == anyHalf):
		c.hour = 24
		return i + 1, true
	case phrase(t, i, "half", "past"):
		past, i = 30, i+2
	case phrase(t, i, "quarter", "past"):
		past, i = 15, i+2
	case phrase(t, i, "a", "quarter", "past"):
		past, i = 15, i+3
	case phrase(t, i, "quarter", "to"):
		past, i = -15, i+2
	case phrase(t, i, "a", "quarter", "to"):
		past, i = -15, i+3
	}
	if i >= len(t) {
		return i, false
	}
	if !c.setHour(t[i]) {
		if c.hour = small(t[i].text); c.hour < 1 || c.hour > 12 {
			return i, false
		}
		c.bare = true
		if m := small(at(t, i+1)); past == 0 && m >= 10 {
			c.minute = m
			i++
			if ones := small(at(t, i+1)); m >= 20 && ones > 0 && ones < 10 {
				c.minute += ones
				i++
			}
		}
	}
	i++
	if past != 0 {
		if c.minute != 0 || !c.bare {
			return i, false
		}
		if c.minute = past; past < 0 {
			c.minute += 60
			if c.hour--; c.hour == 0 {
				c.hour = 12
			}
		}
	} else if at(t, i) == "o'clock" && c.minute == 0 {
		i++
	}
	return i, true
}

// englishPart reads am, pm, in the morning, at night; it returns i where there is none.
func (c *clock) englishPart(t []token, i int) int {
	switch {
	case c.part == morning && at(t, i) == "am", c.part >= afternoon && at(t, i) == "pm": // tomorrow morning at 7am
		return i + 1
	case c.part != anyHalf:
		return i
	case phrase(t, i, "am"):
		return c.twelve(morning, i+1)
	case phrase(t, i, "a", "m"):
		return c.twelve(morning, i+2)
	case phrase(t, i, "pm"):
		return c.twelve(afternoon, i+1)
	case phrase(t, i, "p", "m"):
		return c.twelve(afternoon, i+2)
	case phrase(t, i, "in", "the", "morning"):
		c.part = morning
		return i + 3
	case phrase(t, i, "in", "the", "afternoon"):
		c.part = afternoon
		return i + 3
	case phrase(t, i, "in", "the", "evening"):
		c.part = evening
		return i + 3
	case phrase(t, i, "at", "night"):
		c.part = evening
		return i + 2
	}
	return i
}

// twelve sets the part of am or pm, where 12 am is midnight.
func (c *clock) twelve(part half, end int) int {
	if part == morning && c.hour == 12 {
		c.hour = 0
	}
	c.part = part
	return end
}

// englishDay reads today, tonight, tomorrow [morning], [on] monday; it returns i where there is none.
func (c *clock) englishDay(t []token, i int) int {
	start := i
	if at(t, i) == "on" {
		i++
	}
	w := at(t, i)
	weekday := englishWeekday(w)
	switch {
	case weekday >= 0:
		c.day, c.n = onDay, weekday
	case i > start:
		return start
	case w == "today":
		c.day, c.n = inDays, 0
	case w == "tomorrow":
		c.day, c.n = inDays, 1
	case w == "this" && (at(t, i+1) == "morning" || at(t, i+1) == "afternoon" || at(t, i+1) == "evening"):
		c.day, c.n = inDays, 0
	case w == "tonight" && (c.part == anyHalf || c.part == afternoon):
		c.day, c.n, c.part = inDays, 0, evening
		return i + 1
	default:
		return start
	}
	i++
	if c.part != anyHalf {
		return i
	}
	switch at(t, i) {
	case "morning":
		c.part = morning
	case "afternoon":
		c.part = afternoon
	case "evening", "night":
		c.part = evening
	default:
		return i
	}
	return i + 1
}

func englishWeekday(w string) int {
	switch w {
	case "sunday":
		return 0
	case "monday":
		return 1
	case "tuesday":
		return 2
	case "wednesday":
		return 3
	case "thursday":
		return 4
	case "friday":
		return 5
	case "saturday":
		return 6
	}
	return -1
}
