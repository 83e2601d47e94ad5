package packaging_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	words "pinch/agent/command"
	"pinch/agent/model/modeltest"
	"pinch/channels"
	"pinch/channels/web"
)

// meter is a running prefill meter (packaging/meter).
type meter struct {
	t   testing.TB
	url string
}

// rule is one line of a meter's script.
type rule struct {
	When string `json:"when,omitempty"` // regular expression over the last text; "" = any
	Say  string `json:"say,omitempty"`
	Call *call  `json:"call,omitempty"`
	Role string `json:"role,omitempty"` // of the last text: user or tool
	Fail int    `json:"fail,omitempty"` // HTTP status
	Once bool   `json:"once,omitempty"`
}

type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// lines is what a meter's model says: the script to people, the notes to Pinch's own instructions.
type lines struct {
	Window int    `json:"window,omitempty"`
	Script []rule `json:"script"`
	Notes  []rule `json:"notes"`
}

// metered is what a meter saw of one request. Kind is chat, inband (an instruction of Pinch itself) or warm.
type metered struct {
	Kind                                        string
	Status                                      int
	Prompt, Asked, Head                         int // tokens that were evaluated or cached; that were sent; of system text and tools
	Cached, Evaluated, Generated, Window, Limit int
	Kept                                        int // tokens that begin the last prompt of a conversation too
	Dropped, Tools, Orphans                     int
}

// newMeter starts a meter, which ends with the test.
func newMeter(t testing.TB) *meter {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "meter/meter.sh")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // the context of the test has ended by now, which kills
	})
	scan := bufio.NewScanner(out)
	if !scan.Scan() {
		t.Fatal("the meter has not started")
	}
	return &meter{t, scan.Text()}
}

// call asks a path of the meter and decodes what it answers.
func (m *meter) call(method, path string, body, into any) {
	m.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		m.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(m.t.Context(), method, m.url+path, bytes.NewReader(data))
	if err != nil {
		m.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		m.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		m.t.Fatal(err)
	}
}

func (m *meter) reset(l lines) {
	m.t.Helper()
	m.call(http.MethodPost, "/meter/reset", l, &struct{}{})
}

// log is all requests so far.
func (m *meter) log() (all []metered) {
	m.t.Helper()
	m.call(http.MethodGet, "/meter/log", nil, &all)
	return all
}

// last is the last request and its reply.
func (m *meter) last() (request modeltest.Request, reply json.RawMessage) {
	m.t.Helper()
	var last struct{ Request, Reply json.RawMessage }
	m.call(http.MethodGet, "/meter/last", nil, &last)
	request.Body = last.Request
	if err := json.Unmarshal(last.Request, &request.Chat); err != nil {
		m.t.Fatal(err)
	}
	return request, last.Reply
}

// instruct sends the last conversation again with one instruction at its end, as Pinch does between turns, and
// forgets it.
func (m *meter) instruct(text string) {
	m.t.Helper()
	request, reply := m.last()
	var body map[string]json.RawMessage
	var messages []json.RawMessage
	if err := json.Unmarshal(request.Body, &body); err != nil {
		m.t.Fatal(err)
	}
	if err := json.Unmarshal(body["messages"], &messages); err != nil {
		m.t.Fatal(err)
	}
	instruction, _ := json.Marshal(map[string]string{"role": "user", "content": text})
	body["messages"], _ = json.Marshal(append(messages, reply, instruction))
	body["stream"] = json.RawMessage("false")
	m.call(http.MethodPost, "/api/chat", body, &struct{}{})
}

// fixture reads a JSON file of packaging/meter.
func fixture[T any](t testing.TB, name string) (v T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("meter", name))
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// guest talks to a running pinch over its socket.
type guest struct {
	t    testing.TB
	to   *web.Client
	name string // of the conversation
}

// visit calls on the pinch that runs on a state directory.
func visit(t testing.TB, state string) guest {
	t.Helper()
	client, err := web.Dial(filepath.Join(state, "pinch.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return guest{t, client, "main"}
}

// say sends a message, which may have several lines, and returns the reply and what the last part tells about it.
func (g guest) say(text string) (reply string, about channels.About) {
	g.t.Helper()
	var b strings.Builder
	err := g.to.Say(g.t.Context(), channels.Message{Conversation: g.name, Text: text}, func(e channels.Event) {
		if e.Part != nil {
			b.WriteString(e.Part.Text)
			if e.Part.About != nil {
				about = *e.Part.About
			}
		}
	})
	if err != nil {
		g.t.Fatalf("%.80q: %v", text, err)
	}
	return b.String(), about
}

// health is what pinch status tells.
func (g guest) health() (h struct{ Lanes, Faults, Window int }) {
	g.t.Helper()
	result, err := g.to.Call(g.t.Context(), words.Call{Name: "status", Owner: true})
	if err == nil {
		err = json.Unmarshal(result.Data.(json.RawMessage), &h)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return h
}

// settle waits until nothing is done any more, not even what is due while nobody waits.
func (g guest) settle() {
	g.t.Helper()
	until(g.t, "pinch is idle", func() bool { return g.health().Lanes == 0 })
}
