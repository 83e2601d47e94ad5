package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"pinch/agent/config"
)

func TestSecretSources(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PINCH_TEST_TOKEN", "from env")
	t.Setenv("PINCH_TEST_EMPTY", "")
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	for name, text := range map[string]string{"token": "from file\n", "empty": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, value, err string }{
		{"env:PINCH_TEST_TOKEN", "from env", ""},
		{"env:PINCH_TEST_EMPTY", "", "environment variable PINCH_TEST_EMPTY is not set"},
		{"file:" + dir + "/token", "from file", ""},
		{"file:" + dir + "/empty", "", "is empty"},
		{"file:" + dir + "/none", "", "no such file"},
		{"credential:token", "from file", ""},
		{"credential:../../etc/none", "", dir + "/none"},
		{"123456:ABC", "123456:ABC", ""},
	} {
		var s config.Secret
		if err := s.UnmarshalText([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		failed := s.Err() != nil && c.err != "" && strings.Contains(s.Err().Error(), c.err)
		if s.Reveal() != c.value || !s.Set() || failed != (c.err != "") {
			t.Errorf("%s: %q, %v", c.text, s.Reveal(), s.Err())
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	var s config.Secret
	if s.Set() || s.Reveal() != "" || s.Err() != nil {
		t.Error("the zero value is set")
	}
	if err := s.UnmarshalText([]byte("credential:token")); err != nil || s.Err() == nil {
		t.Error("a credential was found without systemd")
	}
}

func TestSecretNeverPrints(t *testing.T) {
	s := config.NewSecret("SESAME")
	type open struct{ Key config.Secret }
	type closed struct{ key config.Secret } // fmt reads unexported fields without asking their methods
	var out bytes.Buffer
	for _, v := range []any{s, &s, open{s}, &open{s}, closed{s}, &closed{s}, []config.Secret{s}, map[string]closed{"a": {s}}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("x", "v", v)
		}
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := toml.NewEncoder(&out).Encode(open{s}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&out, config.Example(config.Section{Name: "a", Into: &struct {
		Key config.Secret `toml:"key" doc:"credential"`
	}{s}}))
	text := strings.ToUpper(out.String())
	for _, leak := range []string{"SESAME", fmt.Sprintf("%X", "SESAME"), "[83 69 83"} {
		if strings.Contains(text, leak) {
			t.Errorf("%q in\n%s", leak, text)
		}
	}
	if !strings.Contains(text, "[SECRET]") {
		t.Error("nothing was printed")
	}
}

func TestSizesAndDurationsWriteThemselvesBack(t *testing.T) {
	for text, want := range map[string]int64{"100MB": 100e6, "512kb": 512e3, "4096": 4096, "2 GB": 2e9, "0": 0, "1500000B": 15e5} {
		var s, again config.Size
		if err := s.UnmarshalText([]byte(text)); err != nil || int64(s) != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
		out, _ := s.MarshalText()
		if err := again.UnmarshalText(out); err != nil || again != s {
			t.Errorf("%s became %s", text, out)
		}
	}
	for _, text := range []string{"", "MB", "-1", "1.5MB", "9999999999GB"} {
		if err := new(config.Size).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a size", text)
		}
	}
	for text, want := range map[string]string{"90s": "1m30s", "10m": "10m", "60m": "1h", "24h": "24h", "0s": "0s", "500ms": "500ms", "100m": "1h40m", "1h0m5s": "1h0m5s"} {
		var d config.Duration
		if err := d.UnmarshalText([]byte(text)); err != nil {
			t.Error(err)
		}
		out, _ := d.MarshalText()
		if back, err := time.ParseDuration(string(out)); string(out) != want || err != nil || back != time.Duration(d) {
			t.Errorf("%s became %s", text, out)
		}
	}
}
