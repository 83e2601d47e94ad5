package config_test

import (
	"reflect"
	"strings"
	"testing"

	"pinch/agent/config"
)

func TestExampleLoadsBack(t *testing.T) {
	f := defaults()
	text := config.Example(f.sections()...)
	f.agent, f.models, f.tg = general{}, nil, telegram{}
	if err := f.load(t, text); err != "" {
		t.Fatalf("%s\n%s", err, text)
	}
	if want := defaults(); !reflect.DeepEqual(f, want) {
		t.Fatalf("got  %+v\nwant %+v\n%s", f, want, text)
	}
}

// TestExampleIsComplete uncomments what is commented out: then every key must be known, and none may be missing.
func TestExampleIsComplete(t *testing.T) {
	text := config.Example(defaults().sections()...)
	var all strings.Builder
	for line := range strings.Lines(text) {
		if bare, ok := strings.CutPrefix(line, "# "); ok && (strings.HasPrefix(bare, "[") || strings.Contains(bare, " = ")) {
			line = bare
		}
		if at := strings.Index(line, "= "); at > 0 && !strings.Contains(line, "  # ") {
			t.Errorf("no comment: %s", line)
		}
		all.WriteString(line)
	}
	f := defaults()
	if err := f.load(t, strings.Replace(all.String(), `reflex = ""`, `reflex = "off"`, 1)); err != "" {
		t.Fatalf("%s\n%s", err, all.String())
	}
	for _, c := range []struct {
		table string
		keys  any
	}{
		{"[agent]", general{}}, {"[agents.NAME]", general{}}, {"[[model]]", account{}},
		{"[channels.telegram]", account{}}, {"[channels.telegram.accounts.NAME]", account{}},
	} {
		_, body, ok := strings.Cut(all.String(), c.table+"\n")
		body, _, _ = strings.Cut(body, "\n\n")
		for _, key := range keysOf(reflect.TypeOf(c.keys)) {
			if !ok || !strings.Contains("\n"+body, "\n"+key+" ") {
				t.Errorf("%s has no %s in\n%s", c.table, key, text)
			}
		}
	}
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		key, ok := t.Field(i).Tag.Lookup("toml")
		if ok && t.Field(i).Type == reflect.TypeFor[price]() {
			keys = append(keys, key+".input", key+".output")
		} else if ok {
			keys = append(keys, key)
		}
	}
	return keys
}
