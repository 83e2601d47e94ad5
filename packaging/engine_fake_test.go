package packaging_test

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pinch/agent/model/modeltest"
)

// The fake server of modeltest imitates a server of today. This holds it against the real one, which is older.

// younger lists what the fake's server tells and the old engine does not know yet.
var younger = []string{"prompt_eval_cached_count", "capabilities", "context_length"}

// older has texts of the old engine that say the same in other words today.
var older = map[string]string{`model "nobody" not found, try pulling it first`: "model 'nobody' not found"}

// fake asks the engine and the fake the same, and compares status, errors and the names of what they tell.
func (e engine) fake(t *testing.T) {
	fake := modeltest.NewOllama(t,
		modeltest.OllamaModel{Name: endless + ":latest", Trained: 32768},
		modeltest.OllamaModel{Name: toolless + ":latest", Trained: 32768, Capabilities: []string{"completion"}})
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Text: strings.Repeat("so on and ", 200)}
	})
	const chat, tool = "POST /api/chat", `"tools":[{"type":"function","function":{"name":"lamp","description":"a lamp","parameters":{"type":"object","properties":{}}}}]`
	for _, c := range []struct{ path, body string }{
		{"GET /", ""}, {"GET /api/nothing", ""}, {"GET /api/tags", ""},
		{chat, `{"model":"endless"}`},
		{"GET /api/ps", ""},
		{chat, `{"model":"endless","messages":[{"role":"user","content":"hello"}],"options":{"num_predict":5}}`},
		{chat, `{"model":"endless","messages":[{"role":"user","content":"hello again"}],"options":{"num_predict":5},"keep_alive":"1h0m0s"}`},
		{chat, `{"model":"endless","keep_alive":"0s"}`},
		{chat, `{"model":"nobody","messages":[{"role":"user","content":"hello"}]}`},
		{chat, `{"model":"toolless","messages":[{"role":"user","content":"hello"}],` + tool + `}`},
		{chat, `{"messages":[{"role":"user","content":"hello"}]}`},
		{chat, ``}, {chat, `{"model":`}, {chat, `{"model":7}`},
		{chat, `{"model":"endless","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"lamp","arguments":"on"}}]}]}`},
		{"POST /api/show", `{"model":"endless"}`}, {"POST /api/show", `{"model":"nobody"}`},
	} {
		real, imitated := exchange(t, e.url, c.path, c.body), exchange(t, fake.URL(), c.path, c.body)
		real.fault = cmp.Or(older[real.fault], real.fault)
		if real.status != imitated.status || real.kind != imitated.kind || real.fault != imitated.fault {
			t.Errorf("%s %s\nreal: %d %s %q\nfake: %d %s %q", c.path, c.body, real.status, real.kind, real.fault,
				imitated.status, imitated.kind, imitated.fault)
		}
		for _, name := range imitated.names {
			if !slices.Contains(real.names, name) && !slices.Contains(younger, name[strings.LastIndex(name, ".")+1:]) {
				t.Errorf("%s %s: the real server does not tell %s, but %v", c.path, c.body, name, real.names)
			}
		}
		for _, name := range real.names {
			if strings.HasPrefix(c.path, chat) && !slices.Contains(imitated.names, name) {
				t.Errorf("%s %s: the fake does not tell %s, but %v", c.path, c.body, name, imitated.names)
			}
		}
	}
}

// shape is what can be compared of a server's answer.
type shape struct {
	status int
	kind   string   // type of the content
	fault  string   // text of the error, where it does not come from a JSON parser
	names  []string // of what is told, with dots; a list is told by its first element, and an answer by its first and last line
}

func exchange(t *testing.T, url, path, body string) shape {
	t.Helper()
	method, path, _ := strings.Cut(path, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := shape{status: resp.StatusCode, kind: resp.Header.Get("Content-Type")}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for position, line := range map[string]string{"first": lines[0], "last": lines[len(lines)-1]} {
		var told map[string]any
		if json.Unmarshal([]byte(line), &told) != nil {
			a.fault = line
			continue
		}
		if fault, ok := told["error"].(string); ok {
			a.fault = strings.ReplaceAll(fault, "json: ", "") // what follows is the library's, and changes with it
			if fault != a.fault {
				a.fault = "json"
			}
		}
		a.names = append(a.names, fields(position, told)...)
		if reason, ok := told["done_reason"].(string); ok {
			a.names = append(a.names, position+".done_reason="+reason)
		}
	}
	slices.Sort(a.names)
	return a
}

// fields lists the names in a JSON object, except those that are names of a model's own facts.
func fields(under string, told map[string]any) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(told)) {
		value, path := told[name], under+"."+name
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		all = append(all, path)
		if inner, ok := value.(map[string]any); ok && name != "model_info" {
			all = append(all, fields(path, inner)...)
		}
	}
	return all
}
