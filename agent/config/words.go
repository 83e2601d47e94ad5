package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// separator joins the steps of a path into a map key; a control character cannot be typed in a key by accident.
const separator = "\x1f"

func index(i int) string { return "\x1e" + strconv.Itoa(i) }

func child(path []string, key string) []string { return append(slices.Clone(path), key) }

// shown is the path as people write it; the line already tells which entry of a list is meant.
func shown(path []string) string {
	keys := slices.DeleteFunc(slices.Clone(path), func(s string) bool { return strings.HasPrefix(s, "\x1e") })
	return strings.Join(keys, ".")
}

// field is one key of a section.
type field struct {
	key, doc string
	value    reflect.Value
}

// fieldsOf lists the fields that have a toml tag; those of an embedded struct count as the struct's own.
func fieldsOf(v reflect.Value) []field {
	var all []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key, ok := f.Tag.Lookup("toml")
		switch {
		case f.Anonymous && !ok && f.Type.Kind() == reflect.Struct:
			all = append(all, fieldsOf(v.Field(i))...)
		case ok && key != "-" && f.IsExported():
			all = append(all, field{key, f.Tag.Get("doc"), v.Field(i)})
		}
	}
	return all
}

// wanted says in plain words what a place takes.
func wanted(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Secret]():
		return `text in quotes, such as "env:NAME"`
	case reflect.TypeFor[Size]():
		return `a size in quotes, such as "100MB"`
	case reflect.TypeFor[Duration]():
		return `a duration in quotes, such as "10m"`
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "a table"
	case reflect.Slice:
		if isTables(t) {
			return "a list of tables, each under its own [[name]]"
		}
		return "a list such as [" + example(t.Elem()) + "]"
	case reflect.String:
		return "text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

func example(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true, false"
	case reflect.Float32, reflect.Float64:
		return "0.5, 1.5"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "1, 2"
	}
	return `"one", "two"`
}

// kindOf names a value of the file without showing it.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case table:
		return "a table"
	}
	if reflect.TypeOf(value).Kind() == reflect.Slice {
		return "a list"
	}
	return "a date or time"
}

// syntaxError keeps the line of a TOML error and drops its text, which quotes the file and so perhaps a secret.
func syntaxError(path string, err error) error {
	var at toml.ParseError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: cannot be read as TOML", path)
	}
	hint := `this is not TOML: write key = value, text in "quotes", the names of tables in [brackets]`
	if strings.Contains(at.Message, "already") {
		hint = "this key or table stands here a second time: keep one"
	}
	return fmt.Errorf("%s:%d: %s", path, at.Position.Line, hint)
}

// unknown blames a key that no section has. fields are those of its table, nil in a table that only groups sections.
func (l *loader) unknown(path []string, fields []field) {
	last := len(path) - 1
	var near []string // what could stand here
	for _, f := range fields {
		near = append(near, shown(child(path[:last], f.key)))
	}
	for _, s := range l.sections {
		if steps := strings.Split(s.Name, "."); len(steps) > last && shown(path[:last]) == strings.Join(steps[:last], ".") {
			near = append(near, s.Name)
		}
	}
	if best, distance := nearest(shown(path), near); best != "" && distance <= max(1, len(path[last])/3) {
		l.fault(path, "is not a key; did you mean %s?", best)
		return
	}
	for _, key := range l.keys() { // the right key under the wrong table
		if key == path[last] || strings.HasSuffix(key, "."+path[last]) {
			l.fault(path, "is not a key; did you mean %s?", key)
			return
		}
	}
	slices.Sort(near)
	l.fault(path, "is not a key; known here: %s", strings.Join(slices.Compact(near), ", "))
}

// keys lists every section and every key directly in one.
func (l *loader) keys() []string {
	var all []string
	for _, s := range l.sections {
		all = append(all, s.Name)
		t := reflect.TypeOf(s.Into).Elem()
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct {
			for _, f := range fieldsOf(reflect.New(t).Elem()) {
				all = append(all, s.Name+"."+f.key)
			}
		}
	}
	return all
}

func nearest(key string, known []string) (best string, distance int) {
	distance = len(key) + 1
	if len(key) > 100 {
		return "", distance // no typing mistake, and edits takes quadratic time
	}
	for _, k := range known {
		if d := edits(key, k); d < distance {
			best, distance = k, d
		}
	}
	return best, distance
}

// edits counts the letters to insert, remove, replace or swap with their neighbour between a and b.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
