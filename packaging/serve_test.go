package packaging_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pinch/agent/model/modeltest"
)

// pinch run, and the commands that talk to it over the socket.

func TestServeAnswersCommands(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	dir := state(t, local(ollama.URL()))
	p := serve(t, dir)
	info, err := os.Stat(filepath.Join(dir, "pinch.sock"))
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	feed(t, dir, "hello\nagain\n", "chat").want(t, "ok\n\nok\n\n")
	feed(t, dir, "elsewhere\n", "chat", "--session", "work").want(t, "ok\n\n")

	var status struct {
		Version string
		Window  int
		Checks  []struct{ Name, Level string }
	}
	decode(t, pinch(t, dir, "status", "--json"), &status)
	if status.Version == "" || status.Window != 4096 || len(status.Checks) == 0 {
		t.Errorf("status: %+v", status)
	}
	var look struct {
		Conversation    string
		Window, Entries int
		Parts           struct{ Head, Tools, History int }
	}
	decode(t, pinch(t, dir, "context", "--json"), &look)
	if look.Conversation != "agent:main:main" || look.Entries != 4 || look.Window != 4096 || look.Parts.Head == 0 || look.Parts.Tools == 0 || look.Parts.History == 0 {
		t.Errorf("context: %+v", look)
	}
	for _, name := range []string{"status", "context", "doctor"} {
		if r := pinch(t, dir, name); r.code != 0 || r.err != "" || strings.HasPrefix(r.out, "{") {
			t.Errorf("%s: %+v", name, r)
		}
	}

	if code := p.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("pinch run ended with %d after SIGTERM", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "pinch.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "pinch.db-wal")); !os.IsNotExist(err) {
		t.Errorf("the log was not moved into the database: %v", err)
	}
	intact(t, dir)
	if n := ask(t, dir, "SELECT count(*) FROM inbox WHERE state = 0"); n != "0" {
		t.Errorf("%s messages wait", n)
	}
	feed(t, dir, "and now?\n", "chat").want(t, "ok\n\n")
	requests := answered(ollama)
	prefix(t, requests[1].Body, requests[3].Body)
}

func decode(t testing.TB, r result, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), into); err != nil || r.code != 0 || r.err != "" || strings.Count(r.out, "\n") != 1 {
		t.Errorf("exit %d, %v: %s%s", r.code, err, r.out, r.err)
	}
}

// TestServeStopsInATurn ends pinch run while the model is thinking: the message is answered after the next start.
func TestServeStopsInATurn(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	asked := make(chan struct{})
	ollama.Script(func(r modeltest.Request) modeltest.Answer {
		select {
		case <-asked:
			return modeltest.Answer{Text: "ok"}
		default:
			close(asked)
			return modeltest.Answer{Gate: make(chan struct{})}
		}
	})
	dir := state(t, local(ollama.URL()))
	p := serve(t, dir)
	chat := startFed(t, dir, "think long\n", "chat")
	<-asked
	if code := p.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("pinch run ended with %d", code)
	}
	if code := chat.wait(); code != 1 || !sentence(chat.said.String(), "kept and will be answered") {
		t.Errorf("the chat ended with %d: %s", code, chat.said)
	}
	intact(t, dir)
	p = serve(t, dir)
	until(t, "the message is answered", func() bool { return ask(t, dir, "SELECT count(*) FROM inbox WHERE state = 1") == "1" })
	r := feed(t, dir, "next\n", "chat")
	if r.out != "ok\n\n" || r.err != "(to an earlier message)\nok\n\n" || r.code != 0 {
		t.Errorf("%+v", r)
	}
	if code := p.stop(syscall.SIGINT); code != 0 {
		t.Errorf("pinch run ended with %d after SIGINT", code)
	}
}

// TestServeReplacesADeadSocket starts after a kill, which leaves the socket's file behind.
func TestServeReplacesADeadSocket(t *testing.T) {
	dir := state(t, local(nobody))
	serve(t, dir).kill()
	if _, err := os.Stat(filepath.Join(dir, "pinch.sock")); err != nil {
		t.Fatalf("this test needs the dead socket: %v", err)
	}
	if r := pinch(t, dir, "status"); r.code != 0 || r.err != "" {
		t.Errorf("status beside a dead socket: %+v", r)
	}
	serve(t, dir)
	if r := feed(t, dir, "what time is it?\n", "chat"); r.code != 0 || !strings.Contains(r.out, "⚡") {
		t.Errorf("%+v", r)
	}
	intact(t, dir)
}
