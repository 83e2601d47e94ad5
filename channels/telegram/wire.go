package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// maxBody bounds an answer. A hundred updates are far below it.
const maxBody = 8 << 20

var (
	errTooLarge = errors.New("the answer is too large")
	errNoAnswer = errors.New("the answer is none of a Bot API server: is channels.telegram.url right?")
)

// refusal is an answer that is not ok.
type refusal struct {
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"` // needs 64 bits; the library has an int
	} `json:"parameters"`
}

func (r *refusal) Error() string { return fmt.Sprintf("telegram says %d: %s", r.Code, r.Description) }

func (r *refusal) after() time.Duration {
	return time.Duration(max(r.Parameters.RetryAfter, 0)) * time.Second
}

// wire is the HTTP client of one bot. It turns every answer that is not ok into a *refusal, bounds the answers, keeps
// the token out of errors, and begins with fresh connections after three failures in a row, since one whose other end
// is gone may look alive.
type wire struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error) // for tests; nil = the network

	mu     sync.Mutex
	client *http.Client
	failed int // in a row
}

// Do sends one request. The library calls it, and so does the poll.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	body, status, err := w.exchange(req)
	w.judge(req.Context(), err)
	if err != nil {
		return nil, err
	}
	var answer struct {
		OK bool `json:"ok"`
		refusal
	}
	// A proxy's page is worth no more than its status.
	if json.Unmarshal(body, &answer) != nil || !answer.OK && answer.Code == 0 {
		if status == http.StatusOK {
			return nil, errNoAnswer
		}
		return nil, &refusal{Code: status, Description: http.StatusText(status)}
	}
	if !answer.OK {
		return nil, &answer.refusal
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(body))}, nil
}

func (w *wire) exchange(req *http.Request) (body []byte, status int, err error) {
	resp, err := w.open().Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address has the token
		}
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = errTooLarge
	}
	return body, resp.StatusCode, err
}

func (w *wire) open() *http.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client == nil {
		t := &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: w.dial, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 15 * time.Second, IdleConnTimeout: 90 * time.Second,
			HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		}
		if w.dial == nil {
			t.DialContext = (&net.Dialer{Timeout: 15 * time.Second}).DialContext
		}
		// A redirect could carry the token to another host.
		stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		w.client = &http.Client{Transport: t, CheckRedirect: stay}
	}
	return w.client
}

// judge counts failures of the network; one that we ended ourselves is none.
func (w *wire) judge(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.failed = 0
	case !errors.Is(ctx.Err(), context.Canceled):
		w.failed++
	}
	if w.failed >= 3 && w.client != nil {
		w.client.CloseIdleConnections()
		w.client, w.failed = nil, 0
	}
}

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		w.client.CloseIdleConnections()
	}
}
