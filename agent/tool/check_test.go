package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pinch/agent/tool"
)

const lamp = `{"type":"object","properties":{
	"state":{"type":"string","enum":["on","off"]},
	"level":{"type":"integer","minimum":0,"maximum":100},
	"for":{"type":["string","null"]},
	"warm":{"type":"boolean"},
	"factor":{"type":"number"},
	"rooms":{"type":"array","items":{"type":"string"}},
	"when":{"type":"object","properties":{"hour":{"type":"integer"}},"required":["hour"]},
	"any":{}
},"required":["state"]}`

func TestCheckCoerces(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"state":"on"}`, `{"state":"on"}`},
		{`{"state":"ON","level":"5"}`, `{"level":5,"state":"on"}`},
		{`{"state":"on","level":5.0}`, `{"level":5,"state":"on"}`},
		{`{"state":"on","warm":"true","factor":"1.50"}`, `{"factor":1.50,"state":"on","warm":true}`},
		{`{"state":"on","warm":0}`, `{"state":"on","warm":false}`},
		{`{"state":"on","rooms":"hall"}`, `{"rooms":["hall"],"state":"on"}`},
		{`{"state":"on","rooms":"[\"hall\",3]"}`, `{"rooms":["hall","3"],"state":"on"}`},
		{`{"state":"on","when":"{\"hour\":\"7\"}"}`, `{"state":"on","when":{"hour":7}}`},
		{`"{\"state\":\"off\"}"`, `{"state":"off"}`},
		{`"\"{\\\"state\\\":\\\"off\\\"}\""`, `{"state":"off"}`},
		{"```json\n{\"state\":\"off\"}\n```", `{"state":"off"}`},
		{`{"State":"off","unknown":1,"level":null}`, `{"state":"off"}`},
		{`{"state":"off"}}`, `{"state":"off"}`},
		{"{\"state\":\"off\",\"for\":\"a\nb\\\"\tc\"}", `{"for":"a\nb\"\tc","state":"off"}`},
		{`{"state":"on","for":10}`, `{"for":"10","state":"on"}`},
		{`{"state":"on","any":[1,{"x":null}]}`, `{"any":[1,{"x":null}],"state":"on"}`},
		{`"off"`, `{"state":"off"}`},
		{`{"state":["off"]}`, `{"state":"off"}`},
	} {
		got, err := tool.Check(json.RawMessage(lamp), c.in)
		if err != nil || string(got) != c.want {
			t.Errorf("Check(%s) = %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "state is missing"},
		{`{}`, "state is missing. The arguments are: state (on|off, required), any"},
		{`{"state":"dim"}`, `state must be one of on|off, not "dim"`},
		{`{"state":"on","level":101}`, "level must be at most 100"},
		{`{"state":"on","level":-1}`, "level must be at least 0"},
		{`{"state":"on","level":"bright"}`, `level must be an integer, not "bright"`},
		{`{"state":"on","level":1.5}`, `level must be an integer, not 1.5`},
		{`{"state":"on","when":{}}`, "when.hour is missing"},
		{`{"state":"on","when":"noon"}`, `when must be an object, not "noon"`},
		{`{"state":"on","for":"a long te`, "not one whole JSON object"}, // cut off: must never run with half a text
		{`{"state":"on"} and {"state":"off"}`, "not one whole JSON object"},
		{`turn it on`, "not one whole JSON object"},
		{`{"state":"on","level":1e999}`, "level"},
	} {
		got, err := tool.Check(json.RawMessage(lamp), c.in)
		var refusal tool.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check(%s) = %s, %v; want a refusal with %q", c.in, got, err, c.want)
		}
	}
	if _, err := tool.Check(json.RawMessage(`{"type":5}`), `{}`); err == nil || errors.As(err, new(tool.Refusal)) {
		t.Errorf("a broken schema is the program's fault, not the model's: %v", err)
	}
	if got, err := tool.Check(json.RawMessage(`{"type":"object"}`), `{"x":1}`); err != nil || string(got) != `{}` {
		t.Errorf("no properties: %s, %v", got, err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"state":"on"}`, `{"state":"ON","level":"5","rooms":"x"}`, `"{\"state\":1}"`, "```\n{}\n```", `{"state":"on","when":{"hour":"1"}}`,
		`[[[[`, `{"state":"on","level":1e400}`, `null`, "{\"state\":\"a\nb\"}", `{"rooms":[["a"],[]],"state":true}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		once, err := tool.Check(json.RawMessage(lamp), args)
		if err != nil {
			if !errors.As(err, new(tool.Refusal)) || len(err.Error()) > 2000 {
				t.Fatalf("%q: %v", args, err)
			}
			return
		}
		var v struct {
			State string
			Level *int64
			Rooms []string
			Warm  *bool
			When  *struct{ Hour int64 }
		}
		if err := json.Unmarshal(once, &v); err != nil {
			t.Fatalf("%s does not fit the schema: %v", once, err)
		}
		if v.State != "on" && v.State != "off" || v.Level != nil && (*v.Level < 0 || *v.Level > 100) {
			t.Fatalf("%s does not fit the schema", once)
		}
		twice, err := tool.Check(json.RawMessage(lamp), string(once))
		if err != nil || string(twice) != string(once) {
			t.Fatalf("not stable: %s, then %s, %v", once, twice, err)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"read", "functions.Read", "raed", "默认", ""} {
		f.Add(s)
	}
	s, err := tool.NewSet(named("read"), named("write"), named("list"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, ok, hint := s.Resolve(name)
		if _, known := s.Find(got.Name); ok != known || ok == (hint != "") {
			t.Fatalf("Resolve(%q) = %q, %v, %q", name, got.Name, ok, hint)
		}
	})
}
