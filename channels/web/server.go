package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"pinch/agent/command"
	"pinch/channels"
)

const (
	maxPath  = 100              // bytes of a socket's path; the system allows 107
	maxBody  = 2<<20 + 4096     // of a request: a message of 1 MB with every character escaped once
	maxReply = 8 << 20          // of what a server answers, and of one event
	slow     = 10 * time.Second // to send a request, or to take one event
	grace    = 5 * time.Second  // for requests in progress when the server stops
)

// Caller runs an operation by its name.
type Caller interface {
	Call(ctx context.Context, call command.Call) (command.Result, error)
}

// Serve offers a channel and the operations on a unix socket until ctx ends; requests in progress then end too, and
// the socket's file is removed. Whoever can open the socket is the owner, so its file has mode 0600. It fails when
// the path is too long or another process serves there; the socket of a dead process is replaced.
func Serve(ctx context.Context, path string, channel *Channel, caller Caller, log *slog.Logger) error {
	l, err := listenUnix(ctx, path)
	if err != nil {
		return err
	}
	s := &server{channel: channel, caller: caller}
	srv := &http.Server{
		Handler:           s.routes(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: slow,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	log.Debug("socket is open", "path", path)
	select {
	case err := <-served:
		srv.Close()
		return fmt.Errorf("serving on %s: %w", path, err)
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if srv.Shutdown(wait) != nil {
		srv.Close()
	}
	<-served
	return nil
}

// listenUnix opens the socket at path with mode 0600.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("the socket's path %s is longer than %d bytes: choose a shorter state directory with --state", path, maxPath)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("looking for the socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way of the socket: move it elsewhere", path)
	default:
		if _, err := Dial(path); !errors.Is(err, ErrNotRunning) {
			return nil, fmt.Errorf("another pinch serves on %s: stop it first", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("removing the socket of a dead process: %w", err)
		}
	}
	// The mode is set before the file exists, so nobody else can open it in between. Where a system refuses that,
	// the second chmod does it.
	private := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
	}}
	l, err := private.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("opening the socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("closing the socket to others: %w", err)
	}
	return l, nil
}

// server answers the requests on the socket.
type server struct {
	channel *Channel
	caller  Caller
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/call", s.call)
	mux.HandleFunc("POST /v1/chat", s.chat)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// failure is the answer to a request that failed, and the last event of such a stream.
type failure struct {
	Error string `json:"error"`
}

// call runs one operation.
func (s *server) call(w http.ResponseWriter, r *http.Request) {
	var c command.Call
	if !read(w, r, &c) {
		return
	}
	c.Owner = true
	result, err := s.caller.Call(r.Context(), c)
	if err != nil {
		answer(w, statusOf(err), failure{err.Error()})
		return
	}
	answer(w, http.StatusOK, result)
}

// statusOf is how an error of an operation crosses the socket; kindOf is its other half.
func statusOf(err error) int {
	var usage command.UsageError
	switch {
	case errors.As(err, &usage):
		return http.StatusUnprocessableEntity
	case errors.Is(err, command.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, command.ErrForbidden):
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

// chat takes a message and streams what happens until its turn is over. The last event is done or error; a stream
// that ends without one was cut.
func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	var m channels.Message
	if !read(w, r, &m) {
		return
	}
	if strings.TrimSpace(m.Text) == "" || m.Conversation == "" {
		answer(w, http.StatusBadRequest, failure{"the message needs a text and a conversation"})
		return
	}
	ctx, gone := context.WithCancel(r.Context())
	defer gone()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	rc := http.NewResponseController(w)
	send := func(frame []byte) {
		err := rc.SetWriteDeadline(time.Now().Add(slow))
		if err == nil {
			_, err = w.Write(frame)
		}
		if err == nil {
			err = rc.Flush()
		}
		if err != nil {
			gone()
		}
	}
	err := s.channel.say(ctx, m,
		func(e channels.Event) { send(frame(e)) },
		func() { send([]byte(": still working\n\n")) })
	switch {
	case err == nil:
		send([]byte("event: done\ndata: {}\n\n"))
	case ctx.Err() != nil: // the reader has gone, or we stop: the first cannot see it
		send(frameOf("error", failure{ErrStopping.Error()}))
	default:
		send(frameOf("error", failure{err.Error()}))
	}
}

// frame is an event on the wire.
func frame(e channels.Event) []byte {
	if e.Part != nil {
		return frameOf("part", e.Part)
	}
	return frameOf("progress", e.Progress)
}

func frameOf(name string, value any) []byte {
	data, err := json.Marshal(value)
	if err != nil { // only values of ours, which can be written
		panic(err)
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
}

// read decodes the body of a request, or answers what is wrong with it.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(slow))
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into)
	_ = rc.SetReadDeadline(time.Time{}) // what follows may take long, and a passed deadline would end it
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		answer(w, http.StatusRequestEntityTooLarge, failure{"the message is too long: send at most 1 MB"})
	case err != nil:
		answer(w, http.StatusBadRequest, failure{"reading the request: " + err.Error()})
	}
	return err == nil
}

// answer writes one JSON value.
func answer(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil { // an operation's data that has no JSON form
		status, data = http.StatusInternalServerError, []byte(`{"error":"the result cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
