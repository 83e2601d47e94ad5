package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pinch/agent/model"
)

// Refusal is an error whose text goes to the model: it says what is wrong with the call and what to do instead.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Refuse makes a Refusal.
func Refuse(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }

// Set is a list of tools, sorted by name. The zero value is empty.
type Set struct{ tools []Tool }

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// NewSet joins tools. It refuses two of one name, names that providers do not take, and schemas that are no JSON
// objects.
func NewSet(tools ...Tool) (Set, error) {
	tools = slices.Clone(tools)
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	for i, t := range tools {
		var object map[string]json.RawMessage
		switch {
		case !nameForm.MatchString(t.Name):
			return Set{}, fmt.Errorf("tool %q: a name is small letters, digits and _, and begins with a letter", t.Name)
		case i > 0 && tools[i-1].Name == t.Name:
			return Set{}, fmt.Errorf("tool %q: there are two of this name", t.Name)
		case t.Run == nil:
			return Set{}, fmt.Errorf("tool %q: it cannot run", t.Name)
		}
		if err := json.Unmarshal(t.Schema, &object); err != nil || object == nil {
			return Set{}, fmt.Errorf("tool %q: its schema is no JSON object", t.Name)
		}
	}
	return Set{tools: tools}, nil
}

// All returns the tools in order. The list is the caller's.
func (s Set) All() []Tool { return slices.Clone(s.tools) }

// For returns the tools of a conversation: all for the owner, else those that are not the owner's alone.
func (s Set) For(owner bool) Set {
	if owner {
		return s
	}
	return Set{tools: slices.DeleteFunc(s.All(), func(t Tool) bool { return t.Owner })}
}

// Find returns the tool of exactly this name.
func (s Set) Find(name string) (Tool, bool) {
	i, ok := slices.BinarySearchFunc(s.tools, name, func(t Tool, n string) int { return strings.Compare(t.Name, n) })
	if !ok {
		return Tool{}, false
	}
	return s.tools[i], true
}

// Specs returns what a model is told of the tools of a conversation, sorted by name.
func (s Set) Specs(owner bool) []model.ToolSpec {
	var specs []model.ToolSpec
	for _, t := range s.For(owner).tools {
		specs = append(specs, t.Spec())
	}
	return specs
}

// suggestions is how many names an unknown one is answered with.
const suggestions = 5

// Resolve finds the tool that a model means by a name: as it is, in another spelling, with a prefix that models
// invent, or with up to two wrong letters where only one tool is as near. Without one, suggestion is the sentence
// for the model. Call it on the set of the conversation (For), so that names of others are not told.
func (s Set) Resolve(name string) (t Tool, ok bool, suggestion string) {
	if t, ok := s.Find(name); ok {
		return t, true, ""
	}
	plain := plainName(name)
	if t, ok := s.Find(plain); ok {
		return t, true, ""
	}
	type near struct {
		tool Tool
		far  int
	}
	var list []near
	for _, t := range s.tools {
		list = append(list, near{t, distance(plain, t.Name)})
	}
	slices.SortStableFunc(list, func(a, b near) int { return a.far - b.far })
	if len(list) > 0 && list[0].far <= 2 && list[0].far*2 < len(plain) && (len(list) == 1 || list[1].far > list[0].far) {
		return list[0].tool, true, ""
	}
	if len(list) == 0 {
		return Tool{}, false, "There are no tools here. Answer without one."
	}
	var names []string
	for _, n := range list[:min(len(list), suggestions)] {
		names = append(names, n.tool.Name)
	}
	return Tool{}, false, fmt.Sprintf("There is no tool %q. Use one of: %s.", cutName(name), strings.Join(names, ", "))
}

// plainName brings a name into the form of ours.
func plainName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"functions.", "function.", "default_api.", "tools.", "tool.", "functions_", "tool_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.TrimSuffix(name, "()")), "_")
}

func cutName(name string) string {
	if runes := []rune(name); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return name
}

// distance counts the letters to add, drop or change between two names of our form; a name that is too long to be
// any of ours is far.
func distance(a, b string) int {
	if len(a) > 128 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
