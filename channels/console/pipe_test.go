package console_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"pinch/agent/command"
	"pinch/channels"
	"pinch/channels/console"
)

// scripted is a Talker that answers by a function, and a Caller that notes what it is asked.
type scripted struct {
	answer func(ctx context.Context, m channels.Message, show func(channels.Event)) error
	heard  []channels.Message
	calls  chan command.Call
}

func (s *scripted) Say(ctx context.Context, m channels.Message, show func(channels.Event)) error {
	s.heard = append(s.heard, m)
	return s.answer(ctx, m, show)
}

func (s *scripted) Call(_ context.Context, c command.Call) (command.Result, error) {
	s.calls <- c
	return command.Result{Text: "ok"}, nil
}

func part(text string, answers ...string) channels.Event {
	return channels.Event{Part: &channels.Part{Text: text, Last: len(answers) > 0, Answers: answers}}
}

func writing(text string) channels.Event {
	return channels.Event{Progress: &channels.Progress{Phase: channels.Writing, Text: text}}
}

// echo answers each message in two parts.
func echo(_ context.Context, m channels.Message, show func(channels.Event)) error {
	show(channels.Event{Progress: &channels.Progress{Phase: channels.Reading}})
	show(writing("You"))
	show(part("You said \x1b[31m"+m.Text, m.ID))
	e := part("ok?", m.ID)
	e.Part.About = &channels.About{Model: "local", Prompt: 100, Cached: 90, Reply: 7}
	show(e)
	return nil
}

// piped runs a chat with this input and returns what it prints.
func piped(t *testing.T, s *scripted, in io.Reader, json bool) (out, aside string, err error) {
	t.Helper()
	var o, e strings.Builder
	err = console.Run(t.Context(), console.Options{In: in, Out: &o, Err: &e, JSON: json, Conversation: "work"}, s, s)
	return o.String(), e.String(), err
}

func TestPipedLinesAreMessages(t *testing.T) {
	s := &scripted{answer: echo}
	out, aside, err := piped(t, s, strings.NewReader("one\r\n\n   \n二\xff"), false)
	if want := "You said one\nok?\n\nYou said 二\uFFFD\nok?\n\n"; out != want || aside != "" || err != nil {
		t.Errorf("%q, aside %q, %v", out, aside, err)
	}
	if len(s.heard) != 2 || s.heard[0].Conversation != "work" || s.heard[0].ID == s.heard[1].ID || s.heard[0].ID == "" {
		t.Errorf("heard %+v", s.heard)
	}
}

func TestPipedRepliesAsJSON(t *testing.T) {
	out, _, err := piped(t, &scripted{answer: echo}, strings.NewReader("one\n"), true)
	want := `{"reply":"You said \u001b[31mone\nok?","model":"local","usage":{"prompt":100,"cached":90,"reply":7},"left_out":[]}` + "\n"
	if out != want || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	silent := &scripted{answer: func(context.Context, channels.Message, func(channels.Event)) error { return nil }}
	out, _, err = piped(t, silent, strings.NewReader("one\n"), true)
	if want := `{"reply":"","model":"","usage":{"prompt":0,"cached":0,"reply":0},"left_out":[]}` + "\n"; out != want || err != nil {
		t.Errorf("%s, %v", out, err)
	}
}

func TestPipedOutputHasOnlyRepliesToItsLines(t *testing.T) {
	s := &scripted{answer: func(_ context.Context, m channels.Message, show func(channels.Event)) error {
		show(part("to yesterday", "m0"))
		show(part("by the way"))
		show(part("to you", m.ID))
		return nil
	}}
	out, aside, err := piped(t, s, strings.NewReader("hi\n"), false)
	if out != "to you\n\n" || aside != "(to an earlier message)\nto yesterday\n\nby the way\n\n" || err != nil {
		t.Errorf("%q, aside %q, %v", out, aside, err)
	}
}

func TestPipedLinesHaveABound(t *testing.T) {
	s := &scripted{answer: func(_ context.Context, m channels.Message, show func(channels.Event)) error {
		show(part("ok", m.ID))
		return nil
	}}
	most := strings.Repeat("x", 1<<20-2)
	if out, _, err := piped(t, s, strings.NewReader(most+"\n"), false); out != "ok\n\n" || err != nil || s.heard[0].Text != most {
		t.Errorf("a line of 1 MB: %q, %v", out, err)
	}
	if _, _, err := piped(t, s, strings.NewReader(most+"xxx\n"), false); err == nil || !strings.Contains(err.Error(), "longer than 1 MB") {
		t.Errorf("a longer line: %v", err)
	}
}

// broken fails on every write and, after some text, on every read.
type broken struct{ text io.Reader }

func (b broken) Read(p []byte) (int, error) {
	if n, err := b.text.Read(p); err == nil {
		return n, nil
	}
	return 0, errors.New("the cable is out")
}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is closed") }

func TestPipedFailures(t *testing.T) {
	fails := &scripted{answer: func(context.Context, channels.Message, func(channels.Event)) error {
		return errors.New("pinch is stopping")
	}}
	if _, _, err := piped(t, fails, strings.NewReader("\none\ntwo\n"), false); err == nil || err.Error() != "line 2: pinch is stopping" || len(fails.heard) != 1 {
		t.Errorf("a turn that fails: %v", err)
	}
	if _, _, err := piped(t, &scripted{answer: echo}, broken{strings.NewReader("one\n")}, false); err == nil || !strings.Contains(err.Error(), "the cable is out") {
		t.Errorf("an input that fails: %v", err)
	}
	o := console.Options{In: strings.NewReader("one\n"), Out: broken{}, Err: io.Discard}
	if err := console.Run(t.Context(), o, &scripted{answer: echo}, nil); err == nil || !strings.Contains(err.Error(), "the pipe is closed") {
		t.Errorf("an output that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.In = strings.NewReader("one\n")
	s := &scripted{answer: echo}
	if err := console.Run(ctx, o, s, nil); !errors.Is(err, context.Canceled) || len(s.heard) != 0 {
		t.Errorf("a chat that was ended: %v", err)
	}
}
