// Package command has the words of operations: one table that slash commands, the command line, the socket and
// reflexes call by name. Each package offers its own as Operations() []command.Op and main joins them.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pinch/channels"
)

// Authority is who may call an operation.
type Authority int

// Anyone who may talk to us, or the owner alone.
const (
	Anyone Authority = iota
	Owner
)

// Op is one operation.
type Op struct {
	Name    string          // one word: the slash command and the command-line word
	Aliases []string        // other slash words
	Doc     channels.Phrase // one line
	Usage   string          // the arguments, such as "TOOL [ARGS]"; "" = takes none
	Who     Authority
	Now     bool // acts at once, past the lane that may be waiting
	Run     func(context.Context, Call) (Result, error)
}

// Call asks for an operation by name.
type Call struct {
	Name         string `json:"name"`
	Args         string `json:"args,omitempty"`         // what follows the name, as written
	Conversation string `json:"conversation,omitempty"` // conversation key; "" = the owner's main one
	Owner        bool   `json:"-"`                      // decided by who carries the call, never by its text
	Language     string `json:"language,omitempty"`     // en or zh
}

// Result is what an operation says, for people and for programs.
type Result struct {
	Text   string `json:"text"`
	Data   any    `json:"data,omitempty"`
	Failed bool   `json:"failed,omitempty"` // the command line exits with 1
}

// Print writes the result for a person, or as one line of JSON for a program.
func (r Result) Print(w io.Writer, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(w, r.Text)
		return err
	}
	var v any = r
	if r.Data != nil {
		v = r.Data
	}
	return json.NewEncoder(w).Encode(v)
}

// UsageError is a call with wrong arguments; its text tells the right form.
type UsageError struct{ Text string }

func (e UsageError) Error() string { return e.Text }

// The refusals of Call.
var (
	ErrUnknown   = errors.New("unknown command")
	ErrForbidden = errors.New("only the owner may do this")
)

// Table is the joined list of operations, sorted by name.
type Table []Op

// NewTable joins lists of operations. Two operations of one name or alias are a fault of the program: it panics.
func NewTable(lists ...[]Op) Table {
	t := Table(slices.Concat(lists...))
	slices.SortFunc(t, func(a, b Op) int { return strings.Compare(a.Name, b.Name) })
	seen := map[string]bool{}
	for _, op := range t {
		for _, n := range append([]string{op.Name}, op.Aliases...) {
			if seen[n] {
				panic("two operations are named " + n)
			}
			seen[n] = true
		}
	}
	return t
}

// Find returns the operation of a name or alias.
func (t Table) Find(name string) (Op, bool) {
	name = strings.ToLower(name)
	for _, op := range t {
		if op.Name == name || slices.Contains(op.Aliases, name) {
			return op, true
		}
	}
	return Op{}, false
}

// Call runs an operation with its authority checked.
func (t Table) Call(ctx context.Context, c Call) (Result, error) {
	op, ok := t.Find(c.Name)
	if !ok {
		return Result{}, fmt.Errorf("%w: %s", ErrUnknown, c.Name)
	}
	if op.Who == Owner && !c.Owner {
		return Result{}, fmt.Errorf("/%s: %w", op.Name, ErrForbidden)
	}
	return op.Run(ctx, c)
}

// Parse reads a slash command: "/name@bot args". ok is false where text is none.
func Parse(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	name, args, _ = strings.Cut(rest, " ")
	if head, tail, nl := strings.Cut(name, "\n"); nl {
		name, args = head, tail+" "+args
	}
	name, _, _ = strings.Cut(name, "@")
	if name == "" || strings.ContainsAny(name, "/.\\") { // a path, not a command
		return "", "", false
	}
	return strings.ToLower(name), strings.TrimSpace(args), true
}
