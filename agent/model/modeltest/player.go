package modeltest

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// player stands before a fake server. It records the answers, and once it has something to play, plays that in
// place of the answer that was recorded last: so the suite needs not know any protocol.
type player struct {
	url   string
	proxy *httputil.ReverseProxy

	mu   sync.Mutex
	path string
	body []byte
	tune http.HandlerFunc
}

func newPlayer(t testing.TB, upstream string) *player {
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{proxy: httputil.NewSingleHostReverseProxy(u)}
	p.proxy.Transport = &http.Transport{DisableKeepAlives: true}
	p.proxy.ModifyResponse = p.record
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *player) record(r *http.Response) error {
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tune == nil {
		p.path, p.body = r.Request.URL.Path, body
	}
	return err
}

func (p *player) recorded() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.body
}

func (p *player) play(tune http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tune = tune
}

func (p *player) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	tune, path := p.tune, p.path
	p.mu.Unlock()
	if tune == nil || r.URL.Path != path {
		p.proxy.ServeHTTP(w, r)
		return
	}
	// The request is read first, since an unread one keeps the server from noticing that the client left.
	io.Copy(io.Discard, r.Body)
	tune(w, r)
}

func write(w http.ResponseWriter, b []byte) {
	w.Write(b)
	if len(b) > 0 {
		w.(http.Flusher).Flush()
	}
}

// closedPort is an address where nobody listens.
func closedPort(t testing.TB) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	return "http://" + ln.Addr().String()
}
