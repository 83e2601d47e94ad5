// Package telegramtest is a fake Bot API server for tests. It refuses what Telegram's own server refuses, in its
// words, and fails on demand. It knows the methods that Pinch calls and says "method not found" to the rest.
package telegramtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Bot is who getMe says that the bot is.
var Bot = struct {
	ID       int64
	Username string
}{ID: 4242, Username: "pinch_test_bot"}

// Server is a fake Bot API server with one bot.
type Server struct {
	http *httptest.Server
	pipe *pipe // instead of a port, for NewPipe

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each change
	token   string        // "" = revoked
	queue   queue
	chats   map[int64]*chat
	ids     int64 // the last message id
	calls   []Call
	faults  []*planned
	onSend  func(Message)
}

// Call is one request that reached the server with the right token.
type Call struct {
	Method string // in lower case
	Params map[string]string
	At     time.Time
}

// chat is what the server knows of one chat.
type chat struct {
	messages map[int64]bool // everybody's
	topics   map[int64]bool
	sent     []Message // the bot's
	blocked  bool
	migrated int64
}

// New starts a server on a loopback port. Close it after the bot has stopped.
func New(token string) *Server {
	s := newServer(token)
	s.http = httptest.NewServer(s)
	return s
}

// NewPipe starts a server without a port, reached by Dial alone, for tests in a synctest bubble.
func NewPipe(token string) *Server {
	s := newServer(token)
	s.pipe = newPipe(s)
	return s
}

func newServer(token string) *Server {
	return &Server{token: token, changed: make(chan struct{}), chats: map[int64]*chat{}, queue: queue{next: 700001}}
}

// URL is what goes into channels.telegram.url.
func (s *Server) URL() string {
	if s.pipe != nil {
		return "http://telegram.test"
	}
	return s.http.URL
}

// Dial connects to a server of NewPipe, whatever the address.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) { return s.pipe.dial(ctx) }

// Close stops the server and its connections.
func (s *Server) Close() {
	if s.pipe != nil {
		s.pipe.close()
		return
	}
	s.http.CloseClientConnections()
	s.http.Close()
}

// OnSend sets what is called after a message was accepted and before the bot is told so.
func (s *Server) OnSend(hook func(Message)) {
	s.change(func() { s.onSend = hook })
}

// Revoke makes the server answer 401 from now on, as after /revoke; Restore takes the token again.
func (s *Server) Revoke() { s.change(func() { s.token = "" }) }

// Restore makes a token valid.
func (s *Server) Restore(token string) { s.change(func() { s.token = token }) }

// Calls returns the calls of a method, or of all for "".
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []Call
	for _, c := range s.calls {
		if method == "" || c.Method == strings.ToLower(method) {
			calls = append(calls, c)
		}
	}
	return calls
}

// Wait blocks until ok is true, and asks again after each change. ok may call any method of the server.
func (s *Server) Wait(ctx context.Context, ok func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the bot: %w", ctx.Err())
		}
	}
}

func (s *Server) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	s.touch()
}

// touch tells all who wait; the lock is held.
func (s *Server) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// refusal is an answer that is not ok.
type refusal struct {
	code       int
	text       string
	retryAfter int
	migrate    int64
}

func refuse(code int, text string) *refusal { return &refusal{code: code, text: text} }

func bad(text string) *refusal { return refuse(http.StatusBadRequest, "Bad Request: "+text) }

// ServeHTTP answers /bot<token>/<method>.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	if !ok || !strings.HasPrefix(r.URL.Path, "/bot") {
		write(w, nil, refuse(http.StatusNotFound, "Not Found"))
		return
	}
	s.mu.Lock()
	valid := token == s.token
	s.mu.Unlock()
	if !valid {
		write(w, nil, refuse(http.StatusUnauthorized, "Unauthorized"))
		return
	}
	p, err := readParams(r)
	if err != nil {
		write(w, nil, bad("can't parse request body"))
		return
	}
	method = strings.ToLower(method)
	var fault *Fault
	s.change(func() {
		s.calls = append(s.calls, Call{method, p, time.Now()})
		fault = s.fault(method)
	})
	if fault != nil && !fault.CutAfter {
		fault.answer(w, r)
		return
	}
	result, no := s.call(r.Context(), method, p)
	if fault != nil || r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	write(w, result, no)
}

func (s *Server) call(ctx context.Context, method string, p params) (any, *refusal) {
	switch method {
	case "getupdates":
		return s.getUpdates(ctx, p)
	case "getme":
		return map[string]any{"id": Bot.ID, "is_bot": true, "first_name": "Pinch", "username": Bot.Username}, nil
	case "sendmessage":
		return s.sendMessage(p)
	case "editmessagetext":
		return s.editMessageText(p)
	case "sendchataction":
		return s.sendChatAction(p)
	case "setwebhook":
		s.change(func() { s.queue.setWebhook(p["url"]) })
		return true, nil
	case "deletewebhook":
		s.change(func() { s.queue.deleteWebhook(p["drop_pending_updates"] == "true") })
		return true, nil
	case "setmycommands":
		return setMyCommands(p)
	case "answercallbackquery":
		return true, nil
	}
	return nil, refuse(http.StatusNotFound, "Not Found: method not found")
}

// write sends the envelope.
func write(w http.ResponseWriter, result any, no *refusal) {
	answer, status := map[string]any{"ok": true, "result": result}, http.StatusOK
	if no != nil {
		answer, status = map[string]any{"ok": false, "error_code": no.code, "description": no.text}, no.code
		switch {
		case no.retryAfter > 0:
			answer["parameters"] = map[string]any{"retry_after": no.retryAfter}
			w.Header().Set("Retry-After", fmt.Sprint(no.retryAfter))
		case no.migrate != 0:
			answer["parameters"] = map[string]any{"migrate_to_chat_id": no.migrate}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer) // a client that has gone is no error
}
