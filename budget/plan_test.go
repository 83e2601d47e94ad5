package budget_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pinch/budget"
)

func TestSplitOfTheCommonWindow(t *testing.T) {
	want := budget.Plan{Window: 4096, Reply: 614, Head: 1024, Fresh: 819, High: 2959, Low: 1566, Rounds: 8}
	if got := budget.Split(4096, 8); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSplitNeverPassesTheWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := budget.Split(rapid.IntRange(-1, 1<<30).Draw(t, "window"), 8)
		if p.Low >= p.High || p.High+p.Reply > p.Window || p.Head+p.Fresh+p.Reply > p.Window || p.Reply < 128 || p.Low <= p.Head {
			t.Errorf("%+v", p)
		}
	})
}

// plan draws any plan, also such as no Split would make.
func plan(t *rapid.T) budget.Plan {
	p := budget.Split(rapid.IntRange(512, 1<<20).Draw(t, "window"), 8)
	if rapid.Bool().Draw(t, "other shares") {
		p.Reply = rapid.IntRange(0, p.Window).Draw(t, "reply")
		p.High = rapid.IntRange(0, 2*p.Window).Draw(t, "high")
		p.Low = rapid.IntRange(0, 2*p.Window).Draw(t, "low")
	}
	return p
}

func TestFitKeepsWhatIsUsefulAndNeverPassesTheWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plan(t)
		size := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 1<<21))
		s := budget.Sizes{
			Head: size.Draw(t, "head"), Tools: size.Draw(t, "tools"), Summary: size.Draw(t, "summary"),
			Turns: rapid.SliceOfN(size, 0, 50).Draw(t, "turns"), Fresh: size.Draw(t, "fresh"), Last: size.Draw(t, "last"),
		}
		k := p.Fit(s)
		n := len(s.Turns)
		if k.Turns > n || k.Head > s.Head || k.Tools > s.Tools || k.Summary > s.Summary || k.Fresh > s.Fresh || k.Last > s.Last {
			t.Fatalf("%+v is more than there was", k)
		}
		older, total, asked, room := 0, k.Head+k.Tools+k.Summary+k.Fresh+k.Last+k.Newest, s.Head+s.Tools+s.Summary+s.Fresh+s.Last, p.Window-p.Reply
		for i, turn := range s.Turns {
			asked += turn
			if i >= n-k.Turns && i < n-1 {
				older += turn
			}
		}
		total += older
		if total > room {
			t.Fatalf("%+v is %d tokens, there are %d", k, total, room)
		}
		if asked <= min(p.High, room) && (total != asked || k.Turns != n) {
			t.Fatalf("%+v is %d of %d tokens that fit", k, total, asked)
		}
		if asked > p.High && older > 0 && total > p.Low {
			t.Fatalf("%+v is %d tokens, above the low water", k, total)
		}
		if k.Head < min(s.Head, room/4) || k.Last < min(s.Last, room/4) || n > 0 && (k.Turns < 1 || k.Newest < min(s.Turns[n-1], room/8)) {
			t.Fatalf("%+v lost what is useful", k)
		}
	})
}

func TestFitCutsDeep(t *testing.T) {
	s := budget.Sizes{Head: 500, Tools: 200, Turns: []int{300, 300, 300, 300, 300, 300, 300, 300}, Last: 50}
	p := budget.Split(4096, 8)
	if k := p.Fit(s); k.Turns != 2 { // 500+200+50+300 leave room for one more below 1566
		t.Errorf("%+v", k)
	}
	s.Turns = s.Turns[1:]
	if k := p.Fit(s); k.Turns != 7 {
		t.Errorf("%+v", k)
	}
}

func TestWithinLimitsByTheMeasuredSpeed(t *testing.T) {
	p := budget.Split(4096, 8)
	if got := p.Within(budget.Speed{}, budget.FirstToken); got != p {
		t.Errorf("an unknown speed changes the plan to %+v", got)
	}
	if got := p.Within(budget.Speed{Prefill: 45}, budget.FirstToken); got.New != 450 || got.Fresh != 450 || got.Late {
		t.Errorf("a Pi 5: %+v", got)
	}
	if got := p.Within(budget.Speed{Prefill: 2}, budget.FirstToken); got.New != budget.LeastNew || !got.Late {
		t.Errorf("a Zero: %+v", got)
	}
	if got := p.Within(budget.Speed{Prefill: 1e12}, time.Hour); got.Fresh != p.Fresh || got.New <= 0 || got.Late {
		t.Errorf("a workstation: %+v", got)
	}
}

func TestSpeedFollowsWhatIsMeasured(t *testing.T) {
	s := budget.Speed{}.Add(0, time.Second, 10, 0)
	if s != (budget.Speed{}) || s.Wait(100) != 0 {
		t.Errorf("nothing was measured, but %+v", s)
	}
	s = s.Add(700, 14*time.Second, 60, 6*time.Second)
	if s != (budget.Speed{Prefill: 50, Decode: 10}) || s.Wait(100) != 2*time.Second {
		t.Errorf("%+v, 100 tokens in %v", s, s.Wait(100))
	}
	small, large := s.Add(5, time.Second, 0, 0), s.Add(1000, 50*time.Second, 0, 0)
	if small.Prefill < 45 || large.Prefill > 30 || large.Decode != 10 {
		t.Errorf("after few tokens %+v, after many %+v", small, large)
	}
}

func TestImageTokens(t *testing.T) {
	for _, c := range []struct {
		provider            string
		width, height, want int
	}{
		{"anthropic", 750, 100, 101}, {"anthropic", 1000, 1000, 1334}, {"anthropic", 8000, 8000, 1600}, {"anthropic", 0, 0, 1},
		{"openai", 512, 512, 255}, {"openai", 1024, 1024, 765}, {"openai", 2048, 4096, 1105}, {"openai", 1, 1, 255},
		{"ollama", 640, 480, 300},
	} {
		if got := budget.ImageTokens(c.provider, c.width, c.height, 300); got != c.want {
			t.Errorf("%s %dx%d is %d, want %d", c.provider, c.width, c.height, got, c.want)
		}
	}
}

func TestOverheadIsWhatTemplatesAdd(t *testing.T) {
	for family, measured := range readCounts(t).Template {
		o := budget.Family(family).Overhead()
		got := map[string]int{"message": o.Message, "call": o.Call, "result": o.Result, "tool": o.Tool, "tools": o.Tools}
		for part, n := range measured {
			if got[part] != n {
				t.Errorf("%s: %s is %d, measured %d", family, part, got[part], n)
			}
		}
	}
}
