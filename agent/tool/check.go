package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// schema is the part of JSON Schema that tools use.
type schema struct {
	Type       typeNames         `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Enum       []any             `json:"enum"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
}

// typeNames is one type or a list of them.
type typeNames []string

func (t *typeNames) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("type: %w", err)
	}
	*t = list
	return nil
}

// mostArguments is the bytes of arguments that we look at.
const mostArguments = 4 << 20

// Check makes the arguments that a model wrote fit a schema and returns them as canonical JSON. It reads an object,
// or a string that holds one; "5" becomes 5, "true" true, a single value a list of one; a key in another spelling
// is put right and an unknown one dropped. What cannot be put right is a Refusal that names it.
func Check(schemaJSON json.RawMessage, args string) (json.RawMessage, error) {
	var s schema
	if err := json.Unmarshal(schemaJSON, &s); err != nil {
		return nil, fmt.Errorf("read the tool's schema: %w", err)
	}
	object, err := parseArguments(s, args)
	if err != nil {
		return nil, err
	}
	c := checker{}
	fixed := c.object(s, object, "")
	if len(c.faults) > 0 {
		return nil, Refuse("The call was not run: %s. The arguments are: %s.", strings.Join(c.faults, "; "), describe(s))
	}
	out, err := json.Marshal(fixed)
	if err != nil {
		return nil, fmt.Errorf("write the arguments: %w", err)
	}
	return out, nil
}

