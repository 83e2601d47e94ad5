package packaging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pinch/agent/config"
	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/agent/model/ollama"
	"pinch/budget"
)

// What Pinch believes about Ollama, tried on a real server with a tiny model. `make test-engine` runs this.

// TestEngine runs everything on one server, since starting one takes a second and each test has its own model state.
func TestEngine(t *testing.T) {
	path := os.Getenv("PINCH_ENGINE")
	if path == "" {
		t.Skip("PINCH_ENGINE does not name an Ollama server; make test-engine builds one and runs this")
	}
	e := startEngine(t, path)
	t.Run("probe", e.probe)
	t.Run("load and unload", e.loads)
	t.Run("counts and deltas", e.counts)
	t.Run("stop reasons", e.stops)
	t.Run("prefix is reused", e.reuse)
	t.Run("two conversations share a slot", e.share)
	t.Run("silent cut", e.cut)
	t.Run("cancelled", e.cancelled)
	t.Run("fake answers alike", e.fake)
	t.Run("binary talks", e.talks)
	t.Run("binary is killed", e.killed)
}

// The models of the engine: all are the tiny one.
const (
	endless  = "endless"  // talks until it may not say more, and says no token twice in a row
	brief    = "brief"    // ends at the first of some letters
	parrot   = "parrot"   // says one token again and again
	toolless = "toolless" // its template has no place for tools
)

// modelfile makes replies the same each time. More threads would wait for each other where the machine has other work.
const modelfile = `PARAMETER temperature 0
PARAMETER num_thread 1
PARAMETER repeat_last_n %d
PARAMETER repeat_penalty %v
TEMPLATE """{{ if or .System .Tools }}<|im_start|>system
{{ .System }}{{ range .Tools }}
{{ . }}{{ end }}<|im_end|>
{{ end }}{{ range .Messages }}{{ if ne .Role "system" }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}{{ end }}<|im_start|>assistant
"""
`

// engine is a real Ollama server on 127.0.0.1, with one slot.
type engine struct {
	url    string
	server *process
}

