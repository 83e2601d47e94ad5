package modeltest

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"
)

// OllamaModel is a model that an Ollama fake has.
type OllamaModel struct {
	Name         string // with its tag
	Digest       string
	Trained      int      // window that it was trained for; 0 = 32,768
	NumCtx       int      // of its Modelfile; 0 = none
	Cuts         int      // window that it really has: longer prompts are cut in silence, whatever was asked; 0 = no such fault
	Capabilities []string // nil = completion and tools
}

// Ollama is a fake Ollama server on 127.0.0.1 with one prompt-cache slot. It answers as a real one (0.33) would,
// texts of errors included, but by script and at once. It is safe for use by several goroutines.
type Ollama struct {
	t      testing.TB
	addr   string
	models []OllamaModel

	mu       sync.Mutex
	server   *httptest.Server // nil = down
	rules    []rule
	fallback func(Request) Answer
	onChunk  func(request, chunk int)
	chats    []Request
	paths    []string
	runner   runner
}

type rule struct {
	pattern *regexp.Regexp
	answer  Answer
}

// runner is the one loaded model.
type runner struct {
	model  string
	asked  int // num_ctx of the request that loaded it
	window int // what it got
	shift  bool
	slot   string // text that the prompt cache holds
}

// NewOllama starts a fake server, which ends with the test. Without models it has "qwen3:1.7b", with tools and
// thinking. Until it is told otherwise it answers "ok".
func NewOllama(t testing.TB, models ...OllamaModel) *Ollama {
	if len(models) == 0 {
		models = []OllamaModel{{Name: "qwen3:1.7b", Digest: "8f68893c685c", Trained: 40960,
			Capabilities: []string{"completion", "tools", "thinking"}}}
	}
	for i := range models {
		if models[i].Trained == 0 {
			models[i].Trained = 32768
		}
		if models[i].Capabilities == nil {
			models[i].Capabilities = []string{"completion", "tools"}
		}
	}
	f := &Ollama{t: t, addr: "127.0.0.1:0", models: models}
	f.Up()
	t.Cleanup(f.Down)
	return f
}

// URL is the server's address, the same after Down and Up.
func (f *Ollama) URL() string { return "http://" + f.addr }

// Down closes the server and all its connections, in the middle of a reply too; OnChunk may call it. Connecting
// is refused then.
func (f *Ollama) Down() {
	f.mu.Lock()
	server := f.server
	f.server = nil
	f.mu.Unlock()
	if server != nil {
		server.Config.Close() // waits for no one, unlike server.Close
		f.t.Cleanup(server.Close)
	}
}

// Up starts the server again, with no model loaded.
func (f *Ollama) Up() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.server != nil {
		return
	}
	ln, err := net.Listen("tcp", f.addr)
	if err != nil {
		f.t.Fatalf("starting the fake server: %v", err)
	}
	f.addr, f.runner = ln.Addr().String(), runner{}
	f.server = &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(f.serve)}}
	f.server.Start()
}

// On answers each request whose last message matches the pattern. The rule that was added first wins.
func (f *Ollama) On(pattern string, a Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, rule{regexp.MustCompile(pattern), a})
}

// Script answers what no rule of On does. It is called once a request, with no lock held.
func (f *Ollama) Script(answer func(Request) Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fallback = answer
}

// OnChunk is called before each line of a reply is written, with the number of the request in Requests and the
// number of the line, both from 0. It may block; then the line waits.
func (f *Ollama) OnChunk(call func(request, chunk int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onChunk = call
}

// Requests are the /api/chat requests so far.
func (f *Ollama) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.chats)
}

// Paths are all requests so far, as "POST /api/chat".
func (f *Ollama) Paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.paths)
}

func (f *Ollama) serve(w http.ResponseWriter, r *http.Request) {
	path := r.Method + " " + r.URL.Path
	f.mu.Lock()
	f.paths = append(f.paths, path)
	f.mu.Unlock()
	switch path {
	case "HEAD /", "GET /":
		w.Write([]byte("Ollama is running"))
	case "GET /api/version":
		writeJSON(w, http.StatusOK, map[string]string{"version": "0.33.2"})
	case "GET /api/tags":
		f.tags(w)
	case "GET /api/ps":
		f.ps(w)
	case "POST /api/show":
		f.show(w, r)
	case "POST /api/chat":
		f.chat(w, r)
	default:
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte("404 page not found"))
	}
}

func (f *Ollama) model(name string) (OllamaModel, bool) {
	for _, m := range f.models {
		if m.Name == name || m.Name == name+":latest" {
			return m, true
		}
	}
	return OllamaModel{}, false
}

func (f *Ollama) tags(w http.ResponseWriter) {
	list := []map[string]any{}
	for _, m := range f.models {
		list = append(list, map[string]any{"name": m.Name, "model": m.Name, "digest": m.Digest, "size": 1 << 30,
			"modified_at": "2026-08-01T10:00:00Z", "capabilities": m.Capabilities})
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": list})
}

func (f *Ollama) ps(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []map[string]any{}
	if m, ok := f.model(f.runner.model); ok {
		list = append(list, map[string]any{"name": m.Name, "model": m.Name, "digest": m.Digest, "size": 1 << 30,
			"expires_at": time.Now().Add(time.Hour).Format(time.RFC3339), "size_vram": 0, "context_length": f.runner.window})
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": list})
}

func (f *Ollama) show(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Model string `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	m, ok := f.model(ask.Model)
	if !ok {
		refuse(w, http.StatusNotFound, "model '"+ask.Model+"' not found")
		return
	}
	parameters := "temperature                    0.6"
	if m.NumCtx > 0 {
		parameters += "\nnum_ctx                        " + itoa(m.NumCtx)
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"parameters": parameters, "capabilities": m.Capabilities, "modified_at": "2026-08-01T10:00:00Z",
		"details":    map[string]any{"family": "qwen3", "parameter_size": "2.0B", "quantization_level": "Q4_K_M"},
		"model_info": map[string]any{"general.architecture": "qwen3", "qwen3.context_length": m.Trained},
	})
}

func refuse(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
