package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"
)

// Load reads the file at path into the sections, which hold their defaults, and validates them. A missing file
// is no error, nor is a place where none can be: whoever writes there says so. Every fault of the file is reported (errors.Join), in the order of lines, as
// "PATH:LINE: KEY …what would be right"; no value of the file is in the text but that of a size, a duration or
// one that a Validate quotes. After an error the sections are half filled and must not be used.
func Load(path string, sections ...Section) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	root := make(table)
	if _, err := toml.Decode(string(text), &root); err != nil {
		return syntaxError(path, err)
	}
	l := &loader{sections: sections, lines: scan(string(text))}
	l.group(nil, root)
	if len(l.faults) == 0 { // a value that was refused would be blamed twice
		for _, s := range sections {
			l.validate(strings.Split(s.Name, "."), reflect.ValueOf(s.Into).Elem())
		}
	}
	return l.join(path)
}

// table is what the TOML reader gives; nothing untyped leaves this package.
type table = map[string]any

// loader walks a parsed file and the sections side by side. A step of a path is a key, or index(i) in a list.
type loader struct {
	sections []Section
	lines    map[string]int
	faults   []fault
}

type fault struct {
	line int
	text string
}

func (l *loader) fault(path []string, format string, args ...any) {
	l.faults = append(l.faults, fault{l.line(path), shown(path) + " " + fmt.Sprintf(format, args...)})
}

// line is where the key stands, or what encloses it, such as the inline table that it is in; 0 is nowhere.
func (l *loader) line(path []string) int {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if n := l.lines[strings.Join(path, separator)]; n > 0 {
			return n
		}
	}
	return 0
}

func (l *loader) join(path string) error {
	slices.SortStableFunc(l.faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.text, b.text))
	})
	var all []error
	for _, f := range l.faults {
		where := path
		if f.line > 0 {
			where = fmt.Sprintf("%s:%d", path, f.line)
		}
		all = append(all, fmt.Errorf("%s: %s", where, f.text))
	}
	return errors.Join(all...)
}

// group reads a table that is no section itself but may hold sections: the file, or [channels].
func (l *loader) group(path []string, in table) {
	for key, value := range in {
		if !l.section(child(path, key), value) {
			l.unknown(child(path, key), nil)
		}
	}
}

// section reads value if a section has this name or lies below it.
func (l *loader) section(path []string, value any) bool {
	above := false
	for _, s := range l.sections {
		name := strings.Split(s.Name, ".")
		if slices.Equal(name, path) {
			l.read(path, value, reflect.ValueOf(s.Into).Elem())
			return true
		}
		above = above || len(name) > len(path) && slices.Equal(name[:len(path)], path)
	}
	if in, ok := value.(table); ok && above {
		l.group(path, in)
	} else if above {
		l.fault(path, "must be a table such as [%s], not %s", shown(path), kindOf(value))
	}
	return above
}

// read puts a value of the file into a place of a section.
func (l *loader) read(path []string, value any, into reflect.Value) {
	if text, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		l.readText(path, value, text)
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		l.read(path, value, into.Elem())
	case reflect.Struct:
		l.readStruct(path, value, into)
	case reflect.Map:
		l.readMap(path, value, into)
	case reflect.Slice:
		l.readSlice(path, value, into)
	default:
		l.readPlain(path, value, into)
	}
}

func (l *loader) readStruct(path []string, value any, into reflect.Value) {
	in, ok := value.(table)
	if !ok {
		l.fault(path, "must be %s, not %s", wanted(into.Type()), kindOf(value))
		return
	}
	fields := fieldsOf(into)
	for key, value := range in {
		at := child(path, key)
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		switch {
		case i >= 0:
			l.read(at, value, fields[i].value)
		case !l.section(at, value):
			l.unknown(at, fields)
		}
	}
}

func (l *loader) readMap(path []string, value any, into reflect.Value) {
	in, ok := value.(table)
	if !ok {
		l.fault(path, "must be %s, not %s", wanted(into.Type()), kindOf(value))
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	for key, value := range in {
		entry := newEntry(into.Type().Elem())
		l.read(child(path, key), value, entry)
		into.SetMapIndex(reflect.ValueOf(key).Convert(into.Type().Key()), entry)
	}
}

// readSlice replaces the default list as a whole. An empty one becomes nil, so that lists compare well.
func (l *loader) readSlice(path []string, value any, into reflect.Value) {
	in := reflect.ValueOf(value)
	if in.Kind() != reflect.Slice {
		l.fault(path, "must be %s, not %s", wanted(into.Type()), kindOf(value))
		return
	}
	into.SetZero()
	for i := range in.Len() {
		entry := newEntry(into.Type().Elem())
		l.read(child(path, index(i)), in.Index(i).Interface(), entry)
		into.Set(reflect.Append(into, entry))
	}
}

func (l *loader) readText(path []string, value any, into encoding.TextUnmarshaler) {
	text, ok := value.(string)
	if n, isInt := value.(int64); isInt {
		if _, isSize := into.(*Size); isSize {
			text, ok = fmt.Sprint(n), true
		}
	}
	if !ok {
		l.fault(path, "must be %s, not %s", wanted(reflect.TypeOf(into).Elem()), kindOf(value))
	} else if err := into.UnmarshalText([]byte(text)); err != nil {
		l.fault(path, "is wrong: %v", err)
	}
}

func (l *loader) readPlain(path []string, value any, into reflect.Value) {
	v := reflect.ValueOf(value)
	n, isInt := value.(int64)
	switch {
	case v.Kind() == into.Kind() && (v.Kind() == reflect.String || v.Kind() == reflect.Bool):
		into.Set(v.Convert(into.Type()))
	case isInt && into.CanFloat():
		into.SetFloat(float64(n))
	case v.CanFloat() && into.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
		into.SetFloat(v.Float())
	case isInt && into.CanInt() && !into.OverflowInt(n):
		into.SetInt(n)
	case isInt && into.CanUint() && n >= 0 && !into.OverflowUint(uint64(n)):
		into.SetUint(uint64(n))
	case isInt && (into.CanInt() || into.CanUint()):
		l.fault(path, "is out of range")
	default:
		l.fault(path, "must be %s, not %s", wanted(into.Type()), kindOf(value))
	}
}

// newEntry is a settable entry of a list or map, with its defaults.
func newEntry(t reflect.Type) reflect.Value {
	entry := reflect.New(t)
	if d, ok := entry.Interface().(Defaulter); ok {
		d.Default()
	}
	return entry.Elem()
}

// validate asks the value, and what it holds, whether it is right.
func (l *loader) validate(path []string, v reflect.Value) {
	if !v.CanAddr() { // an entry of a map
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	if valid, ok := v.Addr().Interface().(Validator); ok {
		if err := valid.Validate(); err != nil {
			key, _, _ := strings.Cut(err.Error(), " ")
			at := l.line(append(slices.Clone(path), strings.Split(key, ".")...))
			l.faults = append(l.faults, fault{at, shown(path) + "." + err.Error()})
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range fieldsOf(v) {
			l.validate(child(path, f.key), f.value)
		}
	case reflect.Slice:
		for i := range v.Len() {
			l.validate(child(path, index(i)), v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			l.validate(child(path, key.String()), v.MapIndex(key))
		}
	}
}