func startEngine(t *testing.T, path string) engine {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	home := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "OLLAMA_HOST=" + addr, "OLLAMA_MODELS=" + filepath.Join(home, "models"),
		"OLLAMA_NUM_PARALLEL=1", "OLLAMA_MAX_LOADED_MODELS=1", "OLLAMA_DEBUG=1"}
	cmd := exec.CommandContext(t.Context(), path, "serve")
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the server has a child that runs the model
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	e := engine{"http://" + addr, launch(t, cmd)}
	until(t, "the engine listens", func() bool {
		resp, err := http.Get(e.url)
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})

	weights := filepath.Join(home, "tiny.gguf")
	file, err := os.Create(weights)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(modeltest.WriteTinyModel(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	usual := fmt.Sprintf(modelfile, 8, 10.0)
	for name, text := range map[string]string{
		endless: usual, brief: usual + "PARAMETER stop q\nPARAMETER stop v\nPARAMETER stop z\n",
		parrot: fmt.Sprintf(modelfile, 1, 0.1), toolless: "",
	} {
		source := filepath.Join(home, name)
		write(t, source, "FROM "+weights+"\n"+text)
		create := exec.Command(path, "create", name, "-f", source)
		create.Env = env
		if out, err := create.CombinedOutput(); err != nil {
			t.Fatalf("creating %s: %v\n%s", name, err, out)
		}
	}
	return e
}

// client is Pinch's own, for a window of so many tokens.
func (e engine) client(t *testing.T, name string, window int, change ...func(*model.Config)) *ollama.Client {
	t.Helper()
	cfg := model.Config{Name: "local", Provider: "ollama", URL: e.url, Model: name, Window: window,
		KeepAlive: config.Duration(time.Hour), Stall: config.Duration(time.Minute)}
	for _, f := range change {
		f(&cfg)
	}
	c, err := ollama.New(cfg, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// loaded lists the models in memory.
func (e engine) loaded(t *testing.T) (names []string) {
	t.Helper()
	resp, err := http.Get(e.url + "/api/ps")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var ps struct{ Models []struct{ Name string } }
	if err := json.NewDecoder(resp.Body).Decode(&ps); err != nil {
		t.Fatal(err)
	}
	for _, m := range ps.Models {
		names = append(names, m.Name)
	}
	return names
}

// prose is n words that have no meaning, others for each seed.
func prose(seed uint64, n int) string {
	dice := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range n {
		for range 2 + dice.IntN(6) {
			b.WriteByte(byte('a' + dice.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func user(text string) model.Message { return model.Message{Role: model.User, Text: text} }

// dialogue is a conversation in which each request begins with the one before.
type dialogue struct {
	client   model.Client
	messages []model.Message
	held     int // tokens that the slot may hold: the last prompt and its reply
}

// turn is what one request of a dialogue cost.
type turn struct {
	model.Usage
	fresh int // tokens of the prompt that are new
}

// each is the time that a new token took to evaluate, whether or not more than the new ones were.
func (t turn) each() time.Duration { return t.Prefill / time.Duration(max(t.fresh, 1)) }

func (c *dialogue) say(t *testing.T, text string) turn {
	t.Helper()
	c.messages = append(c.messages, user(text))
	reply, err := c.client.Generate(t.Context(), model.Request{Messages: c.messages, Reply: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.messages = append(c.messages, model.Message{Role: model.Assistant, Text: reply.Text})
	now := turn{reply.Usage, reply.Usage.Prompt - c.held}
	c.held = reply.Usage.Prompt + reply.Usage.Reply
	return now
}

// each is the time that a new token took in a good turn, the best but for a quarter: other work on the machine only adds.
func each(turns []turn) time.Duration {
	var times []time.Duration
	for _, one := range turns {
		times = append(times, one.each())
	}
	slices.Sort(times)
	return times[len(times)/4]
}

func (e engine) probe(t *testing.T) {
	info, err := e.client(t, endless, 0).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Window != 4096 || !info.Tools || info.Vision || info.Thinking || len(info.Digest) != 64 {
		t.Errorf("the server tells %+v", info)
	}
	_, err = e.client(t, "nobody", 0).Probe(t.Context())
	_, asked := e.client(t, "nobody", 2048).Generate(t.Context(), model.Request{Messages: []model.Message{user("hello")}, Reply: 1}, nil)
	if !errors.Is(err, model.ErrNotFound) || !errors.Is(asked, model.ErrNotFound) {
		t.Errorf("a model that is not there: %v, %v", err, asked)
	}
}

func (e engine) loads(t *testing.T) {
	stay := e.client(t, endless, 2048)
	leave := e.client(t, endless, 2048, func(c *model.Config) { c.KeepAlive = 0 })
	if names := e.loaded(t); len(names) != 0 {
		t.Fatalf("loaded before anything was asked: %v", names)
	}
	reply, err := stay.Generate(t.Context(), model.Request{}, nil)
	if names := e.loaded(t); err != nil || reply.Text != "" || !slices.Equal(names, []string{endless + ":latest"}) {
		t.Errorf("after loading only: %v, reply %+v, error %v", names, reply, err)
	}
	warm := (&dialogue{client: stay}).say(t, "hello")
	gone := func() bool { return len(e.loaded(t)) == 0 }
	(&dialogue{client: leave}).say(t, "hello")
	until(t, "the model leaves after a request that says so", gone)
	cold := (&dialogue{client: stay}).say(t, "hello")
	t.Logf("load of a loaded model %v, of an absent one %v", warm.Load, cold.Load)
	if warm.Load <= 0 || cold.Load < 5*warm.Load {
		t.Errorf("loading took %v, %v when it was loaded", cold.Load, warm.Load)
	}
	if _, err := leave.Generate(t.Context(), model.Request{}, nil); err != nil {
		t.Error(err)
	}
	until(t, "the model leaves when it is told to", gone)
}

func (e engine) counts(t *testing.T) {
	client := e.client(t, endless, 4096)
	var shown strings.Builder
	pieces := 0
	ask := func(letters, reply int, delta func(model.Delta)) model.Reply {
		r, err := client.Generate(t.Context(), model.Request{Messages: []model.Message{user(strings.Repeat("q", letters))}, Reply: reply}, delta)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	short := ask(100, 40, func(d model.Delta) { shown.WriteString(d.Text); pieces++ })
	if short.Text != shown.String() || len(short.Text) != 40 || pieces < 20 {
		t.Errorf("reply %q, shown %q in %d pieces", short.Text, shown.String(), pieces)
	}
	u := short.Usage
	if u.Reply != 40 || u.Prefill <= 0 || u.Decode <= 0 || u.Load <= 0 || u.Cached != -1 {
		t.Errorf("usage is %+v", u)
	}
	long, again, only := ask(300, 1, nil).Usage, ask(300, 1, nil).Usage, ask(300, 0, nil)
	if long.Prompt-u.Prompt != 200 { // each q is a token
		t.Errorf("200 tokens more are counted as %d and %d", u.Prompt, long.Prompt)
	}
	if again.Prompt != long.Prompt || only.Usage.Prompt != long.Prompt { // the part from the cache is counted
		t.Errorf("the same prompt counts %d, %d, %d", long.Prompt, again.Prompt, only.Usage.Prompt)
	}
	if only.Text != "" {
		t.Errorf("evaluating only said %q", only.Text)
	}
}

func (e engine) stops(t *testing.T) {
	for name, want := range map[string]model.Stop{endless: model.StopLength, brief: model.StopEnd} {
		reply, err := e.client(t, name, 2048).Generate(t.Context(), model.Request{Messages: []model.Message{user("hello")}, Reply: 300}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tokens, %s: %.60q", name, reply.Usage.Reply, reply.Stop, reply.Text)
		if reply.Stop != want || (reply.Usage.Reply == 300) != (want == model.StopLength) {
			t.Errorf("%s ended with %q after %d tokens, want %q", name, reply.Stop, reply.Usage.Reply, want)
		}
	}
	// The server breaks off what goes round in circles, with neither an error nor a last line.
	_, err := e.client(t, parrot, 2048).Generate(t.Context(), model.Request{Messages: []model.Message{user("hello")}, Reply: 300}, nil)
	if !errors.Is(err, model.ErrBadOutput) {
		t.Errorf("the parrot's error is %v", err)
	}
}

// turns is the length of the talks that are measured; grown the words of each of their messages.
const turns, grown = 20, 12

// reuse holds a dialogue through our client against the engine's own best, and against one with a clock in front.
func (e engine) reuse(t *testing.T) {
	head := model.Message{Role: model.System, Text: prose(1, 60)}
	client := e.client(t, endless, 4096)
	measure := func(before func(n int, c *dialogue)) time.Duration {
		c := &dialogue{client: client, messages: []model.Message{head}}
		c.say(t, "hello")
		var all []turn
		for n := range turns {
			before(n, c)
			all = append(all, c.say(t, prose(uint64(n), grown)))
		}
		return each(all)
	}
	best := e.best(t, head.Text)
	steady := measure(func(int, *dialogue) {})
	clock := measure(func(n int, c *dialogue) { c.messages[0].Text = fmt.Sprintf("It is 14:%02d. ", n) + head.Text })
	t.Logf("time of a new token in %d turns: raw append %v, our appended turns %v (%.2f), with a clock in front %v (%.1f)",
		turns, best, steady, float64(steady)/float64(best), clock, float64(clock)/float64(steady))
	if steady > best*3/2 {
		t.Errorf("a new token of an appended turn took %v, of a raw append %v", steady, best)
	}
	if clock < 3*steady {
		t.Errorf("a new token behind a clock took only %v, appended %v", clock, steady)
	}
}

// best is the time of a new token when text of the same size is appended to a raw prompt, with no client and no template.
func (e engine) best(t *testing.T, text string) time.Duration {
	var all []turn
	held := 0
	for n := range turns + 1 {
		text += prose(uint64(100+n), grown)
		ask, _ := json.Marshal(map[string]any{"model": endless, "raw": true, "prompt": text, "stream": false,
			"options": map[string]int{"num_ctx": 4096, "num_predict": 8}})
		resp, err := http.Post(e.url+"/api/generate", "application/json", bytes.NewReader(ask))
		if err != nil {
			t.Fatal(err)
		}
		var done struct {
			Response string
			Prompt   int           `json:"prompt_eval_count"`
			Prefill  time.Duration `json:"prompt_eval_duration"`
			Reply    int           `json:"eval_count"`
		}
		err = json.NewDecoder(resp.Body).Decode(&done)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v", resp.StatusCode, err)
		}
		if n > 0 { // the first evaluates all of it
			all = append(all, turn{model.Usage{Prefill: done.Prefill}, done.Prompt - held})
		}
		text += done.Response
		held = done.Prompt + done.Reply
	}
	return each(all)
}

// share shows what a second conversation costs the first where the server has one slot.
func (e engine) share(t *testing.T) {
	client := e.client(t, endless, 4096)
	begin := func(seed uint64) *dialogue {
		c := &dialogue{client: client, messages: []model.Message{{Role: model.System, Text: prose(seed, 150)}}}
		c.say(t, "hello")
		return c
	}
	first := begin(11)
	var alone, shared []turn
	for n := range uint64(5) {
		alone = append(alone, first.say(t, prose(n, grown)))
	}
	second := begin(12)
	for n := range uint64(5) {
		shared = append(shared, first.say(t, prose(20+n, grown)))
		second.say(t, prose(30+n, grown))
	}
	t.Logf("time of a new token: alone %v, with a second conversation between %v (%.1f)",
		each(alone), each(shared), float64(each(shared))/float64(each(alone)))
	if each(shared) < 3*each(alone) {
		t.Errorf("a second conversation on the only slot cost nothing: %v, alone %v", each(shared), each(alone))
	}
}

// cut shows that this server cuts what does not fit in spite of truncate: false, without a word; what tells is the
// count, which is far below any estimate. Where everything fits, the count is not below it.
func (e engine) cut(t *testing.T) {
	client := e.client(t, endless, 2048)
	for _, c := range []struct {
		words int // of each of two messages
		fits  bool
	}{{100, true}, {5000, false}} {
		messages := []model.Message{user(prose(1, c.words)), {Role: model.Assistant, Text: "ok"}, user(prose(2, c.words))}
		estimate := 0
		for _, m := range messages {
			estimate += budget.Tokens(m.Text) + budget.MessageTokens
		}
		reply, err := client.Generate(t.Context(), model.Request{Messages: messages, Reply: 8}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("estimated %d, counted %d", estimate, reply.Usage.Prompt)
		if c.fits && (reply.Usage.Prompt < estimate || reply.Usage.Prompt >= 2048) {
			t.Errorf("a prompt that fits was estimated at %d tokens and counted as %d", estimate, reply.Usage.Prompt)
		}
		if !c.fits && (reply.Usage.Prompt > 2048 || estimate < 2*reply.Usage.Prompt) {
			t.Errorf("a prompt that does not fit was estimated at %d tokens and counted as %d", estimate, reply.Usage.Prompt)
		}
	}
}

// cancelled shows that a reply which nobody wants any more does not hold up the next.
func (e engine) cancelled(t *testing.T) {
	client := e.client(t, endless, 2048)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const much = 20000 // tokens
	pieces := 0
	began := time.Now()
	_, err := client.Generate(ctx, model.Request{Messages: []model.Message{user("hello")}, Reply: much}, func(model.Delta) {
		if pieces++; pieces == 200 {
			cancel()
		}
	})
	whole := time.Since(began) * much / 200
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	began = time.Now()
	(&dialogue{client: client}).say(t, "are you there?")
	took := time.Since(began)
	t.Logf("answered %v after the cancelled request, which would have run for about %v", took, whole)
	if took > whole/4 {
		t.Errorf("the next answer came after %v, the cancelled request would have run for %v", took, whole)
	}
}

// talks pipes a conversation through the binary.
func (e engine) talks(t *testing.T) {
	dir := state(t, local(e.url)+"model = \""+brief+"\"\nwindow = 8192\n")
	const lines = 6
	var in strings.Builder
	for n := range uint64(lines) {
		in.WriteString(prose(n, grown) + "\n")
	}
	said := feed(t, dir, in.String(), "chat")
	if said.code != 0 || said.err != "" || strings.Count(said.out, "\n\n") != lines {
		t.Fatalf("%+v", said)
	}
	var all []model.Usage
	rows := ask(t, dir, `SELECT json_group_array(json_object('prompt', prompt, 'cached', cached, 'reply', reply, 'prefill', prefill*1000000))
		FROM (SELECT * FROM usage ORDER BY id)`)
	if err := json.Unmarshal([]byte(rows), &all); err != nil || len(all) != lines {
		t.Fatalf("%v: %s", err, rows)
	}
	first := turn{all[0], all[0].Prompt}
	var later []turn
	for i, u := range all[1:] {
		later = append(later, turn{u, u.Prompt - all[i].Prompt - all[i].Reply})
	}
	t.Logf("time of a new token: first turn (%d tokens) %v, later (%d, %d, …) %v", first.fresh, first.each(),
		later[0].fresh, later[1].fresh, each(later))
	for i, one := range later {
		if one.fresh <= 0 || one.fresh > 400 {
			t.Errorf("turn %d: %d tokens are new", i+2, one.fresh)
		}
	}
	if each(later) > 5*first.each() { // all of it would be twenty times as much
		t.Errorf("a new token took %v, in the first turn %v: later turns evaluate more than is new", each(later), first.each())
	}
}

// killed kills the binary while the engine works for it; the engine is free for the next.
func (e engine) killed(t *testing.T) {
	const window = 8192
	dir := state(t, local(e.url)+fmt.Sprintf("model = %q\nwindow = %d\n", endless, window))
	before := strings.Count(e.server.said.String(), `msg="chat request"`)
	p := startFed(t, dir, "tell me a long story\n", "chat")
	until(t, "the engine works", func() bool { return strings.Count(e.server.said.String(), `msg="chat request"`) > before })
	p.kill()
	began := time.Now()
	reply := (&dialogue{client: e.client(t, endless, window)}).say(t, "are you there?")
	took, whole := time.Since(began), reply.Decode/8*time.Duration(budget.Split(window, 1).Reply)
	t.Logf("answered %v after the kill; the reply that nobody waits for would have run for about %v", took, whole)
	if reply.Load > time.Second || took > whole/2 {
		t.Errorf("the next answer came after %v (loading %v), the reply before would have run for %v", took, reply.Load, whole)
	}
	said := feed(t, dir, "and now?\n", "chat") // the story is told now, too, as an answer to an earlier message
	if earlier, ok := strings.CutPrefix(said.err, "(to an earlier message)\n"); said.code != 0 || len(said.out) < 100 || !ok || len(earlier) < 100 {
		t.Errorf("%+v", said)
	}
	intact(t, dir)
}
