package console

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"pinch/channels"
)

// beat is how often the status line moves.
const beat = 250 * time.Millisecond

// erase takes the status line away.
const erase = "\r\x1b[K"

var phases = map[channels.Phase]channels.Phrase{
	channels.Waiting: {EN: "waiting", ZH: "等待中"},
	channels.Reading: {EN: "reading", ZH: "阅读中"},
	channels.Writing: {EN: "writing", ZH: "书写中"},
	channels.Using:   {EN: "using", ZH: "使用"},
}

// screen shows one turn: a moving status line while nothing is said, and the text as it comes.
type screen struct {
	out      io.Writer
	id       string // of the message whose turn this is
	language string
	began    time.Time

	mu       sync.Mutex
	timer    *time.Timer // nil = closed
	progress channels.Progress
	open     bool   // the last line of text has no end yet, so there is no room for a status
	said     bool   // something of this turn was shown
	turn     string // whose text streamed is, by the ids that it answers
	streamed string // what was shown of a reply before its part came
	strip    stripper
}

// newScreen starts the status line of a turn.
func newScreen(out io.Writer, id, language string) *screen {
	s := &screen{out: out, id: id, language: language, began: time.Now(), turn: id}
	s.progress.Phase = channels.Waiting
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(beat, s.tick)
	return s
}

// tick moves the status line.
func (s *screen) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		return
	}
	s.status()
	s.timer.Reset(beat)
}

// status draws the status line where there is room.
func (s *screen) status() {
	if s.open {
		return
	}
	spent := time.Since(s.began)
	phrase, known := phases[s.progress.Phase]
	if !known {
		return
	}
	words := phrase.In(s.language)
	if s.progress.Percent > 0 {
		words += fmt.Sprintf(" %d %%", s.progress.Percent)
	}
	if s.progress.Detail != "" {
		words += fmt.Sprintf(" %.40s", strings.ReplaceAll(plain(s.progress.Detail), "\n", " "))
	}
	fmt.Fprintf(s.out, "%s%c %d s %s", erase, `|/-\`[spent/beat%4], int(spent.Seconds()), words)
}

// show takes what happens in the conversation.
func (s *screen) show(e channels.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Part != nil {
		s.begin(e.Part.Answers)
		s.finish(e.Part.Text)
		return
	}
	s.progress = *e.Progress
	if s.progress.Phase == channels.Writing && s.progress.Text != "" {
		s.begin(s.progress.Answers)
		s.write(s.progress.Text)
		s.streamed += s.progress.Text
		return
	}
	if s.progress.Phase == channels.Using {
		s.endLine()
	}
	s.status()
}

// begin makes room for text of a turn, and says so where it is not ours.
func (s *screen) begin(answers []string) {
	s.said = s.said || mine(answers, s.id)
	turn := strings.Join(answers, " ")
	if mine(answers, s.id) {
		turn = s.id
	}
	if turn == s.turn {
		return
	}
	s.endLine()
	s.turn, s.streamed, s.strip = turn, "", stripper{}
	if turn != s.id {
		s.line(earlier.In(s.language))
	}
}

// finish shows what of a part was not streamed before.
func (s *screen) finish(text string) {
	if rest, ok := strings.CutPrefix(text, s.streamed); ok {
		s.write(rest)
	} else if rest, ok := strings.CutPrefix(text, strings.TrimRight(s.streamed, " \n")); ok {
		s.write(rest)
	} else if rest, ok := strings.CutPrefix(s.streamed, strings.TrimRight(text, " \n")); ok { // more parts follow
		s.streamed = strings.TrimLeft(rest, " \n")
		if s.streamed != "" {
			return
		}
	} else {
		s.endLine()
		s.write(text)
	}
	s.streamed = ""
	s.endLine()
}

// write puts text on the screen, without what a terminal would obey.
func (s *screen) write(text string) {
	text = s.strip.strip(text)
	if text == "" {
		return
	}
	if !s.open {
		text = erase + text
	}
	fmt.Fprint(s.out, text)
	s.open = !strings.HasSuffix(text, "\n")
}

func (s *screen) endLine() {
	if s.open {
		fmt.Fprintln(s.out)
		s.open = false
	}
}

// line puts a sentence of ours on a line of its own.
func (s *screen) line(text string) {
	s.endLine()
	fmt.Fprint(s.out, erase, plain(text), "\n")
}

// note shows a sentence beside the reply; "" is none.
func (s *screen) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != "" && s.timer != nil {
		s.line(text)
	}
}

// close ends the turn with a sentence, where there is anything to say: a turn that failed, or said nothing.
func (s *screen) close(text string, always bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Stop()
	s.timer = nil
	if always || !s.said {
		s.line(text)
	}
	s.endLine()
	fmt.Fprint(s.out, erase, "\n")
}
