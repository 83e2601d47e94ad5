package packaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
)

// Piped chat with a model behind it.

// answered are the requests for an answer, without those that warm the model up for the next one.
func answered(ollama *modeltest.Ollama) []modeltest.Request {
	return slices.DeleteFunc(ollama.Requests(), func(r modeltest.Request) bool {
		n := r.Chat.Options.NumPredict
		return n != nil && *n == 1
	})
}

// echo answers with the number of the request and what was said.
func echo(ollama *modeltest.Ollama) func(modeltest.Request) modeltest.Answer {
	return func(r modeltest.Request) modeltest.Answer {
		_, text, _ := strings.Cut(r.Chat.Last(), "] ")
		return modeltest.Answer{Text: fmt.Sprintf("%d: you said %s", len(answered(ollama))+1, text)}
	}
}

// want holds a run against what it should print, with exit code 0 and nothing on standard error.
func (r result) want(t testing.TB, out string) {
	t.Helper()
	if r.out != out || r.err != "" || r.code != 0 {
		t.Errorf("exit %d, out %q, err %q; want %q", r.code, r.out, r.err, out)
	}
}

func TestChatAnswersEachLine(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	ollama.Script(echo(ollama))
	dir := state(t, local(ollama.URL()))
	feed(t, dir, "one\ntwo\nthree\n", "chat").want(t, "1: you said one\n\n2: you said two\n\n3: you said three\n\n")

	requests := answered(ollama)
	if len(requests) != 3 {
		t.Fatalf("the model was asked %d times", len(requests))
	}
	var said []string
	for _, m := range requests[2].Chat.Messages[1:] {
		_, text, found := strings.Cut(m.Content, "] ")
		if !found {
			text = m.Content
		}
		said = append(said, m.Role+" "+text)
	}
	want := "user one, assistant 1: you said one, user two, assistant 2: you said two, user three"
	if got := strings.Join(said, ", "); got != want {
		t.Errorf("the third request holds %s; want %s", got, want)
	}
	for i := range 2 {
		prefix(t, requests[i].Body, requests[i+1].Body)
		if requests[i+1].Loaded || requests[i+1].Cached < requests[i].Prompt {
			t.Errorf("request %d: of %d tokens the cache held %d, the request before had %d", i+2, requests[i+1].Prompt,
				requests[i+1].Cached, requests[i].Prompt)
		}
	}
	intact(t, dir)
}

// prefix checks that a request is what the one before it was, byte for byte, and then new messages.
func prefix(t testing.TB, before, after []byte) {
	t.Helper()
	var a, b struct{ Messages, Tools, Options json.RawMessage }
	for body, into := range map[*[]byte]any{&before: &a, &after: &b} {
		if err := json.Unmarshal(*body, into); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.Tools) == 0 || !bytes.Equal(a.Tools, b.Tools) || !bytes.Equal(a.Options, b.Options) {
		t.Errorf("the tools or options changed:\n%s %s\n%s %s", a.Tools, a.Options, b.Tools, b.Options)
	}
	list := bytes.TrimSuffix(a.Messages, []byte("]"))
	if !bytes.HasPrefix(b.Messages, append(bytes.Clone(list), ',')) {
		t.Errorf("the messages do not begin with those of the request before:\n%s\n%s", a.Messages, b.Messages)
	}
}

func TestChatGoesOnAfterARestart(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	dir := state(t, local(ollama.URL()))
	for _, text := range []string{"one", "two", "three"} {
		feed(t, dir, text, "chat").want(t, "ok\n\n")
	}
	requests := answered(ollama)
	prefix(t, requests[0].Body, requests[1].Body)
	prefix(t, requests[1].Body, requests[2].Body)
}

// spoken is one line of --json.
type spoken struct {
	Reply, Model string
	Usage        struct{ Prompt, Cached, Reply int }
	LeftOut      []string `json:"left_out"`
}

// objects reads what --json printed; no field may be missing or unknown.
func objects(t testing.TB, r result) (all []spoken) {
	t.Helper()
	if r.code != 0 || r.err != "" {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	for line := range strings.Lines(r.out) {
		var s spoken
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, s)
	}
	return all
}

