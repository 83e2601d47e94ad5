package console_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"pinch/agent/command"
	"pinch/channels"
	"pinch/channels/console"
)

// child names, in the environment, the history file of a chat that this test binary runs at a terminal instead of
// its tests: the editor works on the process's own terminal.
const child = "PINCH_CONSOLE_HISTORY"

func TestMain(m *testing.M) {
	file, ok := os.LookupEnv(child)
	if !ok {
		os.Exit(m.Run())
	}
	s := &scripted{calls: make(chan command.Call, 1)}
	s.answer = s.perform
	err := console.Run(context.Background(), console.Options{
		Out: os.Stdout, Err: os.Stderr, Terminal: console.Interactive(), Conversation: "main", Key: "agent:main:main", History: file,
	}, s, s)
	fmt.Println("left with", err)
	os.Exit(0)
}

// perform answers the message "slow" when a stop is called, "stuck" never, "lost" with a failure, and any other at
// once, streamed.
func (s *scripted) perform(ctx context.Context, m channels.Message, show func(channels.Event)) error {
	switch m.Text {
	case "slow":
		show(channels.Event{Progress: &channels.Progress{Phase: channels.Reading, Percent: 12}})
		c := <-s.calls
		show(part(fmt.Sprintf("stopped by %s of %s, owner %v", c.Name, c.Conversation, c.Owner), m.ID))
		return nil
	case "stuck":
		show(writing("I am"))
		<-ctx.Done()
		return ctx.Err()
	case "lost":
		return fmt.Errorf("pinch is not running here")
	}
	show(writing("You "))
	show(writing("said "))
	show(part("You said "+m.Text+".", m.ID))
	return nil
}

// terminal is a person's side of a chat in a process of its own.
type terminal struct {
	*testing.T
	pty   *os.File
	child *os.Process
	read  string // not yet expected
}

func open(t *testing.T, history string) *terminal {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatalf("opening a pseudo-terminal: %v", err)
	}
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(os.Args[0], os.Args[:1], &os.ProcAttr{
		Env:   append(os.Environ(), child+"="+history, "TERM=xterm"),
		Files: []*os.File{theirs, theirs, theirs},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true},
	})
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill() // it has left, unless the test failed
		_, _ = p.Wait()
		ours.Close()
	})
	return &terminal{T: t, pty: ours, child: p}
}

// want waits until the text is on the screen and returns what stood before it.
func (t *terminal) want(text string) (before string) {
	t.Helper()
	late := time.AfterFunc(20*time.Second, func() { _ = t.child.Kill() }) // which ends the read
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

const ctrlC, ctrlD = "\x03", "\x04"

func TestTerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	c := open(t, file)
	c.want("> ")
	c.press("hello\r")
	c.want("You said hello.\r\n")
	if before := c.want("> "); strings.Contains(before, "said") {
		t.Errorf("said twice: %q", before)
	}

	c.press("x")
	c.want("x")    // the editor listens; before that, the terminal itself would take Ctrl-C
	c.press(ctrlC) // clears the line and does not leave
	c.want("^C")
	c.press("a\rb\r") // two lines at once, as pasted
	c.want("You said a.")
	c.want("You said b.")
	c.want("> ")

	c.press("lost\r")
	c.want("pinch is not running here")
	c.want("> ")

	c.press("slow\r")
	c.want("reading 12 %")
	c.want("1 s reading 12 %") // it moves
	c.press(ctrlC)
	c.want("stopped by stop of agent:main:main, owner true\r\n")
	c.want("> ")

	c.press("stuck\r")
	c.want("I am")
	c.press(ctrlC)
	c.want("(stopping; Ctrl-C again to wait no longer)\r\n")
	c.press(ctrlC)
	c.want("(not waiting any longer")
	c.want("> ")

	c.press("\x1b[A\x1b[A\x1b[A\r") // three lines up: lost
	c.want("pinch is not running here")
	c.want("> ")
	c.press(ctrlD)
	c.want("left with <nil>")

	kept, err := os.ReadFile(file)
	if info, _ := os.Stat(file); err != nil || string(kept) != "hello\na\nb\nlost\nslow\nstuck\nlost\n" || info.Mode().Perm() != 0o600 {
		t.Errorf("history: %q, %v", kept, err)
	}
	again := open(t, file)
	again.want("> ")
	again.press("\x1b[A\x1b[A\x1b[A\x1b[A\r") // up over the start: lost, stuck, slow, lost
	again.want("pinch is not running here")
	again.press(ctrlD)
	again.want("left with <nil>")
}

func TestHistoryIsCutAndNeverInTheWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(file, []byte(strings.Repeat("old line\n", 20000)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, file)
	c.want("> ")
	c.press("\x1b[A\r")
	c.want("You said old line.")
	c.press(ctrlD)
	c.want("left with <nil>")
	if info, err := os.Stat(file); err != nil || info.Size() > 70<<10 || info.Size() < 60<<10 {
		t.Errorf("history: %v, %v", info, err)
	}

	c = open(t, filepath.Join(t.TempDir(), "none", "history"))
	c.want("> ")
	c.press("hi\r")
	c.want("keeping the typed line")
	c.want("You said hi.")
	c.press(ctrlD)
	c.want("left with <nil>")
}
