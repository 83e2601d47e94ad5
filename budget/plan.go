package budget

import (
	"math"
	"time"
)

// FirstToken is how soon a reply should start where the config names no other time.
const FirstToken = 10 * time.Second

// Speed is how fast a model is, in tokens a second, from its own measurements; 0 = not known yet.
type Speed struct {
	Prefill float64 `json:"prefill"` // of the part of a prompt that was not cached
	Decode  float64 `json:"decode"`
}

// Add returns the speed after one more round: evaluated and generated are its tokens, with the time that each took.
// Few tokens tell little, so that more of them weigh more.
func (s Speed) Add(evaluated int, prefill time.Duration, generated int, decode time.Duration) Speed {
	return Speed{Prefill: blend(s.Prefill, evaluated, prefill, 200), Decode: blend(s.Decode, generated, decode, 40)}
}

func blend(old float64, n int, took time.Duration, half float64) float64 {
	if n <= 0 || took <= 0 {
		return old
	}
	rate := float64(n) / took.Seconds()
	if old == 0 {
		return rate
	}
	weight := float64(n) / (float64(n) + half)
	return old + weight*(rate-old)
}

// Wait is the time to the first token of a prompt with so many new tokens; 0 = the speed is not known.
func (s Speed) Wait(tokens int) time.Duration {
	if s.Prefill <= 0 || tokens <= 0 {
		return 0
	}
	return time.Duration(min(float64(tokens)/s.Prefill, 1e9) * float64(time.Second))
}

// LeastNew is how many new tokens a turn may always bring, however slow the model: a question must fit.
const LeastNew = 64

// Within limits the new tokens of a turn so that its first token comes within the target, as far as the speed is
// known. Late of the result says that the target is missed even by LeastNew.
func (p Plan) Within(s Speed, target time.Duration) Plan {
	if s.Prefill <= 0 || target <= 0 {
		return p
	}
	limit := int(min(s.Prefill*target.Seconds(), float64(math.MaxInt32)))
	p.Late = limit < LeastNew
	p.New = max(limit, LeastNew)
	p.Fresh = min(p.Fresh, p.New)
	return p
}

// Sizes are the bounds of the parts of a prompt, in tokens.
type Sizes struct {
	Head, Tools, Summary int
	Turns                []int // earlier turns, oldest first
	Fresh                int   // what this turn has added so far: calls and results
	Last                 int   // the last message
}

// Kept is what stays of a prompt, in tokens: never more than there was, and all together never more than the window
// leaves beside the reply. A part that is smaller than it was has to be cut to it.
type Kept struct {
	Head, Tools, Summary int
	Turns                int // how many of the newest turns stay
	Newest               int // of the newest turn; the others stay whole
	Fresh                int
	Last                 int
}

// Fit says what stays of a prompt. Below the high water all of it. Else the history shrinks in one deep step to the
// low water, oldest turns first; the newest stays, and only where the window itself is too small is it cut, and with
// it the other parts, down to fixed shares.
func (p Plan) Fit(s Sizes) Kept {
	newest := 0
	if n := len(s.Turns); n > 0 {
		newest = s.Turns[n-1]
	}
	limit := max(p.Window-p.Reply, 0)
	k := Kept{
		Head: min(s.Head, limit/4), Tools: min(s.Tools, limit/8), Fresh: min(s.Fresh, limit/4),
		Last: min(s.Last, limit/4), Newest: min(newest, limit/8), Turns: min(len(s.Turns), 1),
	}
	room := limit - k.Head - k.Tools - k.Fresh - k.Last - k.Newest
	for _, part := range []struct {
		kept *int
		size int
	}{{&k.Last, s.Last}, {&k.Head, s.Head}, {&k.Tools, s.Tools}, {&k.Fresh, s.Fresh}, {&k.Newest, newest}, {&k.Summary, s.Summary}} {
		more := min(part.size-*part.kept, room)
		*part.kept += more
		room -= more
	}
	used, all := limit-room, limit-room
	for i := len(s.Turns) - 2; i >= 0; i-- {
		all += s.Turns[i]
	}
	water := min(p.High, limit)
	if all > water {
		water = min(p.Low, limit)
	}
	for i := len(s.Turns) - 2; i >= 0 && used+s.Turns[i] <= water; i-- {
		used += s.Turns[i]
		k.Turns++
	}
	return k
}
