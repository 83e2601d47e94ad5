package packaging_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinch/agent/model/modeltest"
	"pinch/channels/telegram/telegramtest"
)

// What goes wrong around pinch is said in one sentence, and changes nothing that is kept.

// fails holds a run against a failure that was explained: exit code 1, one line with these parts, no reply.
func (r result) fails(t testing.TB, parts ...string) {
	t.Helper()
	if r.code != 1 || r.out != "" || !sentence(r.err, parts...) {
		t.Errorf("exit %d, out %q, err %q; want one sentence with %q", r.code, r.out, r.err, parts)
	}
}

// finds holds a report of pinch doctor against a failure: exit code 1 and a line that begins with "fail".
func (r result) finds(t testing.TB, parts ...string) {
	t.Helper()
	line, _, _ := strings.Cut(r.out, "\n")
	found := strings.HasPrefix(line, "fail  ")
	for _, part := range parts {
		found = found && strings.Contains(line, part)
	}
	if r.code != 1 || r.err != "" || !found || !strings.Contains(r.out, " 1 failed") {
		t.Errorf("exit %d, err %q, report:\n%s\nwant one failure with %q", r.code, r.err, r.out, parts)
	}
}

func TestFaultTwoProcesses(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	asked := make(chan struct{})
	ollama.Script(func(modeltest.Request) modeltest.Answer {
		close(asked)
		return modeltest.Answer{Gate: make(chan struct{})}
	})
	dir := state(t, local(ollama.URL()))
	startFed(t, dir, "think long\n", "chat") // in-process, without a socket
	<-asked
	for _, args := range [][]string{{"run"}, {"chat"}, {"status"}, {"doctor"}} {
		pinch(t, dir, args...).fails(t, "in use", dir, "stop it first")
	}
	intact(t, dir)

	dir = state(t, local(ollama.URL()))
	serve(t, dir)
	pinch(t, dir, "run").fails(t, "in use", dir, "stop it first")
	if r := pinch(t, dir, "status"); r.code != 0 || r.err != "" {
		t.Errorf("the first one no longer answers: %+v", r)
	}
}

func TestFaultTypoInTheConfig(t *testing.T) {
	dir := state(t, "[agent]\nname = \"Pinch\"\n\n[channels.telegram]\ntokn = \"hush\"\n")
	want := []string{filepath.Join(dir, "pinch.toml") + ":5:", "channels.telegram.tokn", "channels.telegram.token?"}
	for _, args := range [][]string{{"run"}, {"chat"}, {"status"}, {"context", "--json"}} {
		r := pinch(t, dir, args...)
		r.fails(t, want...)
		if strings.Contains(r.err, "hush") {
			t.Errorf("a value of the file was printed: %s", r.err)
		}
	}
	pinch(t, dir, "doctor").finds(t, want...)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("something was made beside the config: %v, %v", left, err)
	}
}

func TestFaultUnwritableState(t *testing.T) {
	file := filepath.Join(state(t, ""), "file")
	write(t, file, "")
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		for _, args := range [][]string{{"run"}, {"chat"}, {"status"}} {
			pinch(t, dir, args...).fails(t, dir, "cannot be written", "choose another directory")
		}
		pinch(t, dir, "doctor").finds(t, dir, "cannot be written")
	}
}

// telegramAt is a config with a bot at an address and no model.
func telegramAt(url string) string {
	return local(nobody) + "[channels.telegram]\ntoken = \"11:secret\"\nurl = \"" + url + "\"\nallow = [1001]\n"
}

func TestFaultTokenRefused(t *testing.T) {
	s := telegramtest.New("11:another")
	t.Cleanup(s.Close)
	dir := state(t, telegramAt(s.URL()))
	goesOn(t, dir, "token refused by Telegram", "@BotFather")
	if len(s.Calls("sendMessage")) > 0 {
		t.Error("it sent")
	}
}

func TestFaultNoNetwork(t *testing.T) {
	goesOn(t, state(t, telegramAt(nobody)), "telegram", "offline", "connection refused")
	goesOn(t, state(t, telegramAt("http://nowhere.invalid")), "telegram", "offline", "nowhere.invalid")
}

// goesOn checks a Telegram that cannot be used: doctor says so, pinch run says so once, and the terminal works.
func goesOn(t *testing.T, dir string, parts ...string) {
	t.Helper()
	pinch(t, dir, "doctor").finds(t, parts...)
	p := serve(t, dir)
	said := func() (n int) {
		for line := range strings.Lines(p.said.String()) {
			if strings.Contains(line, parts[0]) && strings.Contains(line, parts[1]) {
				n++
			}
		}
		return n
	}
	until(t, "pinch run says what is wrong", func() bool { return said() > 0 })
	pinch(t, dir, "doctor").finds(t, parts...)
	r := feed(t, dir, "remember that the lamp is broken\nwhat did I tell you about the lamp?\n", "chat")
	if r.code != 0 || r.err != "" || !strings.Contains(r.out, "the lamp is broken") {
		t.Errorf("the terminal: %+v", r)
	}
	if n := said(); n != 1 {
		t.Errorf("it was said %d times: %s", n, p.said)
	}
	for _, text := range []string{p.said.String(), pinch(t, dir, "status").out} {
		if strings.Contains(text, "secret") {
			t.Errorf("the token was printed: %s", text)
		}
	}
	p.kill()
	intact(t, dir)
}
