package ollama_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
)

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name                       string
		config, modelfile, trained int
		loaded                     int // by somebody else, before
		want, sent                 int
	}{
		{name: "nothing is known", trained: 40960, want: 4096, sent: 4096},
		{name: "config", config: 3000, modelfile: 8192, trained: 40960, want: 3000, sent: 3000},
		{name: "config beyond the training", config: 8192, trained: 2048, want: 2048, sent: 8192},
		{name: "Modelfile", modelfile: 8192, trained: 40960, loaded: 2048, want: 8192, sent: 8192},
		{name: "Modelfile beyond the training", modelfile: 8192, trained: 2048, want: 2048, sent: 2048},
		{name: "loaded model", trained: 40960, loaded: 6000, want: 6000, sent: 6000},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := modeltest.NewOllama(t, modeltest.OllamaModel{Name: "m:latest", Digest: "d1", Trained: c.trained, NumCtx: c.modelfile})
			change := func(cfg *model.Config) { cfg.URL, cfg.Model, cfg.Window = fake.URL(), "m", c.config }
			if c.loaded > 0 {
				other := newClient(t, func(cfg *model.Config) { change(cfg); cfg.Window = c.loaded })
				if _, err := other.Generate(t.Context(), model.Request{}, nil); err != nil {
					t.Fatal(err)
				}
			}
			client := newClient(t, change)
			for range 2 { // the answer is the same before and after a reply
				info, err := client.Probe(t.Context())
				want := model.Info{Name: "local", Model: "m", Digest: "d1", Window: c.want, Tools: true}
				if err != nil || info != want {
					t.Errorf("info %+v, error %v, want %+v", info, err, want)
				}
				if _, err := client.Generate(t.Context(), conversation, nil); err != nil {
					t.Fatal(err)
				}
			}
			requests := fake.Requests()
			last := requests[len(requests)-1]
			if *last.Chat.Options.NumCtx != c.sent || last.Loaded {
				t.Errorf("num_ctx is %d, loaded anew %v, want %d", *last.Chat.Options.NumCtx, last.Loaded, c.sent)
			}
		})
	}
}

// A server with less memory than it was asked for gives a smaller window without saying so.
func TestWindowThatTheServerReallyGives(t *testing.T) {
	mux := http.NewServeMux()
	answer := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) })
	}
	answer("/api/show", `{}`)
	answer("/api/ps", `{"models":[{"name":"qwen3:1.7b","context_length":2048,"digest":"d"}]}`)
	answer("/api/chat", end)
	server := httptest.NewServer(mux)
	defer server.Close()
	client := newClient(t, func(c *model.Config) { c.URL = server.URL })
	for _, want := range []int{4096, 2048} { // before our first reply it is somebody else's
		info, err := client.Probe(t.Context())
		if err != nil || info.Window != want || !info.Tools {
			t.Errorf("info %+v, error %v, want %d", info, err, want)
		}
		if _, err := client.Generate(t.Context(), conversation, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWindowIsAskedForOnce(t *testing.T) {
	fake := modeltest.NewOllama(t)
	client := newClient(t, func(c *model.Config) { c.URL, c.Window = fake.URL(), 0 })
	fake.Down()
	if _, err := client.Generate(t.Context(), conversation, nil); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("while down: %v", err)
	}
	fake.Up()
	for range 3 {
		if _, err := client.Generate(t.Context(), conversation, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"POST /api/show", "GET /api/ps", "GET /api/tags", "POST /api/chat", "POST /api/chat", "POST /api/chat"}
	if got := fake.Paths(); !slices.Equal(got, want) {
		t.Errorf("requests are %v", got)
	}
}

func TestProbeEndsAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := overTransport(t, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}, nil)
		start := time.Now()
		_, err := client.Probe(t.Context())
		if !errors.Is(err, model.ErrUnavailable) || time.Since(start) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestProbeOfAMissingModel(t *testing.T) {
	fake := modeltest.NewOllama(t)
	client := newClient(t, func(c *model.Config) { c.URL, c.Model = fake.URL(), "gemma3:1b" })
	_, err := client.Probe(t.Context())
	if !errors.Is(err, model.ErrNotFound) || !strings.Contains(err.Error(), "ollama pull gemma3:1b") {
		t.Errorf("error is %v", err)
	}
}
