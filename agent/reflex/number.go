package reflex

import "strconv"

// hit is one way to read a value from a token on.
type hit struct {
	end int     // the token after it
	num float64 // of a number; seconds of a duration
	id  string  // of an enum or tool
	at  moment  // of a time
}

// maxHits bounds the ways to read a value from one token: the longest are kept.
const maxHits = 4

// longest drops all but the last maxHits of the hits from n on, which stand in order of length.
func longest(out []hit, n int) []hit {
	if over := len(out) - n - maxHits; over > 0 {
		out = append(out[:n], out[n+over:]...)
	}
	return out
}

// numbers reads a number at token i: digits, English words 0 to 9999, Chinese numerals, each with a sign.
func numbers(t []token, i int, out []hit) []hit {
	n := len(out)
	switch at(t, i) {
	case "-", "minus", "negative", "负":
		out = unsigned(t, i+1, out)
		for k := n; k < len(out); k++ {
			out[k].num = -out[k].num
		}
		return out
	}
	return unsigned(t, i, out)
}

func unsigned(t []token, i int, out []hit) []hit {
	if i >= len(t) {
		return out
	}
	n := len(out)
	switch t[i].kind {
	case digit:
		if v, err := strconv.ParseFloat(t[i].text, 64); err == nil {
			out = append(out, hit{end: i + 1, num: v})
		}
	case word:
		out = englishNumber(t, i, out)
	case han:
		out = hanNumber(t, i, out)
	}
	return longest(out, n)
}

// small returns the value of an English number word below 100, 0 for any other word.
func small(w string) int {
	switch w {
	case "one":
		return 1
	case "two":
		return 2
	case "three":
		return 3
	case "four":
		return 4
	case "five":
		return 5
	case "six":
		return 6
	case "seven":
		return 7
	case "eight":
		return 8
	case "nine":
		return 9
	case "ten":
		return 10
	case "eleven":
		return 11
	case "twelve":
		return 12
	case "thirteen":
		return 13
	case "fourteen":
		return 14
	case "fifteen":
		return 15
	case "sixteen":
		return 16
	case "seventeen":
		return 17
	case "eighteen":
		return 18
	case "nineteen":
		return 19
	}
	return tens(w)
}

func tens(w string) int {
	switch w {
	case "twenty":
		return 20
	case "thirty":
		return 30
	case "forty", "fourty":
		return 40
	case "fifty":
		return 50
	case "sixty":
		return 60
	case "seventy":
		return 70
	case "eighty":
		return 80
	case "ninety":
		return 90
	}
	return 0
}

// englishNumber reads number words from left to right; each word that may be the last gives a hit.
func englishNumber(t []token, i int, out []hit) []hit {
	if t[i].text == "zero" {
		return append(out, hit{end: i + 1})
	}
	thousands, hundreds, low := 0, 0, 0
	room := 100 // what low may still take: below 100, below 10, nothing
	if t[i].text == "a" && (at(t, i+1) == "hundred" || at(t, i+1) == "thousand") {
		low, i = 1, i+1
	}
	for ; i < len(t); i++ {
		w := t[i].text
		v := small(w)
		switch {
		case v > 0 && v < room:
			low += v
			if room == 100 && tens(w) > 0 {
				room = 10
			} else {
				room = 0
			}
		case w == "hundred" && low > 0 && hundreds == 0 && (low < 10 || thousands == 0):
			hundreds, low, room = low*100, 0, 100
		case w == "thousand" && low > 0 && low < 10 && hundreds == 0 && thousands == 0:
			thousands, low, room = low*1000, 0, 100
		case w == "and" && low == 0 && hundreds+thousands > 0 && small(at(t, i+1)) > 0:
			continue
		default:
			return out
		}
		out = append(out, hit{end: i + 1, num: float64(thousands + hundreds + low)})
	}
	return out
}

// hanDigit returns the value of a Chinese digit, -1 for any other rune.
func hanDigit(w string) int {
	switch w {
	case "零", "〇":
		return 0
	case "一":
		return 1
	case "二", "两", "兩":
		return 2
	case "三":
		return 3
	case "四":
		return 4
	case "五":
		return 5
	case "六":
		return 6
	case "七":
		return 7
	case "八":
		return 8
	case "九":
		return 9
	}
	return -1
}

// hanUnit returns the power of ten of a Chinese unit below 万, 0 for any other rune.
func hanUnit(w string) int {
	switch w {
	case "十":
		return 10
	case "百":
		return 100
	case "千":
		return 1000
	}
	return 0
}

const wan = 10000

// hanNumber reads Chinese numerals from left to right: 二百零五, 十五, 一万二, 三点五. A row of digits without units
// (三五) is no number: it often means "three to five".
func hanNumber(t []token, i int, out []hit) []hit {
	total, section, low := 0, 0, -1 // of 万, below 万, the digit not yet in section
	last, zero := 0, false          // the unit before low; a 零 stands before low
	value := func() float64 {
		if low > 0 && last >= 100 && !zero { // 二百五 is 250
			return float64(total + section + low*last/10)
		}
		return float64(total + section + max(low, 0))
	}
	for start := i; i < len(t); i++ {
		w := t[i].text
		d, u := hanDigit(w), hanUnit(w)
		switch {
		case d == 0 && i == start:
			low = 0
		case d == 0 && low < 0 && !zero:
			zero = true
			continue
		case d > 0 && low < 0:
			low = d
		case u > 0 && (last == 0 || u < last) && (low > 0 || u == 10 && low < 0):
			section += max(low, 1) * u
			low, last, zero = -1, u, false
		case w == "万" && total == 0 && section+low > 0:
			total = (section + max(low, 0)) * wan
			section, low, last, zero = 0, -1, wan, false
		case w == "点" && i > start && !(zero && low < 0) && hanDigit(at(t, i+1)) >= 0:
			return hanDecimals(t, i+1, value(), out)
		default:
			return out
		}
		out = append(out, hit{end: i + 1, num: value()})
	}
	return out
}

func hanDecimals(t []token, i int, value float64, out []hit) []hit {
	places := 0.1
	for n := 0; n < 6; n++ { // a bound on what is looked at
		d := hanDigit(at(t, i))
		if d < 0 {
			break
		}
		value += float64(d) * places
		places /= 10
		i++
		out = append(out, hit{end: i, num: value})
	}
	return out
}
