package telegram

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// Telegram's HTML has only marks within a text: what Markdown has beyond them becomes text. Rules: everything is
// escaped; nothing stands in code but text; no quote in a quote and no link in a link; HTML in Markdown is text.

// page is a text as HTML and as the person sees it.
type page struct {
	source   string
	markdown []byte
	html     strings.Builder
	text     strings.Builder
	indent   string // of the lines of a list in a list
	quoted   bool
	linked   bool
}

// markdownParser is made once, by the first reply: it costs more than a reply, and keeps nothing of one.
var markdownParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
})

// render turns Markdown into Telegram's HTML.
func render(markdown string) *page {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7F {
			return -1
		}
		return r
	}, strings.ToValidUTF8(markdown, "\uFFFD"))
	p := &page{source: markdown, markdown: []byte(clean)}
	p.blocks(markdownParser().Parse(text.NewReader(p.markdown)), "\n\n")
	return p
}

// visible is what the person sees: the text, or the Markdown itself where it shows nothing.
func (p *page) visible() string {
	if t := strings.TrimSpace(p.text.String()); t != "" {
		return t
	}
	return p.source
}

// units is a length as Telegram counts it.
func units(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

var unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&")

// write adds text that is seen.
func (p *page) write(s string) {
	p.text.WriteString(s)
	escaper.WriteString(&p.html, s) // a Builder never fails
}

// tagged adds what add writes between two tags.
func (p *page) tagged(start, end string, add func()) {
	p.html.WriteString(start)
	add()
	p.html.WriteString(end)
}

func (p *page) newline() { p.write("\n" + p.indent) }

// blocks adds the blocks in a node, with sep between them.
func (p *page) blocks(parent ast.Node, sep string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			p.write(sep + p.indent)
		}
		p.block(n)
	}
}

func (p *page) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		p.tagged("<b>", "</b>", func() { p.inlines(n) })
	case *ast.Paragraph, *ast.TextBlock:
		p.inlines(n)
	case *ast.FencedCodeBlock:
		p.code(string(n.Language(p.markdown)), p.lines(n))
	case *ast.CodeBlock:
		p.code("", p.lines(n))
	case *ast.HTMLBlock:
		raw := p.lines(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(p.markdown))
		}
		p.write(strings.TrimRight(raw, "\n"))
	case *ast.ThematicBreak:
		p.write("———")
	case *ast.Blockquote:
		p.quote(n)
	case *ast.List:
		p.list(n)
	case *extast.Table:
		p.code("", p.table(n))
	default:
		p.blocks(n, "\n\n")
	}
}

func (p *page) lines(n ast.Node) string {
	return string(n.Lines().Value(p.markdown))
}

func (p *page) code(language, body string) {
	body = strings.TrimRight(body, "\n")
	language = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+-#._", r) {
			return r
		}
		return -1
	}, language)
	if language == "" {
		p.tagged("<pre>", "</pre>", func() { p.write(body) })
		return
	}
	p.tagged(fmt.Sprintf(`<pre><code class="language-%s">`, language), "</code></pre>", func() { p.write(body) })
}

func (p *page) quote(n ast.Node) {
	if p.quoted {
		p.blocks(n, "\n")
		return
	}
	p.quoted = true
	p.tagged("<blockquote>", "</blockquote>", func() { p.blocks(n, "\n") })
	p.quoted = false
}

func (p *page) list(l *ast.List) {
	outer := p.indent
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil {
			p.newline()
		}
		if l.IsOrdered() {
			p.write(fmt.Sprintf("%d. ", number))
			number++
		} else {
			p.write("• ")
		}
		p.indent += "  "
		p.blocks(item, "\n")
		p.indent = outer
	}
}

// inlines adds what stands within a line.
func (p *page) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		p.inline(n)
	}
}

func (p *page) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		p.resolve(n.Segment.Value(p.markdown))
		if n.SoftLineBreak() || n.HardLineBreak() {
			p.newline()
		}
	case *ast.String:
		p.write(string(n.Value))
	case *ast.CodeSpan:
		p.tagged("<code>", "</code>", func() { p.write(p.plain(n)) })
	case *ast.Emphasis:
		tag := "i"
		if n.Level > 1 {
			tag = "b"
		}
		p.tagged("<"+tag+">", "</"+tag+">", func() { p.inlines(n) })
	case *extast.Strikethrough:
		p.tagged("<s>", "</s>", func() { p.inlines(n) })
	case *ast.Link:
		p.link(string(n.Destination), n)
	case *ast.Image:
		p.link(string(n.Destination), n)
	case *ast.AutoLink:
		p.write(string(n.Label(p.markdown))) // Telegram finds it
	case *ast.RawHTML:
		p.rawHTML(n)
	case *extast.TaskCheckBox:
		p.write(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
	default:
		p.inlines(n)
	}
}

// resolve adds text in which escapes and references such as "&lt;" still stand.
func (p *page) resolve(raw []byte) {
	if !bytes.ContainsAny(raw, `\&`) {
		p.write(string(raw))
		return
	}
	var b strings.Builder
	w := bufio.NewWriterSize(&b, 2*len(raw))
	html.DefaultWriter.Write(w, raw)
	w.Flush() // a Builder never fails
	p.write(unescaper.Replace(b.String()))
}

// plain is the source text of a node's children, on one line.
func (p *page) plain(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			b.Write(t.Segment.Value(p.markdown))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

func (p *page) rawHTML(n *ast.RawHTML) {
	raw := string(n.Segments.Value(p.markdown))
	if strings.HasPrefix(strings.ToLower(raw), "<br") {
		p.newline()
		return
	}
	p.write(raw)
}

// link adds a link that Telegram takes; another one shows where it leads.
func (p *page) link(to string, n ast.Node) {
	if p.linked {
		p.inlines(n)
		return
	}
	scheme, _, _ := strings.Cut(strings.ToLower(to), ":")
	add := func() {
		p.linked = true
		before := p.text.Len()
		p.inlines(n)
		if strings.TrimSpace(p.text.String()[before:]) == "" {
			p.write(to)
		}
		p.linked = false
	}
	switch scheme {
	case "http", "https", "tg", "mailto", "tel":
		p.tagged(`<a href="`+escaper.Replace(to)+`">`, "</a>", add)
		return
	}
	add()
	if to != "" && !strings.HasSuffix(p.text.String(), to) {
		p.write(" (" + to + ")")
	}
}
