package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pinch/agent/command"
	"pinch/channels"
	"pinch/channels/web"
)

// operations is a Caller whose answers depend on the name.
type operations struct{}

func (operations) Call(_ context.Context, c command.Call) (command.Result, error) {
	switch c.Name {
	case "status":
		return command.Result{Text: fmt.Sprintf("%s %v %s", c.Args, c.Owner, c.Conversation), Data: map[string]int{"b": 1, "a": 2}}, nil
	case "bare":
		return command.Result{Text: "no data", Failed: true}, nil
	case "usage":
		return command.Result{}, command.UsageError{Text: "write /usage N"}
	case "secret":
		return command.Result{}, fmt.Errorf("/secret: %w", command.ErrForbidden)
	case "odd":
		return command.Result{Data: func() {}}, nil
	case "broken":
		return command.Result{}, errors.New("the disk is full")
	}
	return command.Result{}, fmt.Errorf("%w: %s", command.ErrUnknown, c.Name)
}

var quiet = slog.New(slog.DiscardHandler)

// serve starts a server and returns the path of its socket and what stops it.
func serve(t *testing.T, c *web.Channel) (path string, stop func() error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pinch.sock")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ctx, path, c, operations{}, quiet) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	until(t, func() bool { _, err := web.Dial(path); return err == nil })
	return path, stop
}

// until polls until a condition holds.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("it did not happen in 10 s")
		}
	}
}

