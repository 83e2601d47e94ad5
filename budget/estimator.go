package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
)

// Estimator learns from a model's own counts how its vocabulary differs from its family's prices. There is one for
// each model digest; it is safe for concurrent use. Sizes are sums of Family.Tokens, never corrected, so that stored
// ones stay true; an Estimator turns them into tokens.
type Estimator struct {
	mu sync.Mutex
	s  learned
}

type learned struct {
	Family Family  `json:"family"`
	Scale  float64 `json:"scale"`  // tokens for each of size
	Margin float64 `json:"margin"` // of the bound, a share of what is estimated
	Labels int     `json:"labels"` // counts learned from
}

// Known is a prompt whose count the model told. Its zero value is the empty prompt.
type Known struct {
	Size   int
	Tokens int
}

// Sent is a prompt that begins with a Known one. Where none is known, it stands for itself.
type Sent struct {
	Known    Known
	Size     int // of the whole prompt
	Messages int // how many are new since Known
}

const (
	coldMargin, leastMargin, mostMargin = 0.18, 0.03, 0.5
	leastScale, mostScale               = 0.5, 2.5
	missRate, marginStep                = 0.02, 0.10 // the margin settles where so many bounds are passed
	messageSlack                        = 6.0        // tokens of the bound for a short message
	steadiness                          = 300.0      // tokens that weigh as much as all that was learned before
)

// NewEstimator returns an Estimator that knows nothing but the family.
func NewEstimator(f Family) *Estimator {
	return &Estimator{s: learned{Family: f, Scale: 1, Margin: coldMargin}}
}

// Size is the size of a text by the family's prices.
func (e *Estimator) Size(text string) int {
	e.mu.Lock()
	f := e.s.Family
	e.mu.Unlock()
	return f.Tokens(text)
}

// Tokens estimates a prompt's count.
func (e *Estimator) Tokens(p Sent) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return p.Known.Tokens + int(math.Ceil(e.s.new(p)))
}

// Bound is a prompt's count that is passed about once in fifty times.
func (e *Estimator) Bound(p Sent) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.s.bound(p)
}

// Observe learns from the count that a model reported for a prompt; 0 or less is unknown. It returns what is known
// for the prompts that begin with this one, and whether the server cut this one in silence: then its window is
// smaller than believed, and nothing is learned.
func (e *Estimator) Observe(p Sent, reported, window int) (known Known, cut bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := p.Known
	if reported <= 0 {
		return before, false
	}
	fresh := e.s.new(p)
	if Cut(reported, before.Tokens, int(fresh)) {
		return Known{}, true
	}
	if reported < before.Tokens || window > 0 && reported >= window*98/100 {
		return before, false
	}
	real, size := float64(reported-before.Tokens), float64(p.Size-before.Size)
	if size < 8 {
		return Known{p.Size, reported}, false
	}
	if real < 0.4*fresh-2*messageSlack || real > 2.5*fresh+2*messageSlack {
		return before, false // a count of something else
	}
	if float64(e.s.bound(p)) < float64(reported) {
		e.s.Margin += marginStep * (1 - missRate)
	} else {
		e.s.Margin -= marginStep * missRate
	}
	e.s.Margin = min(max(e.s.Margin, leastMargin), mostMargin)
	weight := min(size, steadiness)
	share := weight / (weight + steadiness*float64(min(e.s.Labels, 8)+1)/4)
	e.s.Scale = min(max(e.s.Scale*math.Exp(share*math.Log(max(real, 1)/size/e.s.Scale)), leastScale), mostScale)
	e.s.Labels++
	return Known{p.Size, reported}, false
}

func (l learned) new(p Sent) float64 { return l.Scale * float64(max(p.Size-p.Known.Size, 0)) }

func (l learned) bound(p Sent) int {
	return p.Known.Tokens + int(math.Ceil(l.new(p)*(1+l.Margin)+messageSlack*math.Sqrt(float64(max(p.Messages, 1)))))
}

// Cut reports whether a count says that a server dropped a part of a prompt in silence. known is the count of what
// the prompt begins with, 0 = none; fresh what the rest is expected to count. A count of the rest alone is no cut:
// some servers leave out what they had cached.
func Cut(reported, known, fresh int) bool {
	if known == 0 {
		return fresh > 200 && reported < fresh/2
	}
	if reported < known/2 && reported < fresh*5/2 {
		return false
	}
	return reported < known*99/100+fresh*3/10-16
}

// MarshalText gives what was learned, to be stored.
func (e *Estimator) MarshalText() ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return json.Marshal(e.s)
}

// UnmarshalText takes what MarshalText gave. After an error nothing has changed.
func (e *Estimator) UnmarshalText(text []byte) error {
	var l learned
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("read what an estimator learned: %w", err)
	}
	if !(l.Scale >= leastScale && l.Scale <= mostScale && l.Margin >= leastMargin && l.Margin <= mostMargin && l.Labels >= 0) {
		return fmt.Errorf("read what an estimator learned: %s is out of bounds", text)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.s = l
	return nil
}
