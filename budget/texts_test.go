package budget_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A writer makes the texts of the golden set: sentences and code of ours from testdata/bank, and what machines say.
// The two halves of the set use different halves of the bank, so that nothing is judged that was fitted.
type writer struct {
	*rand.Rand
	bank  map[string][]string
	words []string
}

const seed = 20261130

func newWriter(t testing.TB, half int) *writer {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, uint64(half))), bank: map[string][]string{}}
	names, err := filepath.Glob("testdata/bank/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no bank: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		class, separator := strings.TrimSuffix(filepath.Base(name), ".txt"), "\n"
		if class == "go" {
			separator = "\n\n"
		}
		pieces := strings.Split(strings.TrimSpace(string(data)), separator)
		for i, p := range pieces {
			if i%2 == half {
				w.bank[class] = append(w.bank[class], p)
			}
		}
	}
	for _, s := range w.bank["english"] {
		for _, f := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if len(f) > 2 && !slices.Contains(w.words, f) {
				w.words = append(w.words, f)
			}
		}
	}
	return w
}

// classes are the kinds of text, with what writes the next piece of each.
var classes = map[string]func(*writer) string{
	"english": prose("english", " "), "german": prose("german", " "), "russian": prose("russian", " "),
	"chinese": prose("chinese", ""), "japanese": prose("japanese", ""), "korean": prose("korean", " "),
	"arabic": prose("arabic", " "), "hindi": prose("hindi", " "), "thai": prose("thai", " "),
	"others": prose("others", "\n"), "go": prose("go", "\n\n"),
	"json": (*writer).json, "json-indented": (*writer).indentedJSON, "schema": (*writer).schema,
	"log": (*writer).log, "listing": (*writer).listing, "numbers": (*writer).numbers, "urls": (*writer).url,
	"hex": (*writer).hex, "uuids": (*writer).uuid, "base64": (*writer).base64, "emoji": (*writer).emoji,
	"indented": (*writer).indented, "chat": (*writer).chat, "results": (*writer).result,
}

// write makes a text of a class with about so many bytes, cut at a character.
func (w *writer) write(class string, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(classes[class](w))
	}
	return strings.ToValidUTF8(b.String()[:bytes], "")
}

func prose(class, end string) func(*writer) string {
	return func(w *writer) string { return w.one(w.bank[class]) + end }
}

func (w *writer) one(list []string) string { return list[w.IntN(len(list))] }
func (w *writer) word() string             { return w.one(w.words) }

func (w *writer) title() string {
	s := w.word()
	return strings.ToUpper(s[:1]) + s[1:]
}

func (w *writer) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.IntN(256))
	}
	return b
}

func (w *writer) at() time.Time {
	return time.Date(2026, 1, 1, 0, 0, w.IntN(30_000_000), w.IntN(1_000_000_000), time.UTC)
}

// name makes an identifier in one of the usual spellings.
func (w *writer) name() string {
	switch w.IntN(5) {
	case 0:
		return w.word() + "_" + w.word()
	case 1:
		return w.word() + w.title()
	case 2:
		return w.title() + w.title()
	case 3:
		return strings.ToUpper(w.word()) + "_" + strings.ToUpper(w.word())
	}
	return w.word()
}

func (w *writer) value(depth int) any {
	switch k := w.IntN(11); {
	case k < 2:
		return w.IntN(100_000)
	case k == 2:
		return float64(w.IntN(1_000_000)) / 1000
	case k == 3:
		return w.IntN(2) == 0
	case k == 4:
		return w.at().Format(time.RFC3339)
	case k == 5:
		return strings.TrimSpace(w.one(w.bank["english"]))
	case k == 6:
		return "/" + w.word() + "/" + w.name() + "/" + w.word() + ".json"
	case k == 7 && depth < 3:
		return []any{w.value(depth + 1), w.value(depth + 1), w.value(depth + 1)}
	case k < 10 && depth < 3:
		return w.object(depth + 1)
	}
	return w.word()
}

func (w *writer) object(depth int) map[string]any {
	m := map[string]any{}
	for range 3 + w.IntN(4) {
		m[w.name()] = w.value(depth)
	}
	return m
}

func (w *writer) json() string {
	b, _ := json.Marshal(w.object(0))
	return string(b) + "\n"
}

func (w *writer) indentedJSON() string {
	b, _ := json.MarshalIndent(w.object(0), "", w.one([]string{"  ", "  ", "    ", "\t"}))
	return string(b) + "\n"
}

