package telegram_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pinch/channels"
	"pinch/channels/telegram"
	"pinch/channels/telegram/telegramtest"
)

func TestRender(t *testing.T) {
	for _, c := range []struct{ name, markdown, html string }{
		{"plain", "a < b & c > d", "a &lt; b &amp; c &gt; d"},
		{"heading", "# Title\ntext", "<b>Title</b>\n\ntext"},
		{"marks", "**b** *i* ~~s~~ `x < y`", "<b>b</b> <i>i</i> <s>s</s> <code>x &lt; y</code>"},
		{"escapes", `\*no\* &lt;b&gt; &copy; \&amp;`, "*no* &lt;b&gt; © &amp;amp;"},
		{"code", "```go\nif a < b {}\n```", `<pre><code class="language-go">if a &lt; b {}</code></pre>`},
		{"code without language", "```\nx\n```", "<pre>x</pre>"},
		{"open fence", "```py\nprint(1)", `<pre><code class="language-py">print(1)</code></pre>`},
		{"strange language", "```\"><b>\nx\n```", `<pre><code class="language-b">x</code></pre>`},
		{"list", "- a\n- b\n  1. c\n  2. d", "• a\n• b\n  1. c\n  2. d"},
		{"numbers go on", "3. a\n4. b", "3. a\n4. b"},
		{"tasks", "- [x] done\n- [ ] open", "• ☑ done\n• ☐ open"},
		{"quote", "> a\n> > b", "<blockquote>a\nb</blockquote>"},
		{"link", `[x](https://e.org/?a=1&b="2")`, `<a href="https://e.org/?a=1&amp;b=&quot;2&quot;">x</a>`},
		{"empty link", "[](https://e.org)", `<a href="https://e.org">https://e.org</a>`},
		{"other link", "[x](notes.md) [y](javascript:z)", "x (notes.md) y (javascript:z)"},
		{"image in link", "[![alt](https://e.org/i.png)](https://e.org)", `<a href="https://e.org">alt</a>`},
		{"html", "<script>x</script>\n\na <b>b</b> c<br>d", "&lt;script&gt;x&lt;/script&gt;\n\na &lt;b&gt;b&lt;/b&gt; c\nd"},
		{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"table", "| a | bb |\n|---|---|\n| 三 | `d` |", "<pre>a   bb\n──────\n三  d</pre>"},
		{"lines", "a\nb\n\nc", "a\nb\n\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			html, visible := telegram.Render(c.markdown)
			if html != c.html {
				t.Errorf("got  %q\nwant %q", html, c.html)
			}
			text, _, err := telegramtest.ParseHTML(html)
			if err != nil || text != visible {
				t.Errorf("Telegram reads %q, %v; want %q", text, err, visible)
			}
		})
	}
}

func TestRenderBarsAWideTable(t *testing.T) {
	wide := strings.Repeat("x", 60)
	html, _ := telegram.Render("| " + wide + " | b |\n|-|-|\n| " + wide + " | d |")
	if want := wide + " | d"; !strings.Contains(html, want) {
		t.Errorf("got %q", html)
	}
	// A wide cell in a long table must not blow every row up.
	long := "| " + strings.Repeat("y", 1000) + " | b |\n|-|-|\n" + strings.Repeat("| a | b |\n", 500)
	if _, visible := telegram.Render(long); len(visible) > len(long) {
		t.Errorf("%d bytes became %d", len(long), len(visible))
	}
}

// writer makes random Markdown and notes the words that must be seen.
type writer struct {
	*rand.Rand
	words []string
}

func (w *writer) word() string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var b strings.Builder
	for range 1 + w.IntN(8) {
		b.WriteByte(letters[w.IntN(len(letters))])
	}
	word := []string{b.String(), b.String(), "三字" + b.String(), "😀" + b.String()}[w.IntN(4)]
	w.words = append(w.words, word)
	return word
}

