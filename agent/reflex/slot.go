package reflex

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// slotType is a type of slots with its bounds. Templates that name the same type share one.
type slotType struct {
	source   string
	base     string // enum, number, duration, time, text, tool
	low, top float64
	step     float64
	percent  bool
	phrases  *trie // of an enum or tool
}

// parseType reads a type such as number(0..100,5,percent).
func parseType(source string) (slotType, error) {
	base, rest, _ := strings.Cut(source, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	t := slotType{source: source, base: base}
	switch base {
	case "time", "tool":
		if source != base {
			return t, fmt.Errorf("write %s alone, without brackets", base)
		}
		return t, nil
	case "enum", "number", "duration", "text":
		if !closed {
			return t, fmt.Errorf("write %s(...)", base)
		}
	default:
		return t, fmt.Errorf("unknown type %q; there are enum, number, duration, time, text and tool", base)
	}
	switch base {
	case "text":
		n, err := strconv.Atoi(inner)
		if err != nil || n < 1 || n > maxRunes {
			return t, fmt.Errorf("write text(N), N from 1 to %d runes", maxRunes)
		}
		t.top = float64(n)
	case "number":
		return t, t.number(strings.Split(inner, ","))
	case "duration":
		low, top, ok := strings.Cut(inner, "..")
		from, okFrom := ParseDuration(low)
		to, okTo := ParseDuration(top)
		if !ok || !okFrom || !okTo || from > to {
			return t, fmt.Errorf("write duration(10s..7d)")
		}
		t.low, t.top = from.Seconds(), to.Seconds()
	}
	return t, nil
}

func (t *slotType) number(fields []string) error {
	const right = "write number(0..100), number(0..100,5) or number(0..100,1,percent)"
	low, top, ok := strings.Cut(fields[0], "..")
	var errLow, errTop, errStep error
	t.low, errLow = strconv.ParseFloat(low, 64)
	t.top, errTop = strconv.ParseFloat(top, 64)
	t.step = 1
	if len(fields) > 1 {
		t.step, errStep = strconv.ParseFloat(fields[1], 64)
	}
	if !ok || errLow != nil || errTop != nil || errStep != nil || len(fields) > 3 {
		return fmt.Errorf("%s", right)
	}
	if !(t.low <= t.top) || !(t.step > 0) || math.IsInf(t.top-t.low, 0) {
		return fmt.Errorf("the range or the step is empty; %s", right)
	}
	if len(fields) == 3 {
		if fields[2] != "percent" {
			return fmt.Errorf("unknown unit %q; percent is the only one", fields[2])
		}
		t.percent = true
	}
	return nil
}

// hits returns the ways to read a value of the type from token i on.
func (t *slotType) hits(tokens []token, i int, now time.Time, out []hit) []hit {
	n := len(out)
	switch t.base {
	case "enum", "tool":
		return longest(t.phrases.hits(tokens, i, out), n)
	case "time":
		return clocks(tokens, i, now, out)
	case "duration":
		return t.within(durations(tokens, i, out), n)
	}
	start := i
	if t.percent && phrase(tokens, i, "百", "分", "之") {
		start += 3
	}
	out = numbers(tokens, start, out)
	if t.percent && start == i && len(out) > n {
		if last := out[len(out)-1]; at(tokens, last.end) == "%" {
			last.end++
			out = append(out, last)
		}
	}
	return longest(t.within(out, n), n)
}

// within keeps the hits from n on that are in range and on a step.
func (t *slotType) within(out []hit, n int) []hit {
	kept := out[:n]
	for _, h := range out[n:] {
		if h.num < t.low || h.num > t.top {
			continue
		}
		if steps := (h.num - t.low) / t.step; t.step > 0 && math.Abs(steps-math.Round(steps)) > 1e-6 {
			continue
		}
		kept = append(kept, h)
	}
	return kept
}

// slot gives a hit its canonical form.
func (t *slotType) slot(name string, h hit) Slot {
	s := Slot{Name: name}
	switch t.base {
	case "enum", "tool":
		s.Value = h.id
	case "number":
		s.Value = strconv.FormatFloat(math.Round(h.num*1e6)/1e6, 'f', -1, 64)
	case "duration":
		s.Value = strconv.FormatInt(int64(h.num), 10) + "s"
	case "time":
		s.Value, s.DayGiven = h.at.when.Format(time.RFC3339), h.at.dayGiven
	}
	return s
}
