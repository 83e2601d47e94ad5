package prompt

import (
	"strings"
	"time"

	"pinch/channels"
)

// Header is what stands in brackets before the text of a message. Empty fields are left out.
type Header struct {
	Time    time.Time // shown in its own location; the caller converts
	Sender  string
	Channel string   // "telegram/ACCOUNT" shows as telegram
	Forward string   // original sender of a forwarded message
	Notes   []string // recalled notes and warnings for this message, one a line
}

// The most tokens' worth of runes of a quote, and of one attachment's description.
const (
	quoteLength = 240
	fileLength  = 120
)

// Envelope renders a message of a person as the model sees it, and as it is stored:
//
//	[Mon 2 Mar 14:05 · Ana · telegram] text
//
// then come lines of their own for the message that it answers, for recalled notes and for attachments. Everything
// from outside is defused here; callers give it raw.
func Envelope(h Header, quote *channels.Quote, files []string, text string) string {
	var b strings.Builder
	if head := headerLine(h); head != "" {
		b.WriteString("[" + head + "]")
	}
	line := func(s string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	for _, note := range h.Notes {
		line("[note: " + oneLine(note, quoteLength) + "]")
	}
	if quote != nil && strings.TrimSpace(quote.Text) != "" {
		who := strings.TrimRight("answers "+strings.Trim(DefuseName(quote.Sender), ":： "), " ")
		line("[" + who + `: "` + oneLine(quote.Text, quoteLength) + `"]`)
	}
	if len(files) > 0 {
		names := make([]string, len(files))
		for i, f := range files {
			names[i] = oneLine(f, fileLength)
		}
		line("[files: " + strings.Join(names, "; ") + "]")
	}
	text = strings.TrimSpace(Defuse(text))
	switch {
	case text == "":
	case strings.Contains(b.String(), "\n"):
		line(text)
	case b.Len() > 0:
		b.WriteString(" " + text)
	default:
		b.WriteString(text)
	}
	return b.String()
}

func headerLine(h Header) string {
	var parts []string
	if !h.Time.IsZero() {
		parts = append(parts, h.Time.Format("Mon 2 Jan 15:04"))
	}
	if name := DefuseName(h.Sender); name != "" {
		parts = append(parts, name)
	}
	channel, _, _ := strings.Cut(h.Channel, "/")
	if channel = DefuseName(channel); channel != "" {
		parts = append(parts, channel)
	}
	if name := DefuseName(h.Forward); name != "" {
		parts = append(parts, "forwarded from "+name)
	}
	return strings.Join(parts, " · ")
}

// oneLine defuses a text for a place inside brackets, in one line of at most max runes.
func oneLine(s string, max int) string {
	s = strings.NewReplacer("[", "(", "]", ")").Replace(Defuse(s))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > max {
		s = string(runes[:max-1]) + "…"
	}
	return s
}
