package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"pinch/agent/prompt"
	"pinch/budget"
)

const pathSchema = `"path":{"type":"string"}`

// Files returns the tools read, write, edit and list over the workspace. limit is the most tokens of a result.
// They are the owner's. Paths are relative to root; nothing outside of it can be reached.
func Files(root *os.Root, limit int) []Tool {
	f := files{root, limit}
	return []Tool{
		{
			Name: "read", Doc: "Read a text file, or some lines of it.", Effect: None, Owner: true, Run: run(f.read),
			Schema: json.RawMessage(`{"type":"object","properties":{` + pathSchema +
				`,"from":{"type":"integer"},"lines":{"type":"integer"}},"required":["path"]}`),
		},
		{
			Name: "write", Doc: "Write a whole file, replacing what it had.", Effect: Workspace, Owner: true, Run: run(f.write),
			Schema: json.RawMessage(`{"type":"object","properties":{` + pathSchema +
				`,"content":{"type":"string"}},"required":["path","content"]}`),
		},
		{
			Name: "edit", Doc: "Replace one exact piece of a file.", Effect: Workspace, Owner: true, Run: run(f.edit),
			Schema: json.RawMessage(`{"type":"object","properties":{` + pathSchema +
				`,"old":{"type":"string"},"new":{"type":"string"}},"required":["path","old","new"]}`),
		},
		{
			Name: "list", Doc: "List the files of a folder.", Effect: None, Owner: true, Run: run(f.list),
			Schema: json.RawMessage(`{"type":"object","properties":{` + pathSchema + `}}`),
		},
	}
}

// run decodes checked arguments for a tool.
func run[A any](do func(context.Context, A) (string, error)) func(context.Context, Call) (Result, error) {
	return func(ctx context.Context, call Call) (Result, error) {
		var args A
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return Result{}, fmt.Errorf("arguments: %w", err)
		}
		text, err := do(ctx, args)
		return Result{Text: text}, err
	}
}

type files struct {
	root  *os.Root
	limit int
}

type readArgs struct {
	Path        string
	From, Lines int
}

func (f files) read(_ context.Context, a readArgs) (string, error) {
	name, text, err := f.text(a.Path)
	if err != nil {
		return "", err
	}
	text = prompt.Inert(text)
	if text == "" {
		return name + " is empty.", nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if a.From <= 1 && a.Lines <= 0 {
		return f.ends(name, text), nil
	}
	from := max(a.From, 1)
	if from > len(lines) {
		return "", Refuse("%s has only %s.", name, count(len(lines), "line"))
	}
	last := len(lines)
	if a.Lines > 0 {
		last = min(from-1+min(a.Lines, last), last)
	}
	return f.page(name, lines, from, last), nil
}

// ends shows a whole text, or its beginning and end.
func (f files) ends(name, text string) string {
	const room = 40 // tokens of the marker
	if _, _, cut := prompt.Ends(text, f.limit); !cut {
		return text
	}
	head, tail, _ := prompt.Ends(text, max(f.limit*9/10-room, 0))
	next := strings.Count(head, "\n") + 2
	if !strings.HasPrefix(text[len(head):], "\n") { // cut within a line
		next--
	}
	total := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	return fmt.Sprintf("%s\n[… a part of the %s of %s is left out; read it from line %d to see more …]\n%s",
		head, count(total, "line"), name, next, tail)
}

// page shows some lines, as many as the limit allows.
func (f files) page(name string, lines []string, from, last int) string {
	const room = 30 // tokens of the note at the end
	text := strings.Join(lines[from-1:last], "")
	if last == len(lines) && budget.Tokens(text) <= f.limit {
		return text
	}
	if budget.Tokens(text)+room > f.limit {
		text = prompt.First(text, max(f.limit-room, 0))
		last = from - 1 + strings.Count(text, "\n")
		if last < from { // one line is over the limit
			return text + fmt.Sprintf("\n[… the rest of line %d of %s is too long to show …]", from, name)
		}
	}
	return strings.TrimSuffix(text, "\n") + fmt.Sprintf("\n[%s has %s; read it from line %d to see more]",
		name, count(len(lines), "line"), last+1)
}

// text reads a text file by a path that a model wrote.
func (f files) text(given string) (name, text string, err error) {
	name, err = within(given)
	if err != nil {
		return "", "", err
	}
	name = Match(f.root, name)
	data, err := ReadFile(f.root, name)
	if err != nil {
		return "", "", explain(name, err)
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", "", Refuse("%s is no text file (%s of other data); only text can be read.", name, sizeText(int64(len(data))))
	}
	return name, string(data), nil
}

type writeArgs struct{ Path, Content string }

func (f files) write(_ context.Context, a writeArgs) (string, error) {
	name, err := within(a.Path)
	if err != nil {
		return "", err
	}
	if len(a.Content) > MostFile {
		return "", Refuse("The content has %s; a file may have %s.", sizeText(int64(len(a.Content))), sizeText(MostFile))
	}
	name = Match(f.root, name)
	if info, err := f.root.Stat(name); err == nil && info.IsDir() {
		return "", Refuse("%s is a folder. Give the name of a file, such as %s/notes.txt.", name, name)
	}
	if err := WriteFile(f.root, name, []byte(a.Content)); err != nil {
		return "", explain(name, err)
	}
	return fmt.Sprintf("Wrote %s (%s).", name, sizeText(int64(len(a.Content)))), nil
}

type listArgs struct{ Path string }

func (f files) list(_ context.Context, a listArgs) (string, error) {
	name, err := within(a.Path)
	if err != nil {
		return "", err
	}
	entries, err := fs.ReadDir(f.root.FS(), name)
	if err != nil {
		if info, statErr := f.root.Stat(name); statErr == nil && !info.IsDir() {
			return "", Refuse("%s is a file. Use read to see it.", name)
		}
		return "", explain(name, err)
	}
	var out strings.Builder
	left := f.limit - 10
	shown := 0
	for _, e := range entries {
		if strings.Contains(e.Name(), tempMark) {
			shown++
			continue
		}
		line := entryLine(e)
		if left -= budget.Tokens(line); left < 0 {
			break
		}
		out.WriteString(line)
		shown++
	}
	if more := len(entries) - shown; more > 0 {
		fmt.Fprintf(&out, "… and %d more", more)
	}
	if out.Len() == 0 {
		return "The folder is empty.", nil
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func entryLine(e fs.DirEntry) string {
	name := strings.ReplaceAll(prompt.Defuse(e.Name()), "\n", " ")
	if e.IsDir() {
		return name + "/\n"
	}
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() {
		return name + "\n"
	}
	return fmt.Sprintf("%s %s\n", name, sizeText(info.Size()))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
