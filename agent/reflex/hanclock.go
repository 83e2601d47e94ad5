package reflex

import "time"

// hanClock reads [day] [part] hour [minutes].
func hanClock(t []token, i int, now time.Time, out []hit) []hit {
	var c clock
	start := i
	i = c.hanDay(t, i)
	i = c.hanPart(t, i)
	if i > start && i < len(t) && t[i].runes >= 4 && c.setHour(t[i]) { // 周日20:00
		return c.add(out, i+1, now)
	}
	i, ok := c.hanHour(t, i)
	if !ok {
		return out
	}
	out = c.add(out, i, now)
	if end, ok := c.hanMinute(t, i); ok {
		out = c.add(out, end, now)
	}
	return out
}

// hanHour reads 七点, 19点.
func (c *clock) hanHour(t []token, i int) (int, bool) {
	var space [maxHits + 1]hit
	for _, h := range unsigned(t, i, space[:0]) {
		if at(t, h.end) == "点" && h.num == float64(int(h.num)) && h.num <= 24 {
			c.hour, c.minute = int(h.num), 0
			c.bare = c.hour >= 1 && c.hour <= 12 && at(t, i)[0] != '0'
			if c.part == morning && c.hour == 12 && at(t, i-1) == "晨" { // 凌晨十二点
				c.hour = 0
			}
			return h.end + 1, true
		}
	}
	return i, false
}

// hanMinute reads what follows 点: 半, 一刻, 三刻, 整, 钟, 二十[分], 零五[分].
func (c *clock) hanMinute(t []token, i int) (int, bool) {
	switch w := at(t, i); {
	case w == "整" || w == "钟":
		return i + 1, true
	case w == "半":
		c.minute = 30
		return i + 1, true
	case w == "一" && at(t, i+1) == "刻":
		c.minute = 15
		return i + 2, true
	case w == "三" && at(t, i+1) == "刻":
		c.minute = 45
		return i + 2, true
	case w == "零" || w == "〇":
		d := hanDigit(at(t, i+1))
		if d < 1 {
			return i, false
		}
		c.minute = d
		i += 2
	default:
		var space [maxHits + 1]hit
		found := unsigned(t, i, space[:0])
		if len(found) == 0 {
			return i, false
		}
		last := found[len(found)-1]
		if last.num != float64(int(last.num)) || last.num > 59 {
			return i, false
		}
		c.minute = int(last.num)
		i = last.end
	}
	if at(t, i) == "分" {
		i++
	}
	return i, true
}

// hanDay reads 今天, 明早, 大后天, 周三, 下周一; it returns i where there is none.
func (c *clock) hanDay(t []token, i int) int {
	w, next := at(t, i), at(t, i+1)
	days := -1
	switch w {
	case "今":
		days = 0
	case "明":
		days = 1
	case "后":
		days = 2
	}
	switch {
	case days >= 0 && next == "天":
		c.day, c.n = inDays, days
		return i + 2
	case (days == 0 || days == 1) && next == "晚":
		c.day, c.n, c.part = inDays, days, evening
		return i + 2
	case (days == 0 || days == 1) && next == "早":
		c.day, c.n, c.part = inDays, days, morning
		if at(t, i+2) == "上" {
			i++
		}
		return i + 2
	case phrase(t, i, "大", "后", "天"):
		c.day, c.n = inDays, 3
		return i + 3
	}
	kind, j := onDay, i
	if w == "下" {
		kind, j = nextWeek, i+1
		if at(t, j) == "个" {
			j++
		}
	}
	switch {
	case at(t, j) == "周":
		j++
	case phrase(t, j, "星", "期"), phrase(t, j, "礼", "拜"):
		j += 2
	default:
		return i
	}
	day := hanDigit(at(t, j))
	if at(t, j) == "日" || at(t, j) == "天" {
		day = 7
	}
	if day < 1 || day > 7 {
		return i
	}
	c.day, c.n = kind, day%7
	return j + 1
}

// hanPart reads a part of the day.
func (c *clock) hanPart(t []token, i int) int {
	if c.part != anyHalf || i+1 >= len(t) {
		return i
	}
	switch t[i].text + t[i+1].text {
	case "凌晨", "早上", "上午", "早晨":
		c.part = morning
	case "中午":
		c.part = midday
	case "下午", "傍晚":
		c.part = afternoon
	case "晚上", "夜里":
		c.part = evening
	default:
		return i
	}
	return i + 2
}
