package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pinch/agent/tool"
)

func named(name string) tool.Tool {
	return tool.Tool{
		Name: name, Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: name}, nil },
	}
}

func set(t *testing.T, tools ...tool.Tool) tool.Set {
	t.Helper()
	s, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSetRefuses(t *testing.T) {
	broken, idle, list := named("b"), named("b"), named("b")
	broken.Schema, idle.Run, list.Schema = json.RawMessage(`{`), nil, json.RawMessage(`null`)
	for _, c := range []struct {
		tools []tool.Tool
		want  string
	}{
		{[]tool.Tool{named("a"), named("b"), named("a")}, "two of this name"},
		{[]tool.Tool{named("Read file")}, "small letters"},
		{[]tool.Tool{broken}, "no JSON object"},
		{[]tool.Tool{list}, "no JSON object"},
		{[]tool.Tool{idle}, "cannot run"},
	} {
		if _, err := tool.NewSet(c.tools...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
}

func TestSetIsSortedAndKnowsItsAudience(t *testing.T) {
	private := named("diary")
	private.Owner = true
	s := set(t, named("time"), private, named("ask"))
	names := func(owner bool) (out []string) {
		for _, spec := range s.Specs(owner) {
			out = append(out, spec.Name)
		}
		return out
	}
	if got := strings.Join(names(true), " "); got != "ask diary time" {
		t.Errorf("the owner sees %s", got)
	}
	if got := strings.Join(names(false), " "); got != "ask time" {
		t.Errorf("others see %s", got)
	}
	if _, ok, hint := s.For(false).Resolve("diary"); ok || strings.Contains(strings.TrimPrefix(hint, `There is no tool "diary"`), "diary") {
		t.Errorf("others are told of diary: %s", hint)
	}
}

func TestResolve(t *testing.T) {
	s := set(t, named("read"), named("write"), named("edit"), named("list"), named("front_door_photo"), named("light_1"), named("light_2"))
	for _, c := range []struct{ name, want string }{
		{"read", "read"}, {"Read", "read"}, {"functions.read", "read"}, {"default_api.write", "write"}, {"wrte", "write"},
		{"front-door-photo", "front_door_photo"}, {"FrontDoorPhoto", "front_door_photo"}, {"read()", "read"}, {"lists", "list"},
		{"light", ""}, {"light_3", ""}, {"", ""}, {"delete", ""}, {strings.Repeat("x", 5000), ""},
	} {
		got, ok, hint := s.Resolve(c.name)
		if got.Name != c.want || ok != (c.want != "") || ok == (hint != "") {
			t.Errorf("Resolve(%.20q) = %q, %v, %q; want %q", c.name, got.Name, ok, hint, c.want)
		}
		if len(hint) > 200 {
			t.Errorf("the hint for %.20q has %d bytes", c.name, len(hint))
		}
	}
	_, _, hint := s.Resolve("light_3")
	if want := `There is no tool "light_3". Use one of: light_1, light_2, `; !strings.HasPrefix(hint, want) {
		t.Errorf("the hint is %q", hint)
	}
	if _, ok, hint := (tool.Set{}).Resolve("read"); ok || !strings.Contains(hint, "no tools") {
		t.Errorf("an empty set says %q", hint)
	}
}
