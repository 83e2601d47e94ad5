package console

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/peterh/liner"
)

const (
	historyMost = 128 << 10 // bytes of the file; half of it is kept when it grows beyond
	historyLine = 2000      // bytes; what is longer was pasted, and the editor would refuse the file
)

// history is the file of typed lines; "" = none.
type history string

// load gives the lines to the editor and cuts a file that has grown too long.
func (h history) load(editor *liner.State) error {
	if h == "" {
		return nil
	}
	data, err := os.ReadFile(string(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the typed lines of before: %w", err)
	}
	if len(data) > historyMost {
		data = data[len(data)-historyMost/2:]
		_, data, _ = bytes.Cut(data, []byte("\n"))
		if err := os.WriteFile(string(h), data, 0o600); err != nil {
			return fmt.Errorf("shortening the typed lines of before: %w", err)
		}
	}
	if _, err := editor.ReadHistory(bytes.NewReader(data)); err != nil {
		return fmt.Errorf("reading the typed lines of before: %w", err)
	}
	return nil
}

// add appends a line at once, so that a kill loses none.
func (h history) add(line string) error {
	if h == "" || len(line) > historyLine {
		return nil
	}
	f, err := os.OpenFile(string(h), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keeping the typed line: %w", err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, strings.ToValidUTF8(line, "?")); err != nil {
		return fmt.Errorf("keeping the typed line: %w", err)
	}
	return nil
}
