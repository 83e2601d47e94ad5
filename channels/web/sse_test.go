package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pinch/channels/web"
)

// events returns what a stream holds, an event a line.
func events(r io.Reader) (string, error) {
	var got strings.Builder
	err := web.ReadEvents(r, func(name string, data []byte) error {
		fmt.Fprintf(&got, "%s=%s;", name, data)
		return nil
	})
	return got.String(), err
}

func TestReadEvents(t *testing.T) {
	for stream, want := range map[string]string{
		"event: part\ndata: {}\n\n":                         "part={};",
		": comment\n\nevent:a\r\ndata:1\r\ndata: 2\r\n\r\n": "a=1\n2;",
		"data: x\n\ndata: y\n\n":                            "=x;=y;",
		"event: lost\n\ndata: z\nid: 4\nretry\n\n":          "=z;",
		"data: cut": "",
		"data\n\n":  "=;",
	} {
		if got, err := events(strings.NewReader(stream)); got != want || err != io.ErrUnexpectedEOF {
			t.Errorf("%q: %q, %v; want %q", stream, got, err, want)
		}
	}
	stop := errors.New("stop")
	if err := web.ReadEvents(strings.NewReader("data: x\n\n"), func(string, []byte) error { return stop }); err != stop {
		t.Errorf("the error of on: %v", err)
	}
	for name, line := range map[string]string{"one line": "data: " + strings.Repeat("x", 9<<20), "many lines": strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 9)} {
		if got, err := events(strings.NewReader(line)); got != "" || err == nil || err == io.ErrUnexpectedEOF {
			t.Errorf("an event that is too long in %s: %v", name, err)
		}
	}
}

// FuzzEvents: any bytes end the reader without a panic, and a stream that is cut gives the first of the events that
// the whole one gives.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: part\ndata: {\"text\":\"a\"}\n\nevent: done\ndata: {}\n\n"), 20)
	f.Add([]byte(": still working\n\ndata: 1\ndata: 2\r\n\r\n"), 3)
	f.Add([]byte("data:\x00\xff\nevent\n\n\n\n:"), 9)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		whole, err := events(strings.NewReader(string(stream)))
		if err == nil {
			t.Fatal("a stream ended without an error")
		}
		// A cut after any line may only lose events.
		cut = bytes.LastIndexByte(stream[:max(0, min(cut, len(stream)))], '\n') + 1
		if part, _ := events(strings.NewReader(string(stream[:cut]))); !strings.HasPrefix(whole, part) {
			t.Fatalf("%q gives %q, and cut at %d %q", stream, whole, cut, part)
		}
	})
}
