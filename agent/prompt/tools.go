package prompt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"pinch/agent/model"
)

// Tools renders the tools block: canonical minified JSON, sorted by name, so that the same tools always give the
// same bytes. A schema that is no JSON becomes an empty object; tool.NewSet refuses such a tool before.
func Tools(specs []model.ToolSpec) string {
	specs = slices.Clone(specs)
	slices.SortFunc(specs, func(a, b model.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	out.WriteByte('[')
	for i, s := range specs {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(`{"name":`)
		quote(&out, s.Name)
		out.WriteString(`,"description":`)
		quote(&out, s.Doc)
		out.WriteString(`,"parameters":`)
		if size := out.Len(); json.Compact(&out, s.Schema) != nil || out.Len() == size {
			out.Truncate(size)
			out.WriteString("{}")
		}
		out.WriteByte('}')
	}
	out.WriteByte(']')
	return out.String()
}

// quote writes a JSON string without the escapes that only HTML needs: they cost tokens.
func quote(out *bytes.Buffer, s string) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	out.Truncate(out.Len() - 1) // Encode ends with a newline
}
