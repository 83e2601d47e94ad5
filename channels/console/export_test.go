package console

import (
	"io"

	"pinch/channels"
)

// Strip is a text in pieces without what a terminal would obey.
func Strip(pieces ...string) (text string) {
	var s stripper
	for _, p := range pieces {
		text += s.strip(p)
	}
	return text
}

// Screen shows events of the turn that answers message "m".
func Screen(out io.Writer, events ...channels.Event) {
	s := newScreen(out, "m", "en")
	for _, e := range events {
		s.show(e)
	}
	s.close("(no reply)", false)
}
