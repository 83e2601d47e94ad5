package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Example prints every key of every section with its default and its doc tag, as a file that loads back to the
// defaults. Keys without a default, and entries of lists and maps that are empty, are commented out.
func Example(sections ...Section) string {
	var p printer
	for _, s := range sections {
		if p.out.Len() > 0 {
			p.out.WriteByte('\n')
		}
		p.write(false, "# "+s.Doc)
		p.any(s.Name, reflect.ValueOf(s.Into).Elem(), false)
	}
	return p.out.String()
}

type printer struct{ out strings.Builder }

func (p *printer) write(off bool, line string) {
	if off {
		line = "# " + line
	}
	p.out.WriteString(line + "\n")
}

// any prints a table, a list of tables or a map of tables; off comments all of it out.
func (p *printer) any(name string, v reflect.Value, off bool) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			p.table("[["+name+"]]", name, v.Index(i), off)
		}
		if v.Len() == 0 {
			p.table("[["+name+"]]", name, newEntry(v.Type().Elem()), true)
		}
	case reflect.Map:
		name += ".NAME"
		p.table("["+name+"]", name, newEntry(v.Type().Elem()), true)
	default:
		p.table("["+name+"]", name, v, off)
	}
}

// table prints a header, the plain keys, then the tables below, since TOML wants plain keys first.
func (p *printer) table(header, name string, v reflect.Value, off bool) {
	p.write(off, header)
	var below []field
	lines := plain("", v, &below)
	width := 0
	for i := range lines {
		if lines[i].off {
			lines[i].text = "# " + lines[i].text
		}
		width = max(width, len(lines[i].text))
	}
	for _, l := range lines {
		p.write(off && !l.off, fmt.Sprintf("%-*s  # %s", width, l.text, l.doc))
	}
	for _, f := range below {
		p.out.WriteByte('\n')
		p.write(false, "# "+f.doc)
		p.any(name+"."+f.key, f.value, off)
	}
}

// plainLine is "key = value"; off means that there is no default to show.
type plainLine struct {
	text, doc string
	off       bool
}

// plain lists the keys that fit on a line, with those of a nested struct as dotted keys; the rest goes below.
func plain(prefix string, v reflect.Value, below *[]field) []plainLine {
	var lines []plainLine
	for _, f := range fieldsOf(v) {
		f.key = prefix + f.key
		switch {
		case isTables(f.value.Type()):
			*below = append(*below, f)
		case isTable(f.value.Type()):
			for _, l := range plain(f.key+".", f.value, below) {
				l.doc = f.doc + ": " + l.doc
				lines = append(lines, l)
			}
		default:
			value, off := literal(f.value)
			lines = append(lines, plainLine{f.key + " = " + value, f.doc, off})
		}
	}
	return lines
}

// isTable tells a struct with keys from one that is written as text.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func isTables(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && isTable(t.Elem())
}

// literal writes a value as TOML and says whether it is only a hint.
func literal(v reflect.Value) (text string, off bool) {
	if _, secret := v.Interface().(Secret); secret {
		return `"env:NAME"`, true
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return quote(string(text)), err != nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			text, _ := literal(reflect.Zero(v.Type().Elem()))
			return text, true
		}
		return literal(v.Elem())
	case reflect.String:
		return quote(v.String()), false
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			one, _ := literal(v.Index(i))
			all = append(all, one)
		}
		return "[" + strings.Join(all, ", ") + "]", false
	case reflect.Map:
		return "{NAME = " + zero(v.Type().Elem()) + "}", true
	case reflect.Float32, reflect.Float64:
		return decimal(v.Float()), false
	}
	return fmt.Sprint(v.Interface()), false
}

func zero(t reflect.Type) string {
	text, _ := literal(reflect.Zero(t))
	return text
}

// decimal keeps a point in the number, so that people see that fractions are welcome.
func decimal(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// quote writes a TOML basic string; control characters are the only ones besides quote and backslash to escape.
func quote(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
