package budget_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"pinch/budget"
)

const turns = 40

// replay runs conversations of 40 turns against a vocabulary. The estimator sees only the total after each turn, and
// is not told of a head of 60 tokens that the server's template adds.
type replay struct {
	bounds, misses     int
	cuts               int       // seen where there are none
	waste, cold, error []float64 // per request; waste after five turns
}

func (r *replay) run(texts []golden, vocabulary string, e *budget.Estimator, random *rand.Rand) {
	var known budget.Known
	size, real := 0, 60
	add := func(g golden) {
		size += e.Size(g.Text) + budget.MessageTokens
		real += g.Counts[vocabulary] + budget.MessageTokens
	}
	// People speak one or two languages; what tools return is of any kind.
	own := []string{texts[random.IntN(len(texts))].Class, "chat", "english"}
	pick := func(classes ...string) golden {
		for {
			g := texts[random.IntN(len(texts))]
			for _, c := range classes {
				if g.Class == c && len(g.Text) <= 2000 {
					return g
				}
			}
			if len(classes) == 0 && len(g.Text) <= 3200 {
				return g
			}
		}
	}
	for range 3 {
		add(pick("schema", "english"))
	}
	for turn := range turns {
		messages := 1
		if add(pick(own...)); turn > 0 {
			add(pick(own...)) // the reply before
			messages++
		}
		if random.IntN(3) == 0 {
			add(pick())
			messages++
		}
		p := budget.Sent{Known: known, Size: size, Messages: messages}
		bound := e.Bound(p)
		r.bounds++
		if bound < real {
			r.misses++
		}
		over := float64(bound)/float64(real) - 1
		if turn == 0 {
			r.cold = append(r.cold, over)
		} else if turn >= 5 {
			r.waste = append(r.waste, over)
		}
		r.error = append(r.error, float64(e.Tokens(p)-known.Tokens)/float64(real-known.Tokens)-1)
		var cut bool
		if known, cut = e.Observe(p, real, 1<<20); cut {
			r.cuts++
		}
	}
}

func TestReplay(t *testing.T) {
	texts := readGolden(t, 1)
	for _, vocabulary := range families {
		for _, family := range families {
			if family != vocabulary && family != budget.Qwen {
				continue // a model whose name says nothing is taken for Qwen's
			}
			var r replay
			random := rand.New(rand.NewPCG(seed, 3))
			for range 60 {
				r.run(texts, string(vocabulary), budget.NewEstimator(family), random)
			}
			misses, waste, cold := float64(r.misses)/float64(r.bounds), mean(r.waste), mean(r.cold)
			t.Logf("%-6s taken for %-6s passed %4.1f %%, waste %4.1f %% after five turns, %4.1f %% cold, false cuts %d; new text %s",
				vocabulary, family, 100*misses, 100*waste, 100*cold, r.cuts, errorsOf(r.error))
			most, cuts := 0.02, 0
			if family != vocabulary {
				most, cuts = 0.06, 3
			}
			if misses > most || waste > 0.06 || cold > 0.25 || r.cuts > cuts {
				t.Errorf("%s: too many bounds passed, too much wasted or a cut seen where there is none", vocabulary)
			}
		}
	}
}

// The bound of single texts, by a cold estimator, on the half that was not fitted.
func TestColdBound(t *testing.T) {
	for _, f := range families {
		e, misses, waste := budget.NewEstimator(f), 0, []float64(nil)
		for _, g := range readGolden(t, 1) {
			y := g.Counts[string(f)]
			u := e.Bound(budget.Sent{Size: e.Size(g.Text)})
			if u < y {
				misses++
			}
			waste = append(waste, float64(u)/float64(y)-1)
		}
		rate := float64(misses) / float64(len(waste))
		t.Logf("%-6s passed %.1f %%, waste %.1f %%", f, 100*rate, 100*mean(waste))
		if rate > 0.02 || mean(waste) > 0.25 {
			t.Errorf("%s: too many bounds passed, or too much wasted", f)
		}
	}
}

func TestEstimatorTrustsNoStrangeCount(t *testing.T) {
	fresh, _ := json.Marshal(budget.NewEstimator(budget.Gemma))
	known := budget.Known{Size: 1000, Tokens: 900}
	for name, c := range map[string]struct {
		reported int
		cut      bool
	}{
		"absent": {0, false}, "negative": {-1, false}, "near the window": {4050, false},
		"without the cached part": {420, false}, "fallen a little": {899, true}, "cut": {1000, true}, "absurd": {3600, false},
	} {
		e := budget.NewEstimator(budget.Gemma)
		_, cut := e.Observe(budget.Sent{Known: known, Size: 1900, Messages: 1}, c.reported, 4096)
		if after, _ := json.Marshal(e); string(after) != string(fresh) || cut != c.cut {
			t.Errorf("%s: cut %v, learned %s", name, cut, after)
		}
	}
}

func TestEstimatorKeepsWhatItLearned(t *testing.T) {
	e := budget.NewEstimator(budget.Llama)
	known := budget.Known{}
	for size := 500; size < 10_000; size += 500 {
		var cut bool
		if known, cut = e.Observe(budget.Sent{Known: known, Size: size, Messages: 2}, size*13/10, 32_768); cut || known.Tokens != size*13/10 {
			t.Fatalf("cut %v, known %+v", cut, known)
		}
	}
	if got := e.Tokens(budget.Sent{Size: 1000}); got < 1290 || got > 1310 {
		t.Errorf("1000 are taken for %d, want 1300", got)
	}
	text, err := e.MarshalText()
	if err != nil || len(text) > 300 {
		t.Fatalf("%s: %v", text, err)
	}
	again := budget.NewEstimator(budget.Qwen)
	if err := again.UnmarshalText(text); err != nil || again.Bound(budget.Sent{Size: 77}) != e.Bound(budget.Sent{Size: 77}) {
		t.Errorf("restored %+v: %v", again, err)
	}
	for _, bad := range []string{"", "{}", `{"scale":-1,"margin":0.1}`, `{"scale":1,"margin":9}`} {
		if err := again.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if again.Bound(budget.Sent{Size: 77}) != e.Bound(budget.Sent{Size: 77}) {
		t.Error("a bad state changed the estimator")
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		reported, known, fresh int
		want                   bool
	}{
		{2051, 0, 15750, true}, {600, 0, 1000, false}, {90, 0, 190, false}, // without a known beginning
		{2051, 3000, 100, true}, {3950, 3900, 500, true}, // the oldest messages are gone
		{3310, 3000, 300, false}, {3200, 3000, 600, false}, {2990, 3000, 20, false}, // a thought was taken out of the history
		{310, 3000, 300, false}, {1, 3000, 20, false}, // counted without what was cached
	} {
		if got := budget.Cut(c.reported, c.known, c.fresh); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