func (w *writer) schema() string {
	properties := map[string]any{}
	var required []string
	for range 1 + w.IntN(4) {
		p := map[string]any{"type": w.one([]string{"string", "integer", "number", "boolean"})}
		if w.IntN(2) == 0 {
			p["description"] = w.title() + " " + w.word() + " of the " + w.word()
		}
		if w.IntN(4) == 0 {
			p = map[string]any{"type": "string", "enum": []string{w.word(), w.word(), w.word()}}
		}
		name := w.one([]string{w.word(), w.word() + "_" + w.word()})
		properties[name] = p
		required = append(required, name)
	}
	b, _ := json.Marshal(struct {
		Name   string         `json:"name"`
		Doc    string         `json:"description"`
		Schema map[string]any `json:"parameters"`
	}{w.word() + "_" + w.word(), w.one(w.bank["english"]), map[string]any{"type": "object", "properties": properties, "required": required[:1]}})
	return string(b) + w.one([]string{"\n", ","})
}

func (w *writer) log() string {
	at, level := w.at(), w.one([]string{"INFO", "WARN", "ERROR", "DEBUG"})
	switch w.IntN(5) {
	case 0:
		return fmt.Sprintf("%s %s [%s] %s %s took %dms\n", at.Format("2006-01-02 15:04:05.000"), level, w.word(), w.word(), w.word(), w.IntN(5000))
	case 1:
		return fmt.Sprintf("time=%s level=%s msg=\"%s %s %s\" turn=%d tokens=%d\n", at.Format(time.RFC3339Nano), level, w.word(), w.word(), w.word(), w.IntN(999), w.IntN(9999))
	case 2:
		return fmt.Sprintf("%s %s %s[%d]: %s %s 0x%08x at %d.%06d\n", at.Format(time.Stamp), w.word(), w.word(), w.IntN(32768), w.word(), w.word(), w.Uint32(), w.IntN(9999), w.IntN(1e6))
	case 3:
		return fmt.Sprintf("192.168.%d.%d - - [%s] \"GET /%s/%s?id=%d HTTP/1.1\" %d %d\n", w.IntN(256), w.IntN(256), at.Format("02/Jan/2006:15:04:05 -0700"), w.word(), w.word(), w.IntN(99999), w.one2(200, 404), w.IntN(50000))
	}
	return fmt.Sprintf("[%12.6f] %s %d-%d:%d.0: %s %s, %s (%d)\n", float64(w.IntN(1e9))/1e4, w.word(), w.IntN(9), w.IntN(9), w.IntN(4), w.word(), w.word(), w.word(), w.IntN(300)-150)
}

func (w *writer) one2(a, b int) int { return []int{a, b}[w.IntN(2)] }

func (w *writer) listing() string {
	mode := w.one([]string{"-rw-r--r--", "drwxr-xr-x", "-rwxr-xr-x", "-rw-------", "lrwxrwxrwx"})
	return fmt.Sprintf("%s %2d %-8s %-8s %8d %s %s.%s\n", mode, 1+w.IntN(20), w.one([]string{"root", "pi", "ana"}), w.one([]string{"root", "users", "gpio"}),
		w.IntN(1<<w.IntN(27)), w.at().Format("Jan _2 15:04"), w.name(), w.one([]string{"go", "txt", "md", "json", "log", "jpg"}))
}

func (w *writer) numbers() string {
	switch w.IntN(4) {
	case 0:
		return fmt.Sprintf("%d %d %d %d\n", w.IntN(10), w.IntN(100), w.IntN(10000), w.IntN(1e6))
	case 1:
		return fmt.Sprintf("%.2f;%.3f;-%.1f;%d\n", w.Float64()*100, w.Float64()*10, w.Float64()*1000, w.IntN(50))
	case 2:
		return fmt.Sprintf("%8d\t%8.2f\t%6d%%\n", w.IntN(1e6), w.Float64()*1000, w.IntN(100))
	}
	return fmt.Sprintf("%d, ", w.IntN(1<<w.IntN(31)))
}

func (w *writer) url() string {
	s := "https://" + w.one([]string{"", "www.", "api."}) + w.word() + w.one([]string{"", "-" + w.word()}) + "." + w.one([]string{"com", "org", "io", "de"})
	for range w.IntN(4) {
		s += "/" + w.one([]string{w.word(), w.word() + "-" + w.word(), fmt.Sprint(w.IntN(10000))})
	}
	if w.IntN(2) == 0 {
		s += fmt.Sprintf("?%s=%d&%s=%s", w.word(), w.IntN(1e6), w.word(), hex.EncodeToString(w.random(4)))
	}
	return s + "\n"
}

