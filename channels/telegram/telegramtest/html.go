package telegramtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Entity is a formatted span; offset and length are in UTF-16 units.
type Entity struct {
	Type   string // the tag: b, i, u, s, code, pre, a, blockquote, tg-spoiler
	Value  string // href of a, class of code
	Offset int
	Length int
}

// tags are those that Telegram knows, by the type that they give.
var tags = map[string]string{
	"b": "b", "strong": "b", "i": "i", "em": "i", "u": "u", "ins": "u", "s": "s", "strike": "s", "del": "s",
	"code": "code", "pre": "pre", "a": "a", "blockquote": "blockquote", "tg-spoiler": "tg-spoiler", "span": "tg-spoiler",
}

// ParseHTML reads a text with parse_mode=HTML. It is a little stricter than Telegram: it also refuses an unknown
// attribute, a quote in a quote, markup in code, and a bare "&", all of which would be lost or change in silence.
func ParseHTML(html string) (text string, entities []Entity, err error) {
	p := &htmlParser{in: html}
	for p.at < len(p.in) && err == nil {
		switch {
		case strings.HasPrefix(p.in[p.at:], "</"):
			err = p.endTag()
		case p.in[p.at] == '<':
			err = p.startTag()
		case p.in[p.at] == '&':
			err = p.character()
		default:
			end := p.at + 1
			for end < len(p.in) && p.in[end] != '<' && p.in[end] != '&' {
				end++
			}
			p.write(p.in[p.at:end])
			p.at = end
		}
	}
	if err == nil && len(p.stack) > 0 {
		err = wrong("Can't find end tag corresponding to start tag %q", p.stack[len(p.stack)-1].tag)
	}
	return p.out.String(), p.entities, err
}

type htmlParser struct {
	in       string
	at       int
	out      strings.Builder
	units    int
	stack    []openTag
	entities []Entity
}

type openTag struct {
	tag    string
	entity Entity
}

func (p *htmlParser) write(s string) {
	p.out.WriteString(s)
	p.units += len(utf16.Encode([]rune(s)))
}

func (p *htmlParser) inside(kinds ...string) bool {
	return slices.ContainsFunc(p.stack, func(o openTag) bool { return slices.Contains(kinds, o.entity.Type) })
}

// startTag reads "<name attribute="value">".
func (p *htmlParser) startTag() error {
	begin := p.at
	body, after, ok := strings.Cut(p.in[begin+1:], ">")
	if !ok {
		return wrong("Unclosed start tag at byte offset %d", begin)
	}
	name, attributes, _ := strings.Cut(body, " ")
	kind, ok := tags[strings.ToLower(name)]
	if !ok {
		return wrong("Unsupported start tag %q at byte offset %d", name, begin)
	}
	open := openTag{strings.ToLower(name), Entity{Type: kind, Offset: p.units}}
	value, err := attribute(open.tag, attributes)
	if err != nil {
		return fmt.Errorf("%w in the tag %q at byte offset %d", err, name, begin)
	}
	switch {
	case kind == "blockquote" && p.inside("blockquote"),
		p.inside("code"), p.inside("pre") && kind != "code":
		return wrong("Nested tag %q at byte offset %d", name, begin)
	}
	open.entity.Value = value
	p.stack = append(p.stack, open)
	p.at = len(p.in) - len(after)
	return nil
}

// attribute reads the one attribute that a tag may have.
func attribute(tag, text string) (string, error) {
	name, quoted, has := strings.Cut(strings.TrimSpace(text), "=")
	wants := map[string]string{"a": "href", "code": "class", "span": "class"}[tag]
	switch {
	case tag == "blockquote" && text == "expandable":
		return text, nil
	case text == "" && (tag == "a" || tag == "span"):
		return "", wrong("Attribute %q is missing", wants)
	case text == "":
		return "", nil
	case !has || name != wants || wants == "":
		return "", wrong("Unexpected attribute %q", name)
	case len(quoted) < 2 || quoted[0] != '"' || strings.IndexByte(quoted[1:], '"') != len(quoted)-2:
		return "", wrong("Expected a quoted value of attribute %q", name)
	}
	value := quoted[1 : len(quoted)-1]
	switch {
	case strings.Contains(value, "<"):
		return "", wrong("Unescaped character in attribute %q", name)
	case tag == "code" && !strings.HasPrefix(value, "language-"), tag == "span" && value != "tg-spoiler":
		return "", wrong("Unexpected value of attribute %q", name)
	}
	v := htmlParser{in: value}
	for v.at < len(v.in) {
		if v.in[v.at] != '&' {
			v.write(v.in[v.at : v.at+1])
			v.at++
		} else if err := v.character(); err != nil {
			return "", err
		}
	}
	return v.out.String(), nil
}

func (p *htmlParser) endTag() error {
	begin := p.at
	name, after, ok := strings.Cut(p.in[begin+2:], ">")
	name = strings.ToLower(strings.TrimSpace(name))
	switch {
	case len(p.stack) == 0:
		return wrong("Unexpected end tag at byte offset %d", begin)
	case !ok:
		return wrong("Unclosed end tag at byte offset %d", begin)
	}
	open := p.stack[len(p.stack)-1]
	if name != open.tag {
		return wrong("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", begin, open.tag, name)
	}
	p.stack = p.stack[:len(p.stack)-1]
	p.at = len(p.in) - len(after)
	if open.entity.Length = p.units - open.entity.Offset; open.entity.Length > 0 {
		p.entities = append(p.entities, open.entity)
	}
	return nil
}

// character reads "&name;" or "&#number;".
func (p *htmlParser) character() error {
	name, after, ok := strings.Cut(p.in[p.at+1:], ";")
	char, known := map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}[name]
	if !known && strings.HasPrefix(name, "#") {
		n, err := strconv.ParseUint(name[1:], 10, 21)
		char, known = string(rune(n)), err == nil
	}
	if !ok || !known {
		return wrong("Unescaped ampersand at byte offset %d", p.at)
	}
	p.write(char)
	p.at = len(p.in) - len(after)
	return nil
}

// wrong is an error in the server's own words, which begin with a capital.
func wrong(format string, args ...any) error { return words(fmt.Sprintf(format, args...)) }

type words string

func (w words) Error() string { return string(w) }
