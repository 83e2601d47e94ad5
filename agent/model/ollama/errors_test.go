package ollama_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
)

var sentinels = []error{model.ErrUnavailable, model.ErrNotFound, model.ErrOverflow, model.ErrStalled,
	model.ErrBadOutput, model.ErrNoTools, model.ErrRefused}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		text   string
		want   error
		says   string
	}{
		{404, `model "qwen3:1.7b" not found, try pulling it first`, model.ErrNotFound, `run "ollama pull qwen3:1.7b"`},
		{404, "404 page not found", model.ErrUnavailable, "look at the server"},
		{400, "registry.ollama.ai/library/x does not support tools", model.ErrNoTools, "choose a model"},
		{400, `"x" does not support thinking`, model.ErrRefused, "does not support thinking"},
		{400, "the prompt is longer than the context length currently available to the model; shorten", model.ErrOverflow, ""},
		{400, "prompt too long; exceeded max context length", model.ErrOverflow, ""},
		{500, "request (302 tokens) exceeds the available context size (256 tokens), try increasing it", model.ErrOverflow, "302 tokens"},
		{429, "prompt too long for your plan, wait", model.ErrUnavailable, ""},
		{503, "server busy, please try again.  maximum pending requests exceeded", model.ErrUnavailable, "is busy"},
		{500, "model requires more system memory (2.9 GiB) than is available (1.1 GiB)", model.ErrUnavailable, "2.9 GiB"},
		{500, "error parsing tool call: raw='{\"private\"', err=unexpected end of JSON input", model.ErrBadOutput, ""},
		{500, "Failed to parse tool call arguments as JSON: x", model.ErrBadOutput, ""},
		{499, "request canceled", model.ErrUnavailable, ""},
		{401, "unauthorized", model.ErrRefused, "check the key"},
		{307, "", model.ErrRefused, "points to another address"},
		{200, "model runner has unexpectedly stopped", model.ErrUnavailable, "unexpectedly stopped"},
		{200, "error parsing tool call: raw='{\"private\"'", model.ErrBadOutput, ""},
		{200, "request (9 tokens) exceeds the available context size (8 tokens)", model.ErrOverflow, ""},
		{502, strings.Repeat("proxy ", 9999), model.ErrUnavailable, "proxy proxy"},
	} {
		body, _ := json.Marshal(map[string]string{"error": c.text})
		client := overTransport(t, &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return respond(c.status, strings.NewReader(string(body)+"\n")), nil
		})}, nil)
		_, err := client.Generate(t.Context(), conversation, nil)
		for _, s := range sentinels {
			if errors.Is(err, s) != (s == c.want) {
				t.Errorf("%d %.50q gives %v, want %v alone", c.status, c.text, err, c.want)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "private") || len(err.Error()) > 600 {
			t.Errorf("%d %.50q says %v", c.status, c.text, err)
		}
	}
}

func TestUnreachableNamesTheAddressButNoPassword(t *testing.T) {
	client := newClient(t, func(c *model.Config) { c.URL = "http://pi:hunter2@127.0.0.1:1" })
	_, err := client.Generate(t.Context(), conversation, nil)
	if !errors.Is(err, model.ErrUnavailable) || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error is %v", err)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	asked := 0
	hc := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		asked++
		r := respond(307, strings.NewReader(""))
		r.Header.Set("Location", "http://elsewhere.test/api/chat")
		return r, nil
	})}
	_, err := overTransport(t, hc, nil).Generate(t.Context(), conversation, nil)
	if !errors.Is(err, model.ErrRefused) || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func TestFakeRefusesWhatOllamaRefuses(t *testing.T) {
	fake := modeltest.NewOllama(t, modeltest.OllamaModel{Name: "plain:1b", Capabilities: []string{"completion"}})
	post := func(body string) (int, string) {
		r, err := http.Post(fake.URL()+"/api/chat", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var said struct {
			Error string `json:"error"`
		}
		json.NewDecoder(r.Body).Decode(&said)
		return r.StatusCode, said.Error
	}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for body, want := range map[string]string{
		"":                  "missing request body",
		"hello":             "invalid character 'h' looking for beginning of value",
		`{"messages":[]}`:   "model is required",
		`{"model":"other"}`: "model 'other' not found",
		`{"model":"plain:1b","tools":[{}],"messages":[{"role":"user"}]}`:                                                                             "registry.ollama.ai/library/plain:1b does not support tools",
		`{"model":"plain:1b","think":true,"messages":[{"role":"user"}]}`:                                                                             `"plain:1b" does not support thinking`,
		`{"model":"plain:1b","messages":[{"role":"narrator"}]}`:                                                                                      `invalid role: "narrator"`,
		`{"model":"plain:1b","truncate":false,"options":{"num_ctx":8},"messages":[{"role":"user","content":"` + strings.Repeat("long ", 20) + `"}]}`: "request (31 tokens) exceeds the available context size (8 tokens), try increasing it",
	} {
		if status, got := post(body); got != want || status < 400 {
			t.Errorf("%s gives %d %q, want %q", body, status, got, want)
		}
	}
}

// What a client is spared that says truncate, shift and think itself.
func TestFakeShowsTheDangersOfDefaults(t *testing.T) {
	fake := modeltest.NewOllama(t)
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	long := `{"role":"user","content":"` + strings.Repeat("long ", 20) + `"}`
	r, err := http.Post(fake.URL()+"/api/chat", "application/json", strings.NewReader(
		`{"model":"qwen3:1.7b","options":{"num_ctx":50},"messages":[{"role":"system","content":"s"},`+long+`,`+long+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	got := fake.Requests()[0]
	if got.Dropped != 1 || !got.Thinking || !got.Loaded || got.Prompt > 50 {
		t.Errorf("request is %+v", got)
	}
}