func dial(t *testing.T, path string) *web.Client {
	t.Helper()
	c, err := web.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChatOverTheSocket(t *testing.T) {
	c, taken := run(t)
	path, _ := serve(t, c)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	client := dial(t, path)
	var all []saying
	for _, id := range []string{"m1", "m2", "m3"} { // three terminals in one conversation
		all = append(all, say(t.Context(), client, message(id, "hi from "+id)))
		if in := <-taken; in.Event != id || in.Sender.Name != "ann" || in.Text != "hi from "+id {
			t.Errorf("inbound: %+v", in)
		}
	}
	c.Show(at("main"), channels.Progress{Phase: channels.Writing, Text: "line\n\nline", Answers: []string{"m3"}})
	reply := last(3, "line\n\nline\r\n", "m3")
	reply.About = &channels.About{Model: "local", Prompt: 5}
	mustSend(t, c, reply)
	mustSend(t, c, last(2, "two", "m2"))
	mustSend(t, c, last(1, "one", "m1"))
	for i, want := range [][]string{{reply.Text, "two", "one"}, {reply.Text, "two"}, {reply.Text}} {
		if parts, streamed := all[i].texts(t); !slices.Equal(parts, want) || streamed != "line\n\nline" {
			t.Errorf("terminal %d: %q, streamed %q", i+1, parts, streamed)
		}
	}
}

func TestCallOverTheSocket(t *testing.T) {
	c, _ := run(t)
	path, _ := serve(t, c)
	client := dial(t, path)
	got, err := client.Call(t.Context(), command.Call{Name: "status", Args: "all", Conversation: "agent:main:main"})
	if err != nil || got.Text != "all true agent:main:main" || fmt.Sprintf("%s", got.Data) != `{"a":2,"b":1}` {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = client.Call(t.Context(), command.Call{Name: "bare"})
	if err != nil || got != (command.Result{Text: "no data", Failed: true}) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, want := range map[string]struct {
		is   error
		text string
	}{
		"secret": {command.ErrForbidden, "/secret: only the owner may do this"},
		"none":   {command.ErrUnknown, "unknown command: none"},
		"broken": {nil, "the disk is full"},
		"odd":    {nil, "the result cannot be written as JSON"},
	} {
		_, err := client.Call(t.Context(), command.Call{Name: name})
		if err == nil || err.Error() != want.text || want.is != nil && !errors.Is(err, want.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var usage command.UsageError
	if _, err := client.Call(t.Context(), command.Call{Name: "usage"}); !errors.As(err, &usage) || usage.Text != "write /usage N" {
		t.Errorf("usage: %v", err)
	}
}

func TestServerStopsWhileStreaming(t *testing.T) {
	c, taken := run(t)
	path, stop := serve(t, c)
	s := say(t.Context(), dial(t, path), message("m1", "go"))
	<-taken
	began := time.Now()
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if err := <-s.ended; err == nil || err.Error() != web.ErrStopping.Error() {
		t.Errorf("Say: %v", err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("stopping took %v", took)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := web.Dial(path); !errors.Is(err, web.ErrNotRunning) {
		t.Errorf("Dial: %v", err)
	}
}

func TestTerminalThatGoesAwayHearsItsReplyLater(t *testing.T) {
	c, taken := run(t)
	path, _ := serve(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	s := say(ctx, dial(t, path), message("m1", "go"))
	<-taken
	cancel()
	if err := <-s.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Say: %v", err)
	}
	// Any id shows whether a listener is left; the reply itself is then sent once.
	until(t, func() bool {
		_, err := c.Send(t.Context(), channels.Part{Address: at("main"), Text: "?"})
		return err != nil && failure(err).Failure == channels.WindowClosed
	})
	s = say(t.Context(), dial(t, path), message("m2", "and?"))
	<-taken
	mustSend(t, c, last(1, "late", "m1"))
	mustSend(t, c, last(2, "and", "m2"))
	if parts, _ := s.texts(t); !slices.Equal(parts, []string{"late", "and"}) {
		t.Errorf("parts %q", parts)
	}
}

func TestClientThatDoesNotReadBlocksNobody(t *testing.T) {
	c, taken := run(t)
	path, _ := serve(t, c)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"id":"m1","conversation":"main","text":"go"}`
	fmt.Fprintf(conn, "POST /v1/chat HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	<-taken
	c.Show(at("main"), channels.Progress{Phase: channels.Writing, Text: strings.Repeat("x", 4<<20)}) // more than a socket holds
	if _, err := c.Send(t.Context(), last(1, "reply", "m1")); err == nil || failure(err).Failure != channels.Temporary {
		t.Errorf("Send to a client that does not read: %v", err)
	}
	conn.Close()
	until(t, func() bool {
		_, err := c.Send(t.Context(), last(1, "reply", "m1"))
		return err != nil && failure(err).Failure == channels.WindowClosed
	})
}

func TestSocketsInTheWay(t *testing.T) {
	c, _ := run(t)
	path, _ := serve(t, c)
	refused := func(path, want string) {
		t.Helper()
		if err := web.Serve(t.Context(), path, c, operations{}, quiet); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Serve on %s: %v, want %q", filepath.Base(path), err, want)
		}
	}
	refused(path, "another pinch serves on")
	dial(t, path) // and the first still serves
	refused("/tmp/"+strings.Repeat("x", 100), "choose a shorter state directory")
	refused(filepath.Join(t.TempDir(), "none", "pinch.sock"), "opening the socket")
	file := filepath.Join(t.TempDir(), "pinch.sock")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(file, "is in the way of the socket")
}

func TestStaleSocketIsReplaced(t *testing.T) {
	c, _ := run(t)
	path := filepath.Join(t.TempDir(), "pinch.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := web.Dial(path); !errors.Is(err, web.ErrNotRunning) {
		t.Errorf("Dial: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ctx, path, c, operations{}, quiet) }()
	until(t, func() bool { _, err := web.Dial(path); return err == nil })
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	c, taken := run(t)
	path, _ := serve(t, c)
	ignore := func(channels.Event) {}
	for _, row := range []struct {
		m    channels.Message
		want string
	}{
		{message("m1", strings.Repeat("x", 3<<20)), "the message is too long"},
		{message("m1", " \n"), "needs a text"},
		{channels.Message{Text: "hi"}, "needs a text and a conversation"},
	} {
		if err := dial(t, path).Say(t.Context(), row.m, ignore); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.20q: %v", row.m.Text, err)
		}
	}
	if len(taken) != 0 {
		t.Errorf("%d messages were taken", len(taken))
	}
	for request, want := range map[string]string{
		"GET /healthz HTTP/1.0\r\n\r\n":                                           "200 OK",
		"GET /v1/chat HTTP/1.0\r\n\r\n":                                           "405",
		"POST /v1/call HTTP/1.0\r\nContent-Length: 1\r\n\r\n{":                    "400",
		"GET /healthz HTTP/1.0\r\nX: " + strings.Repeat("x", 32<<10) + "\r\n\r\n": "431",
	} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, request)
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if line, _, _ := strings.Cut(string(answer), "\r\n"); !strings.Contains(line, want) {
			t.Errorf("%.20q: %q, want %s", request, line, want)
		}
	}
}

func TestClientOfABrokenServer(t *testing.T) {
	for body, want := range map[string]string{
		"HTTP/1.0 200 OK\r\n\r\nevent: part\ndata: {\"text\":\"half\"}\n\n": "the connection to the running pinch was lost",
		"HTTP/1.0 200 OK\r\n\r\nevent: part\ndata: {\n\n":                   "reading a reply",
		"HTTP/1.0 200 OK\r\n\r\nevent: error\ndata: {\"error\":\"oh\"}\n\n": "oh",
		"HTTP/1.0 502 Bad\r\n\r\n<html>":                                    "an answer that cannot be read",
		"":                                                                  "calling the running pinch",
	} {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan bool)
		go func() {
			defer close(ended)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conn.Read(make([]byte, 4096))
				io.WriteString(conn, body)
				conn.Close()
			}
		}()
		err = dial(t, path).Say(t.Context(), message("m1", "hi"), func(channels.Event) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v", body, err)
		}
		l.Close()
		<-ended
	}
}
