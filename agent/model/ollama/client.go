// Package ollama asks a model of an Ollama server through its native API.
//
// Requests and what the server tells about itself go through github.com/ollama/ollama/api. The reply stream is
// read here, because the library's reader takes 8 MB for every stream, which is half of what a board may spend
// on the whole process, and it forgets the status of a failure.
//
// What is sent depends on the request alone, so an engine with one prompt cache finds the last request again:
// the window, think, truncate and shift never change while the process lives, since a change reloads the model.
package ollama

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ollama/ollama/api"

	"pinch/agent/model"
)

// Client is a model of one Ollama server. It is safe for use by several goroutines.
type Client struct {
	cfg      model.Config
	base     *url.URL
	http     *http.Client
	api      *api.Client
	log      *slog.Logger
	numCtx   atomic.Int64 // the one window that is asked for; 0 = not known yet
	answered atomic.Bool  // the server has loaded the model with our window at least once
}

var (
	_ model.Client = (*Client)(nil)
	_ model.Prober = (*Client)(nil)
)

// New makes a client for a valid config; nothing is sent yet. A nil hc is a small pool of connections of its
// own; no total timeout is kept from hc, since a board may think for minutes. log may be nil.
func New(cfg model.Config, hc *http.Client, log *slog.Logger) (*Client, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf(`model %s: url %q is no address: write one like "http://127.0.0.1:11434"`, cfg.Name, cfg.URL)
	}
	if err := cfg.Key.Err(); err != nil {
		return nil, fmt.Errorf("model %s: reading key: %w", cfg.Name, err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if hc == nil {
		hc = &http.Client{Transport: pool()}
	}
	own := *hc
	own.Timeout = 0
	own.Transport = keyed{next: own.Transport, key: cfg.Key.Reveal()}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &Client{cfg: cfg, base: base, http: &own, api: api.NewClient(base, &own), log: log.With("model", cfg.Name)}
	c.numCtx.Store(int64(cfg.Window))
	return c, nil
}

func pool() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConns:        2,
		DisableCompression:  true,
	}
}

// keyed adds the credential to each request, and bounds every answer but a stream, which bounds itself.
type keyed struct {
	next http.RoundTripper
	key  string
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	next := k.next
	if next == nil {
		next = http.DefaultTransport
	}
	if k.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	resp, err := next.RoundTrip(r)
	if err == nil && !strings.HasSuffix(r.URL.Path, chatPath) {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxStatus), resp.Body}
	}
	return resp, err
}

const (
	chatPath  = "/api/chat"
	maxStatus = 4 << 20 // bytes of an answer about the server
)

// Generate asks the model. With a window of 0 in the config the first call asks the server which to use.
// A Reply of 0 evaluates the prompt for the next request; its answer is thrown away. Without messages the
// model is only loaded. The call has no time limit, but gives up when the server is silent for cfg.Stall.
func (c *Client) Generate(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Reply, error) {
	numCtx := int(c.numCtx.Load())
	if numCtx == 0 {
		info, err := c.Probe(ctx)
		if err != nil {
			return model.Reply{}, err
		}
		numCtx = info.Window
	}
	body, err := c.body(req, numCtx)
	if err != nil {
		return model.Reply{}, fmt.Errorf("asking model %s: %w: %w", c.cfg.Name, model.ErrRefused, err)
	}
	if req.Reply <= 0 {
		delta = nil
	}
	call := newCall(ctx, time.Duration(c.cfg.Stall))
	defer call.end()
	reply, err := c.ask(call, body, newAnswer(req.Messages, delta))
	if err != nil {
		return model.Reply{}, c.explain(call, err)
	}
	c.answered.Store(true)
	if req.Reply <= 0 {
		reply.Text, reply.Calls = "", nil
	}
	c.log.Debug("model answered", "prompt", reply.Usage.Prompt, "cached", reply.Usage.Cached,
		"reply", reply.Usage.Reply, "calls", len(reply.Calls), "stop", reply.Stop)
	return reply, nil
}

func (c *Client) ask(call *call, body []byte, a *answer) (model.Reply, error) {
	r, err := http.NewRequestWithContext(call.ctx, http.MethodPost, c.base.JoinPath(chatPath).String(), bytes.NewReader(body))
	if err != nil {
		return model.Reply{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	resp, err := c.http.Do(r)
	if err != nil {
		return model.Reply{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return model.Reply{}, readFailure(resp)
	}
	if err := a.read(resp.Body, call); err != nil {
		return model.Reply{}, err
	}
	reply := a.reply()
	reply.Model = c.cfg.Name
	return reply, nil
}

// call is the clock of one request: it cancels the request when the server is silent for too long.
type call struct {
	ctx    context.Context
	parent context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

func newCall(parent context.Context, stall time.Duration) *call {
	if stall <= 0 {
		stall = math.MaxInt64 // no limit
	}
	c := &call{parent: parent, stall: stall}
	c.ctx, c.cancel = context.WithCancelCause(parent)
	c.timer = time.AfterFunc(stall, func() { c.cancel(model.ErrStalled) })
	return c
}

// hear stops the clock while a chunk is handled: a slow listener is no fault of the server.
func (c *call) hear() { c.timer.Stop() }

func (c *call) wait(limit time.Duration) { c.timer.Reset(limit) }

func (c *call) end() {
	c.timer.Stop()
	c.cancel(nil)
}