func (w *writer) sentence() string {
	var b strings.Builder
	for range 1 + w.IntN(12) {
		mark := []string{"", "", "", "", "**", "*", "`", "~~", "_", "***"}[w.IntN(10)]
		b.WriteString(mark + w.word() + mark)
		b.WriteString([]string{" ", " ", " ", ", ", " < ", " & ", " > ", " [", " ] ", "\n", " <b> ", " \\* ", " * "}[w.IntN(13)])
	}
	return strings.TrimSpace(b.String())
}

func (w *writer) block() string {
	switch w.IntN(9) {
	case 0:
		return strings.Repeat("#", 1+w.IntN(6)) + " " + strings.ReplaceAll(w.sentence(), "\n", " ")
	case 1:
		return "```" + []string{"", "go", "c++"}[w.IntN(3)] + "\n" + w.word() + "\n\n  if (a < b && c) {\n" + w.word() + "\n```"
	case 2:
		return "- " + w.word() + "\n- " + w.word() + "\n  - " + w.word() + "\n    1. " + w.word()
	case 3:
		return "> " + w.word() + "\n> > " + w.word()
	case 4:
		return "| " + w.word() + " | " + w.word() + " |\n|---|---|\n| " + w.word() + " | " + w.word() + " |"
	case 5:
		return "[" + w.word() + "](https://e.org/a_b?c=d&e=\"f\")"
	case 6:
		return "1. " + w.word() + "\n\n   " + w.word() + "\n2. ![" + w.word() + "](x.png)"
	}
	return w.sentence()
}

func (w *writer) reply() string {
	w.words = nil
	var blocks []string
	for range 1 + w.IntN(12) {
		blocks = append(blocks, w.block())
	}
	return strings.Join(blocks, "\n\n")
}

// inOrder returns the first of the words that does not follow the ones before it, "" for none.
func inOrder(text string, words []string) string {
	for _, word := range words {
		i := strings.Index(text, word)
		if i < 0 {
			return word
		}
		text = text[i+len(word):]
	}
	return ""
}

func TestRandomRepliesAreTakenAndKeepTheirWords(t *testing.T) {
	w := &writer{Rand: rand.New(rand.NewPCG(1, 2))}
	for range 4000 {
		reply := w.reply()
		html, visible := telegram.Render(reply)
		text, _, err := telegramtest.ParseHTML(html)
		if err != nil || text != visible {
			t.Fatalf("%q\nbecame %q\nTelegram: %q, %v", reply, html, text, err)
		}
		if lost := inOrder(text, w.words); lost != "" {
			t.Fatalf("%q is lost of %q\nin %q", lost, reply, text)
		}
	}
}

func TestRandomLongRepliesAreSplitWithinTheLimit(t *testing.T) {
	w := &writer{Rand: rand.New(rand.NewPCG(3, 4))}
	c := telegram.New("telegram", telegram.Account{}, quiet())
	for range 25 {
		var long []string
		var words []string
		for range 40 {
			long = append(long, w.reply())
			words = append(words, w.words...)
		}
		var seen strings.Builder
		for _, p := range c.Split(channels.Reply{Text: strings.Join(long, "\n\n")}) {
			html, _ := telegram.Render(p.Text)
			text, _, err := telegramtest.ParseHTML(html)
			if err != nil || strings.TrimSpace(text) == "" || telegram.Units(text) > 4096 {
				t.Fatalf("part of %d units, %v: %q", telegram.Units(text), err, p.Text)
			}
			seen.WriteString(text + "\n")
		}
		if lost := inOrder(seen.String(), words); lost != "" {
			t.Fatalf("%q is lost", lost)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, text := range []string{
		"# a <b> & `c` **d** [e](http://f?g=\"h\") \n> > q\n\n```x\"y\nz\n```", "| a |\n|-|\n| `<` | b", "&#0; &#60; &lt; \x00\xff\r",
		"[![a](b)](http://c)", "<br>\n<!-- x -->\n<a href='", "1. a\n   - [ ] b\n\n     > c", "[a]: http://b\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		if len(markdown) > 8<<10 {
			return
		}
		html, visible := telegram.Render(markdown)
		text, _, err := telegramtest.ParseHTML(html)
		if err != nil || text != visible {
			t.Fatalf("%q\nbecame %q\nTelegram: %q, %v", markdown, html, text, err)
		}
	})
}