func (w *writer) hex() string {
	s := hex.EncodeToString(w.random(w.one2(20, 32)))
	switch w.IntN(4) {
	case 0:
		s = strings.ToUpper(s)
	case 1:
		return fmt.Sprintf("%08x: % x\n", w.IntN(1<<20), w.random(16))
	}
	return s + "\n"
}

func (w *writer) uuid() string {
	b := w.random(16)
	return fmt.Sprintf("%x-%x-%x-%x-%x%s", b[:4], b[4:6], b[6:8], b[8:10], b[10:], w.one([]string{"\n", ",", " "}))
}

func (w *writer) base64() string {
	return base64.StdEncoding.EncodeToString(w.random(w.one2(57, 57*4))) + "\n"
}

func (w *writer) emoji() string {
	list := []string{"😀", "😂", "👍🏽", "🎉", "❤️", "👩‍💻", "🌧️", "🔥", "🐝", "🇩🇪", "✅", "🚲", "🏠", "🤖", "☕", "🙏", "🥖", "1️⃣", "👨‍👩‍👧", "🛠️", "🍅", "⛴️", "🎺", "⚡"}
	s := ""
	for range 1 + w.IntN(6) {
		s += w.one(list)
	}
	return s + w.one([]string{" ", "", "\n", " " + w.word() + " "})
}

func (w *writer) indented() string {
	unit := w.one([]string{"    ", "  ", "\t"})
	var b strings.Builder
	for depth := range 2 + w.IntN(6) {
		in := strings.Repeat(unit, depth)
		switch w.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "%sfor %s in self.%s(%s):\n", in, w.word(), w.word(), w.name())
		case 1:
			fmt.Fprintf(&b, "%sif (%s.%s !== null) {\n", in, w.word(), w.name())
		case 2:
			fmt.Fprintf(&b, "%s%s = %s(%s, %d)\n", in, w.name(), w.word(), w.word(), w.IntN(100))
		case 3:
			fmt.Fprintf(&b, "%s<div class=\"%s-%s\">%s</div>\n", in, w.word(), w.word(), w.title())
		}
	}
	for depth := 3; depth >= 0; depth-- {
		b.WriteString(strings.Repeat(unit, depth) + w.one([]string{"}\n", "return " + w.word() + "\n", "\n"}))
	}
	return b.String()
}

// chat makes a message of a conversation, mostly of the languages that a board's owner may speak.
func (w *writer) chat() string {
	language := w.one([]string{"english", "english", "english", "german", "chinese", "chinese", "russian", "japanese", "others"})
	text := w.one(w.bank[language])
	if w.IntN(3) == 0 {
		text += " " + w.one(w.bank[language])
	}
	switch w.IntN(12) {
	case 0:
		text += " " + strings.TrimSpace(w.url())
	case 1:
		text += " " + w.emoji()
	case 2:
		text = "**" + w.title() + "**\n- " + w.one(w.bank[language]) + "\n- `" + w.name() + "`: " + fmt.Sprint(w.IntN(1000)) + "\n"
	case 3:
		text += "\n```\n" + w.indented() + "```"
	}
	return fmt.Sprintf("[%s · %s · telegram] %s\n", w.at().Format("Mon 2 Jan 15:04"), w.title(), text)
}

// result makes a piece of what tools return.
func (w *writer) result() string {
	switch w.IntN(7) {
	case 0:
		return fmt.Sprintf("temperature %.1f °C, humidity %d %%, pressure %.1f hPa at %s\n", w.Float64()*40, w.IntN(100), 950+w.Float64()*80, w.at().Format("15:04:05"))
	case 1:
		return w.listing() + w.listing() + w.listing()
	case 2:
		return w.json()
	case 3:
		return fmt.Sprintf("wrote %d bytes to %s/%s.md\n", w.IntN(9000), w.word(), w.name())
	case 4:
		return "# " + w.title() + "\n\n" + w.one(w.bank["english"]) + "\n\n| " + w.word() + " | " + w.word() + " |\n| --- | --- |\n| " + fmt.Sprint(w.IntN(100)) + " | " + w.word() + " |\n"
	case 5:
		return fmt.Sprintf("error: open /home/pi/%s/%s.log: no such file or directory (exit status %d)\n", w.word(), w.name(), w.IntN(3))
	}
	return w.log() + w.log()
}
