package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/budget"
)

// Settings keeps small values by name.
type Settings interface {
	Get(ctx context.Context, name string) (string, error) // "" = not set
	Set(ctx context.Context, name, value string) error
}

// measures is what the loop learned of the preferred model by its replies: how it counts, how fast it is, and how
// large the last prompt of each conversation was.
type measures struct {
	mu      sync.Mutex
	learned *budget.Estimator
	name    string // under which what was learned is kept
	unsaved int    // observations since then
	last    map[session.Key]engine.Known
	prefill float64 // tokens a second; 0 = not known
	decode  float64
}

// saveEvery is how many observations are worth a write.
const saveEvery = 8

// get returns what is known of a conversation's last prompt.
func (m *measures) get(key session.Key) engine.Known {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.last[key]
	k.By = m.learned
	return k
}

// observe learns from a reply. cut tells that the server cut the prompt in silence.
func (m *measures) observe(key session.Key, asm engine.Assembly, u model.Usage, window int) (expected int, cut bool) {
	before := m.get(key)
	known := budget.Known{Size: before.Estimated, Tokens: before.Reported}
	if before.Epoch != asm.Epoch.ID {
		known = budget.Known{}
	}
	total, messages := asm.Parts.Total(), asm.Request.Messages
	sent := budget.Sent{Known: known, Size: total, Messages: 2}
	expected = m.learned.Tokens(sent)
	// A count of the rest alone, below half, is left to Observe.
	if n := before.Messages; known.Tokens > 0 && n <= len(messages) && u.Prompt >= known.Tokens/2 &&
		u.Prompt < known.Tokens+fewest(messages[n:]) {
		return expected, true
	}
	now, cut := m.learned.Observe(sent, u.Prompt, window)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unsaved++
	m.speed(u, known.Tokens)
	if m.last == nil || len(m.last) > 256 { // forgetting only costs exactness
		m.last = map[session.Key]engine.Known{}
	}
	if now.Tokens > 0 {
		m.last[key] = engine.Known{Epoch: asm.Epoch.ID, Estimated: now.Size, Reported: now.Tokens, Messages: len(messages)}
	}
	return expected, cut
}

// fewest is how many tokens messages have at the very least, with whatever tokenizer: none of them joins words, or
// more than a few Han characters. What templates may leave out, such as an assistant's thinking, does not count.
func fewest(messages []model.Message) int {
	n := 0
	for _, m := range messages {
		if m.Role == model.Assistant {
			continue
		}
		han := 0
		for _, r := range m.Text {
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
		n += len(strings.Fields(m.Text)) + han/4
	}
	return n
}

// speed keeps moving averages of the rates. before is the count of the last prompt, which the engine still had.
func (m *measures) speed(u model.Usage, before int) {
	const newest = 0.3
	average := func(old *float64, tokens int, d time.Duration) {
		if tokens < 8 || d < time.Millisecond {
			return
		}
		rate := float64(tokens) / d.Seconds()
		if *old == 0 {
			*old = rate
		}
		*old += newest * (rate - *old)
	}
	fresh := u.Prompt - before
	if u.Cached >= 0 {
		fresh = u.Prompt - u.Cached
	}
	average(&m.prefill, fresh, u.Prefill)
	average(&m.decode, u.Reply, u.Decode)
}

// rates are tokens a second of evaluating and of writing; 0 = not measured yet.
func (m *measures) rates() (prefill, decode float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.prefill, m.decode
}

// load takes up what was learned of a model before.
func (m *measures) load(ctx context.Context, s Settings, info model.Info) error {
	name := "estimator/" + info.Model + "/" + info.Digest
	text, err := s.Get(ctx, name)
	if err != nil {
		return err
	}
	learned := budget.NewEstimator(budget.Qwen)
	if text != "" && learned.UnmarshalText([]byte(text)) != nil {
		learned = budget.NewEstimator(budget.Qwen) // of another version: it learns anew
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.learned, m.name = learned, name
	return nil
}

// save keeps what was learned when that is worth a write.
func (m *measures) save(ctx context.Context, s Settings) error {
	m.mu.Lock()
	due, name, learned := m.unsaved >= saveEvery && m.name != "", m.name, m.learned
	if due {
		m.unsaved = 0
	}
	m.mu.Unlock()
	if !due {
		return nil
	}
	text, err := learned.MarshalText()
	if err != nil {
		return err
	}
	return s.Set(ctx, name, string(text))
}

// observe learns from a reply. A count far below what was sent means that the server cut the prompt in silence: then
// its window is smaller than we thought; the person is told once.
func (a *Agent) observe(t *turn, asm engine.Assembly, reply model.Reply) {
	expected, cut := a.measures.observe(t.key, asm, reply.Usage, t.plan.Window)
	if cut && a.persona.believe(max(reply.Usage.Prompt, leastWindow)) {
		t.plan = a.guess()
		t.warnings = append(t.warnings, fmt.Sprintf(sayServerCut.In(t.language), expected, reply.Usage.Prompt))
		a.log.Warn("the server cut a prompt", "sent", expected, "counted", reply.Usage.Prompt)
	}
}

// firstToken is how long a person should wait for the first word at most.
const firstToken = 10 * time.Second

// plan is the budget of a turn. The model is asked for its window until it answers once.
func (a *Agent) plan(ctx context.Context) budget.Plan {
	if info, ok := a.persona.probe(ctx); ok {
		if err := a.measures.load(ctx, a.store.Settings, info); err != nil {
			a.log.Error("reading what was learned of the model", "error", err)
		}
	}
	return a.guess()
}

// guess is the plan by what is known, without asking anybody. On a slow board new text is limited to what it reads
// in the time that a person waits.
func (a *Agent) guess() budget.Plan {
	p := a.persona.guess()
	const least = 128 // of fresh tokens, however slow
	if prefill, _ := a.measures.rates(); prefill > 0 {
		p.Fresh = min(p.Fresh, max(least, int(prefill*firstToken.Seconds())))
	}
	return p
}
