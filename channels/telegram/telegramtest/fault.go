package telegramtest

import (
	"net/http"
	"strings"
)

// Fault is one way in which a call fails. The first of its fields that is set counts.
type Fault struct {
	CutAfter bool   // do what was asked, then drop the connection without an answer
	Cut      bool   // drop the connection, do nothing
	Hang     bool   // say nothing until the client gives up
	Status   int    // with Body: this HTTP answer; alone: a Bot API error with this code
	Body     string //
	Text     string // description of a Bot API error
	After    int    // seconds, for 429
	Migrate  int64  // new id of the chat, for 400
}

// TooMany asks the bot to wait for some seconds.
func TooMany(seconds int) Fault { return Fault{Status: http.StatusTooManyRequests, After: seconds} }

// Conflict is the answer to a poller that another one replaced.
func Conflict() Fault { return Fault{Status: http.StatusConflict, Text: terminated} }

// Unauthorized is the answer to a revoked token.
func Unauthorized() Fault { return Fault{Status: http.StatusUnauthorized} }

// BadGateway is a proxy's page in HTML.
func BadGateway() Fault {
	return Fault{Status: http.StatusBadGateway, Body: "<html><h1>502 Bad Gateway</h1></html>"}
}

// Garbage is an answer that is no JSON.
func Garbage() Fault { return Fault{Status: http.StatusOK, Body: `{"ok":true,"result":[{`} }

// planned is a fault that waits for its call.
type planned struct {
	method string
	left   int // calls to come, this one included
	fault  Fault
}

// Fail makes the n-th next call of a method fail; 1 is the next one.
func (s *Server) Fail(method string, n int, f Fault) {
	s.change(func() { s.faults = append(s.faults, &planned{strings.ToLower(method), n, f}) })
}

// fault returns what this call of the method meets, nil for nothing; the lock is held.
func (s *Server) fault(method string) *Fault {
	var meets *Fault
	for _, p := range s.faults {
		if p.method != method {
			continue
		}
		if p.left--; p.left == 0 {
			meets = &p.fault
		}
	}
	return meets
}

func (f *Fault) answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.Cut:
		panic(http.ErrAbortHandler)
	case f.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Body != "":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Status)
		w.Write([]byte(f.Body)) // a client that has gone is no error
	default:
		write(w, nil, f.refusal())
	}
}

func (f *Fault) refusal() *refusal {
	text := f.Text
	switch {
	case text == "" && f.Status == http.StatusTooManyRequests:
		return tooMany(f.After)
	case text == "":
		text = http.StatusText(f.Status)
	}
	return &refusal{code: f.Status, text: text, retryAfter: f.After, migrate: f.Migrate}
}