func TestChatPrintsObjects(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	dir := state(t, local(ollama.URL()))
	all := objects(t, feed(t, dir, "hello\nhow warm is the board?\nagain\n", "chat", "--json"))
	if len(all) != 3 {
		t.Fatalf("%d objects: %+v", len(all), all)
	}
	asked := answered(ollama)
	if s := all[0]; s.Reply != "ok" || s.Model == "" || s.Usage.Prompt != asked[0].Prompt || s.Usage.Reply != 1 {
		t.Errorf("from the model: %+v", s)
	}
	if s := all[1]; !strings.Contains(s.Reply, "⚡") || s.Model != "" || s.Usage.Prompt != 0 {
		t.Errorf("by itself: %+v", s)
	}
	if s := all[2]; s.Usage.Cached != asked[1].Cached || s.LeftOut == nil || len(s.LeftOut) != 0 {
		t.Errorf("from the model again: %+v", s)
	}
}

func TestChatSessionsAreApart(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	dir := state(t, local(ollama.URL()))
	feed(t, dir, "the word is apple\n", "chat", "--session", "work").want(t, "ok\n\n")
	feed(t, dir, "which word?\n", "chat").want(t, "ok\n\n")
	feed(t, dir, "which word?\n", "chat", "--session", "work").want(t, "ok\n\n")
	requests := answered(ollama)
	if len(requests[1].Chat.Messages) != 2 || bytes.Contains(requests[1].Body, []byte("apple")) {
		t.Errorf("the main conversation heard the other one: %s", requests[1].Body)
	}
	prefix(t, requests[0].Body, requests[2].Body)
}

func TestChatUsesTools(t *testing.T) {
	const poem = "roses are red\nviolets are blue\n"
	ollama := modeltest.NewOllama(t)
	ollama.Script(func(r modeltest.Request) modeltest.Answer {
		switch last := r.Chat.Messages[len(r.Chat.Messages)-1]; {
		case last.Role != "tool":
			return modeltest.Answer{Calls: []model.ToolCall{{Name: "write", Arguments: `{"path":"poems/one.md","content":"roses are red\nviolets are blue\n"}`}}}
		case last.ToolName == "write":
			return modeltest.Answer{Calls: []model.ToolCall{{Name: "read", Arguments: `{"path":"poems/one.md"}`}}}
		default:
			return modeltest.Answer{Text: "It says: " + last.Content}
		}
	})
	dir := state(t, local(ollama.URL()))
	r := feed(t, dir, "write a poem and read it to me\n", "chat")
	if !strings.HasPrefix(r.out, "It says: ") || !strings.Contains(r.out, "violets are blue") || r.err != "" || r.code != 0 {
		t.Errorf("%+v", r)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "workspace", "poems", "one.md")); string(data) != poem {
		t.Errorf("the file has %q, %v", data, err)
	}
	requests := answered(ollama)
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	prefix(t, requests[0].Body, requests[1].Body)
	prefix(t, requests[1].Body, requests[2].Body)
	if n := ask(t, dir, "SELECT count(*) FROM tool_records WHERE name = 'write' AND done = 1"); n != "1" {
		t.Errorf("%s records of writing", n)
	}
}

func TestChatShortensAPaste(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	dir := state(t, local(ollama.URL()))
	paste := "BEGIN " + strings.Repeat("and so on and on ", 4000) + " END"
	all := objects(t, feed(t, dir, paste+"\nshort\n", "chat", "--json"))
	if len(all) != 2 || all[0].Reply != "ok" || len(all[0].LeftOut) != 1 || all[1].Reply != "ok" {
		t.Errorf("%+v", all)
	}
	asked := answered(ollama)
	first := asked[0].Chat.Last()
	if !strings.Contains(first, "BEGIN") || !strings.HasSuffix(first, "END") || !strings.Contains(first, "left out") {
		t.Errorf("the model got %.200q…", first)
	}
	if asked[0].Status != 200 || asked[0].Prompt > 4096*8/10 {
		t.Errorf("status %d, %d tokens", asked[0].Status, asked[0].Prompt)
	}

	r := feed(t, dir, strings.Repeat("x", 1<<20+1)+"\n", "chat")
	if r.out != "" || r.code != 1 || !sentence(r.err, "longer than 1 MB") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestChatRetries(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	ollama.Script(echo(ollama))
	dir := state(t, local(ollama.URL()))
	ollama.Down()
	r := feed(t, dir, "hello\n", "chat")
	if !strings.Contains(r.out, "/retry") || !strings.Contains(r.out, "ollama pull") || r.err != "" || r.code != 0 {
		t.Errorf("without the model: %+v", r)
	}
	ollama.Up()
	feed(t, dir, "/retry\n/retry\n", "chat").want(t, "1: you said hello\n\nThere is nothing to answer again.\n\n")
}