func parseArguments(s schema, args string) (map[string]any, error) {
	if len(args) > mostArguments {
		return nil, Refuse("The call was not run: its arguments are too long. Send less at a time.")
	}
	text := unfence(args)
	if text == "" || text == "null" {
		return map[string]any{}, nil
	}
	for range 3 { // a string in a string in a string
		v, err := decode(text)
		if err != nil {
			break
		}
		switch v := v.(type) {
		case map[string]any:
			return v, nil
		case string:
			if trimmed := unfence(v); strings.HasPrefix(strings.TrimLeft(trimmed, `"\`), "{") {
				text = trimmed
				continue
			}
		}
		if len(s.Required) == 1 { // the value of the only argument, without its name
			return map[string]any{s.Required[0]: v}, nil
		}
		break
	}
	return nil, Refuse("The call was not run: its arguments are not one whole JSON object. The arguments are: %s.", describe(s))
}

// unfence takes a Markdown code fence off.
func unfence(s string) string {
	s = strings.TrimSpace(s)
	if body, ok := strings.CutPrefix(s, "```"); ok {
		if _, rest, ok := strings.Cut(body, "\n"); ok {
			s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
		}
	}
	return s
}

// decode reads one JSON value; what closes too often after it is let pass, since it changes nothing.
func decode(text string) (any, error) {
	v, err := decodeStrict(text)
	if err != nil {
		v, err = decodeStrict(escapeControls(text))
	}
	return v, err
}

func decodeStrict(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if strings.Trim(text[d.InputOffset():], "}] \t\r\n;") != "" {
		return nil, errors.New("text after the object")
	}
	return v, nil
}

// escapeControls escapes raw line breaks and tabs inside of strings, which small models write.
func escapeControls(text string) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			inString = !inString
		case inString && c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// describe lists the arguments of a tool for a refusal.
func describe(s schema) string {
	if len(s.Properties) == 0 {
		return "none"
	}
	var parts []string
	for _, name := range sortedNames(s) {
		p := s.Properties[name]
		what := strings.Join(p.Type, " or ")
		if len(p.Enum) > 0 {
			what = enumText(p)
		}
		if slices.Contains(s.Required, name) {
			what += ", required"
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", name, what))
	}
	return strings.Join(parts, ", ")
}

// sortedNames returns the properties, required ones first in their order, then the others by name.
func sortedNames(s schema) []string {
	var names []string
	for _, r := range s.Required {
		if _, ok := s.Properties[r]; ok {
			names = append(names, r)
		}
	}
	var rest []string
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(names, rest...)
}

func enumText(s schema) string {
	var values []string
	for _, e := range s.Enum {
		values = append(values, fmt.Sprint(e))
	}
	return strings.Join(values, "|")
}

// checker collects what is wrong with arguments, the first few.
type checker struct{ faults []string }

func (c *checker) fault(format string, args ...any) {
	if len(c.faults) < 3 {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

func (c *checker) object(s schema, in map[string]any, at string) map[string]any {
	out := map[string]any{}
	if s.Properties == nil && at != "" {
		return in // a free object
	}
	for _, key := range sortedKeys(in) {
		name := propertyName(s, key)
		if _, taken := in[name]; name == "" || taken && name != key {
			continue
		}
		v := in[key]
		if v == nil {
			continue
		}
		if fixed, ok := c.value(s.Properties[name], v, at+name); ok {
			out[name] = fixed
		}
	}
	for _, name := range s.Required {
		if _, ok := out[name]; !ok && !c.names(at+name) {
			c.fault("%s is missing", at+name)
		}
	}
	return out
}

// names reports whether a fault of this argument is known already.
func (c *checker) names(argument string) bool {
	return slices.ContainsFunc(c.faults, func(f string) bool { return strings.HasPrefix(f, argument+" ") })
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// propertyName returns the property that a key means; "" = none.
func propertyName(s schema, key string) string {
	if _, ok := s.Properties[key]; ok {
		return key
	}
	fold := func(k string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(k))
	}
	for _, name := range sortedNames(s) {
		if fold(name) == fold(key) {
			return name
		}
	}
	return ""
}

// value makes v fit s; ok = false after a fault.
func (c *checker) value(s schema, v any, at string) (any, bool) {
	fixed, ok := v, len(s.Type) == 0
	for _, t := range s.Type {
		if hasType(t, v) {
			fixed, ok = c.inside(s, t, v, at)
			if !ok {
				return nil, false
			}
			break
		}
	}
	for i := 0; i < len(s.Type) && !ok; i++ {
		if fixed, ok = coerce(s.Type[i], v); ok {
			if fixed, ok = c.inside(s, s.Type[i], fixed, at); !ok {
				return nil, false
			}
		}
	}
	if !ok {
		c.fault("%s must be %s, not %s", at, article(strings.Join(s.Type, " or ")), short(v))
		return nil, false
	}
	if len(s.Enum) > 0 {
		return c.enum(s, fixed, at)
	}
	return c.bounds(s, fixed, at)
}

// inside checks the elements of an array and the properties of an object.
func (c *checker) inside(s schema, kind string, v any, at string) (any, bool) {
	before := len(c.faults)
	switch v := v.(type) {
	case []any:
		if kind != "array" || s.Items == nil {
			return v, true
		}
		out := make([]any, 0, len(v))
		for i, e := range v {
			fixed, _ := c.value(*s.Items, e, fmt.Sprintf("%s[%d]", at, i))
			out = append(out, fixed)
		}
		return out, len(c.faults) == before
	case map[string]any:
		fixed := c.object(s, v, at+".")
		return fixed, len(c.faults) == before
	case json.Number:
		if kind == "integer" {
			n, ok := integer(v)
			return n, ok
		}
	}
	return v, true
}

func (c *checker) enum(s schema, v any, at string) (any, bool) {
	for _, e := range s.Enum {
		if fmt.Sprint(e) == fmt.Sprint(v) {
			return v, true
		}
	}
	for _, e := range s.Enum {
		if text, ok := e.(string); ok && strings.EqualFold(text, strings.TrimSpace(fmt.Sprint(v))) {
			return text, true
		}
	}
	c.fault("%s must be one of %s, not %s", at, enumText(s), short(v))
	return nil, false
}

func (c *checker) bounds(s schema, v any, at string) (any, bool) {
	n, ok := v.(json.Number)
	if !ok || s.Minimum == nil && s.Maximum == nil {
		return v, true
	}
	f, err := n.Float64()
	switch {
	case err != nil:
		c.fault("%s is no number that fits", at)
	case s.Minimum != nil && f < *s.Minimum:
		c.fault("%s must be at least %v", at, *s.Minimum)
	case s.Maximum != nil && f > *s.Maximum:
		c.fault("%s must be at most %v", at, *s.Maximum)
	default:
		return v, true
	}
	return nil, false
}

func hasType(kind string, v any) bool {
	switch v := v.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	case json.Number:
		if kind == "integer" {
			_, ok := integer(v)
			return ok
		}
		return kind == "number"
	}
	return false
}

// integer reads a whole number, also one written 5.0.
func integer(n json.Number) (json.Number, bool) {
	if i, err := n.Int64(); err == nil {
		return json.Number(strconv.FormatInt(i, 10)), true
	}
	f, err := n.Float64()
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return "", false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

// coerce turns a value of another type into kind, where that changes only its form.
func coerce(kind string, v any) (any, bool) {
	text, isText := v.(string)
	trimmed := strings.TrimSpace(text)
	switch kind {
	case "string":
		switch v := v.(type) {
		case json.Number:
			return v.String(), true
		case bool:
			return strconv.FormatBool(v), true
		case []any:
			if len(v) == 1 {
				return coerceText(v[0])
			}
		case map[string]any:
			out, err := json.Marshal(v)
			return string(out), err == nil
		}
	case "integer", "number":
		if n, err := decodeStrict(trimmed); isText && err == nil {
			if n, ok := n.(json.Number); ok && hasType(kind, n) {
				return n, true
			}
		}
	case "boolean":
		return boolean(v)
	case "array":
		if list, err := decode(trimmed); isText && strings.HasPrefix(trimmed, "[") && err == nil {
			if list, ok := list.([]any); ok {
				return list, true
			}
		}
		return []any{v}, true
	case "object":
		if object, err := decode(trimmed); isText && err == nil {
			if object, ok := object.(map[string]any); ok {
				return object, true
			}
		}
	}
	return nil, false
}

func coerceText(v any) (any, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	return coerce("string", v)
}

func boolean(v any) (any, bool) {
	switch strings.ToLower(strings.TrimSpace(fmt.Sprint(v))) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return nil, false
}

func article(kind string) string {
	if strings.HasPrefix(kind, "a") || strings.HasPrefix(kind, "i") || strings.HasPrefix(kind, "o") {
		return "an " + kind
	}
	return "a " + kind
}

func short(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return "this"
	}
	if runes := []rune(string(out)); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return string(out)
}
