package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"pinch/agent/prompt"
	"pinch/agent/session"
	"pinch/agent/tool"
)

// FileName is the file of notes in a workspace; it may be written in any case.
const FileName = "MEMORY.md"

// MostNote is the characters of the longest note; mostFile the bytes of all.
const (
	MostNote = 500
	mostFile = 256 << 10
)

// What a note can be refused for.
var (
	ErrTooLong = fmt.Errorf("a note has at most %d characters", MostNote)
	ErrFull    = errors.New("MEMORY.md is full: forget something first")
	ErrNoNote  = errors.New("there is no such note")
	ErrEmpty   = errors.New("the note is empty")
)

// Numbered is a note with its number, counted from 1 in the order of the file.
type Numbered struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

// Memory is the notes of one agent. MEMORY.md is the truth; the index follows it. Safe for several goroutines, and
// for an owner who edits the file meanwhile.
type Memory struct {
	root  *os.Root
	index Notes
	past  Past
	mu    sync.Mutex // one change of the file, or one sync of the index, at a time
}

// New returns the memory of a workspace.
func New(root *os.Root, notes Notes, past Past) *Memory {
	return &Memory{root: root, index: notes, past: past}
}

// Remember keeps a text as a note and returns its number. A note that is there already is not written again:
// added is false then.
func (m *Memory) Remember(text string) (number int, added bool, err error) {
	text = strings.Join(strings.Fields(prompt.Defuse(text)), " ")
	switch {
	case text == "":
		return 0, false, ErrEmpty
	case utf8.RuneCountInString(text) > MostNote:
		return 0, false, ErrTooLong
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name, doc, err := m.load()
	if err != nil {
		return 0, false, err
	}
	for i, n := range doc.notes {
		if same(n.Text, text) {
			return i + 1, false, nil
		}
	}
	out := doc.with(text)
	if len(out) > mostFile {
		return 0, false, ErrFull
	}
	if err := tool.WriteFile(m.root, name, []byte(out)); err != nil {
		return 0, false, err
	}
	return len(parse(out).notes), true, nil
}

// same compares notes without case, spacing and a full stop.
func same(a, b string) bool {
	plain := func(s string) string { return strings.TrimRight(strings.Join(strings.Fields(s), " "), ".。!！ ") }
	return strings.EqualFold(plain(a), plain(b))
}

// Forget deletes a note by its number and returns its text. ErrNoNote where there is none.
func (m *Memory) Forget(number int) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, doc, err := m.load()
	if err != nil {
		return "", err
	}
	if number < 1 || number > len(doc.notes) {
		return "", ErrNoNote
	}
	return doc.notes[number-1].Text, tool.WriteFile(m.root, name, []byte(doc.without(number-1)))
}

// All returns the notes in the order of the file.
func (m *Memory) All() ([]Numbered, error) {
	_, doc, err := m.load()
	if err != nil {
		return nil, err
	}
	return numbered(doc.notes, doc.notes), nil
}

// Recall returns the notes that a query finds, best first.
func (m *Memory) Recall(ctx context.Context, query string, limit int) ([]Numbered, error) {
	terms := QueryTerms(query)
	if len(terms) == 0 {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, doc, err := m.load()
	if err != nil {
		return nil, err
	}
	if err := m.sync(ctx, doc); err != nil {
		return nil, err
	}
	found, err := m.index.Search(ctx, terms, limit)
	if err != nil {
		return nil, fmt.Errorf("search the notes: %w", err)
	}
	return numbered(found, doc.notes), nil
}

// numbered gives notes their numbers; one that is not in the file is left out.
func numbered(found, all []session.Note) []Numbered {
	number := make(map[int]int, len(all))
	for i, n := range all {
		number[n.Line] = i + 1
	}
	var out []Numbered
	for _, n := range found {
		if i, ok := number[n.Line]; ok {
			out = append(out, Numbered{Number: i, Text: prompt.Defuse(n.Text)})
		}
	}
	return out
}

// sync brings the index up to the file, when that changed.
func (m *Memory) sync(ctx context.Context, doc document) error {
	sum := sha256.Sum256([]byte(strings.Join(doc.lines, "\n")))
	mark := hex.EncodeToString(sum[:])
	if old, err := m.index.Mark(ctx); err != nil {
		return fmt.Errorf("ask the index of notes: %w", err)
	} else if old == mark {
		return nil
	}
	found := make([]string, len(doc.notes))
	for i, n := range doc.notes {
		found[i] = strings.Join(Terms(n.Text), " ")
	}
	if err := m.index.Sync(ctx, mark, doc.notes, found); err != nil {
		return fmt.Errorf("index the notes: %w", err)
	}
	return nil
}

// load reads the file; a missing one is empty.
func (m *Memory) load() (name string, doc document, err error) {
	name = tool.Match(m.root, FileName)
	data, err := tool.ReadFile(m.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, parse(""), nil
	}
	if err != nil {
		return name, document{}, err
	}
	return name, parse(string(data)), nil
}
