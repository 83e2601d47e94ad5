package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const redacted = "[secret]"

// Secret is a credential that cannot print itself. In the file it is "env:NAME", "file:PATH",
// "credential:NAME" (a systemd credential), or the value itself.
type Secret struct {
	// held is a pointer to a pointer because fmt does not ask the methods of what lies in unexported fields:
	// of this it can only print an address.
	held **held
}

type held struct {
	value  string
	source string
	err    error
}

// NewSecret wraps a value that did not come from the file.
func NewSecret(value string) Secret { return Secret{wrap(&held{value: value})} }

func wrap(h *held) **held { return &h }

// UnmarshalText resolves a reference. An unresolved one is no error here, since its section may be unused:
// the owner of the section asks Err.
func (s *Secret) UnmarshalText(text []byte) error {
	s.held = wrap(resolve(string(text)))
	return nil
}

func resolve(text string) *held {
	kind, name, _ := strings.Cut(text, ":")
	switch kind {
	case "env":
		if value := os.Getenv(name); value != "" {
			return &held{value: value, source: text}
		}
		return &held{source: text, err: fmt.Errorf("environment variable %s is not set", name)}
	case "file":
		return fromFile(text, name)
	case "credential":
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" {
			return &held{source: text, err: fmt.Errorf("credential %q: there is no systemd credential directory", name)}
		}
		return fromFile(text, filepath.Join(dir, filepath.Base(name)))
	}
	return &held{value: text}
}

func fromFile(source, path string) *held {
	text, err := os.ReadFile(path)
	value := strings.TrimSpace(string(text))
	if err == nil && value == "" {
		err = fmt.Errorf("%s is empty", path)
	}
	return &held{value: value, source: source, err: err}
}

// Reveal returns the value, for the one place that sends it.
func (s Secret) Reveal() string {
	if s.held == nil {
		return ""
	}
	return (*s.held).value
}

// Set reports whether a value or a reference was given at all.
func (s Secret) Set() bool { return s.held != nil && (*s.held).value+(*s.held).source != "" }

// Err says why a reference has no value.
func (s Secret) Err() error {
	if s.held == nil {
		return nil
	}
	return (*s.held).err
}

func (s Secret) String() string               { return redacted }
func (s Secret) GoString() string             { return redacted }
func (s Secret) Format(f fmt.State, _ rune)   { fmt.Fprint(f, redacted) }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Size is a number of bytes, written "100MB", "512KB" or "4096".
type Size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size with a decimal unit.
func (s *Size) UnmarshalText(text []byte) error {
	t := strings.ToUpper(strings.TrimSpace(string(text)))
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is not a size: write \"100MB\", \"512KB\" or a number of bytes", text)
}

// MarshalText writes the size with the largest unit that divides it.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Size) String() string {
	for _, u := range sizeUnits {
		if u.bytes > 1 && s > 0 && int64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(s)/u.bytes, u.suffix)
		}
	}
	return fmt.Sprintf("%dB", int64(s))
}

// Duration is a time span, written "90s", "10m" or "1h30m".
type Duration time.Duration

// UnmarshalText reads a duration with a unit.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration: write \"90s\", \"10m\" or \"1h30m\"", text)
	}
	if v < 0 {
		return errors.New("a duration cannot be negative")
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the duration as the file has it: "10m", not "10m0s".
func (d Duration) MarshalText() ([]byte, error) {
	text := time.Duration(d).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return []byte(text), nil
}
