package packaging_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"pinch/agent/model/modeltest"
)

// pinch chat with a person at a terminal.

const ctrlC, ctrlD, esc = "\x03", "\x04", "\x1b"

// terminal is the person's side.
type terminal struct {
	*testing.T
	pty  *os.File
	cmd  *exec.Cmd
	read string // not yet expected
}

func open(t *testing.T, state string, args ...string) *terminal {
	t.Helper()
	cmd := command(t.Context(), t, state, args...)
	ours, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Wait() // it has left, or the context of the test has ended it
		ours.Close()
	})
	return &terminal{t, ours, cmd, ""}
}

// want waits until the text is on the screen and returns what stood before it.
func (t *terminal) want(text string) (before string) {
	t.Helper()
	late := time.AfterFunc(patience, func() { _ = t.cmd.Process.Kill() }) // which ends the read
	defer late.Stop()
	buf := make([]byte, 4096)
	for {
		if before, after, ok := strings.Cut(t.read, text); ok {
			t.read = after
			return before
		}
		n, err := t.pty.Read(buf)
		if err != nil {
			t.Fatalf("waiting for %q: %v; the screen has %q", text, err, t.read)
		}
		t.read += string(buf[:n])
	}
}

func (t *terminal) press(keys string) {
	t.Helper()
	if _, err := io.WriteString(t.pty, keys); err != nil {
		t.Fatal(err)
	}
}

// leave presses Ctrl-D and expects exit code 0.
func (t *terminal) leave() {
	t.Helper()
	t.press(ctrlD)
	_, _ = io.Copy(io.Discard, t.pty) // ends with an error when the other side is closed
	if err := t.cmd.Wait(); err != nil {
		t.Errorf("left with %v", err)
	}
}

// talk is the same chat at a terminal, in the process itself or over the socket.
func talk(t *testing.T, dir string, ollama *modeltest.Ollama) {
	more := make(chan struct{})
	ollama.OnChunk(func(request, chunk int) {
		if request == 0 && chunk == 3 {
			select { // the rest waits until this much is on the screen
			case <-more:
			case <-t.Context().Done():
			}
		}
	})
	ollama.On("hello", modeltest.Answer{Text: "Good morning to you and to all."})
	ollama.On("think long", modeltest.Answer{Text: "never", Gate: make(chan struct{})})
	ollama.On("and now", modeltest.Answer{Text: "Now I am here."})
	c := open(t, dir, "chat")
	c.want("> ")
	c.press("hello\r")
	c.want("Good morning")
	close(more)
	c.want("to you and to all.\r\n")
	if rest := c.want("> "); strings.Contains(rest, "morning") {
		t.Errorf("said twice: %q", rest)
	}

	c.press("think long\r")
	c.want("reading")
	c.press(ctrlC)
	c.want("(stopping;")
	c.want("Stopped.\r\n")
	c.want("> ")
	c.press("and now?\r")
	c.want("Now I am here.\r\n")
	c.want("> ")
	c.press("x")
	c.want("x") // the editor listens
	c.press(ctrlC)
	c.want("^C")          // it clears the line, no more
	c.press(esc + "[A\r") // the line before
	c.want("Now I am here.\r\n")
	c.want("> ")
	c.leave()
}

func TestTerminal(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	dir := state(t, local(ollama.URL()))
	talk(t, dir, ollama)
	intact(t, dir)

	c := open(t, dir, "chat") // the typed lines are kept
	c.want("Model qwen3:1.7b, 4096 tokens of window.")
	c.want("> ")
	c.press(esc + "[A" + esc + "[A" + esc + "[A" + esc + "[A\r") // and now, and now, think long, hello
	c.want("Good morning to you and to all.\r\n")
	c.want("> ")
	c.leave()
}

func TestTerminalWithoutAModel(t *testing.T) {
	c := open(t, state(t, local(nobody)), "chat")
	c.want("ollama pull qwen3:1.7b")
	c.want("> ")
	c.press("记住钥匙在桌上\r")
	c.want("记住了")
	c.want("> ")
	c.leave()
}

func TestTerminalOverTheSocket(t *testing.T) {
	ollama := modeltest.NewOllama(t)
	dir := state(t, local(ollama.URL()))
	serve(t, dir)
	talk(t, dir, ollama)
}
