package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/peterh/liner"

	"pinch/agent/command"
	"pinch/channels"
)

const (
	prompt   = "> "
	stopWait = 10 * time.Second // for the answer to a stop
)

var (
	earlier = channels.Phrase{EN: "(to an earlier message)", ZH: "（回复之前的消息）"}
	halting = channels.Phrase{EN: "(stopping; Ctrl-C again to wait no longer)", ZH: "（正在停止；再按 Ctrl-C 不再等待）"}
	silent  = channels.Phrase{EN: "(no reply)", ZH: "（没有回复）"}
	early   = channels.Phrase{EN: "(not waiting any longer; the reply comes with the next message)", ZH: "（不再等待，回复会随下一条消息显示）"}
)

// interact is the chat of a person at a terminal.
func interact(ctx context.Context, o Options, t Talker, c Caller) error {
	// From here on Ctrl-C ends nothing: the editor reads it as a key, and turn catches it.
	_, release := signal.NotifyContext(ctx, os.Interrupt)
	defer release()
	editor := liner.NewLiner()
	defer editor.Close()
	editor.SetMultiLineMode(true)
	h := history(o.History)
	if err := h.load(editor); err != nil {
		fmt.Fprintln(o.Err, err)
	}
	// While it waits for a key nothing can wake the editor, but the terminal must be usable when we are left.
	defer context.AfterFunc(ctx, func() { editor.Close() })()
	chat := chat{Options: o, talker: t, caller: c, name: login()}
	for ctx.Err() == nil {
		line, err := editor.Prompt(prompt)
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(o.Out)
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the terminal: %w", err)
		}
		line = strings.TrimSpace(line)
		if line == "" || ctx.Err() != nil {
			continue
		}
		editor.AppendHistory(line)
		if err := h.add(line); err != nil {
			fmt.Fprintln(o.Err, err)
		}
		chat.turn(ctx, line)
	}
	return nil
}

// chat is what every turn at a terminal needs.
type chat struct {
	Options
	talker Talker
	caller Caller
	name   string
}

// turn sends one message and shows what comes until its turn is over. The first Ctrl-C asks the agent to stop the
// turn, the second stops waiting for it.
func (c *chat) turn(ctx context.Context, text string) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	language := channels.Language(text)
	m := channels.Message{ID: rand.Text(), Conversation: c.Conversation, Name: c.name, Text: text}
	s := newScreen(c.Out, m.ID, language)
	done := onInterrupt(ctx, func(ctx context.Context) {
		defer onInterrupt(ctx, func(context.Context) { leave() })()
		s.note(halting.In(language))
		s.note(c.stop(ctx, language))
		<-ctx.Done()
	})
	err := c.talker.Say(ctx, m, s.show)
	leaving := ctx.Err() != nil
	leave()
	done()
	switch {
	case err == nil:
		s.close(silent.In(language), false)
	case leaving:
		s.close(early.In(language), true)
	default:
		s.close(err.Error(), true)
	}
}

// stop asks the agent to end the turn and returns what it says when that failed.
func (c *chat) stop(ctx context.Context, language string) string {
	limited, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	result, err := c.caller.Call(limited, command.Call{Name: "stop", Conversation: c.Key, Owner: true, Language: language})
	switch {
	case ctx.Err() != nil: // the turn is over
		return ""
	case err != nil:
		return err.Error()
	case result.Failed:
		return result.Text
	}
	return ""
}

// onInterrupt calls act at the next Ctrl-C. The returned function ends that and waits for an act that has begun.
func onInterrupt(ctx context.Context, act func(context.Context)) (end func()) {
	pressed, release := signal.NotifyContext(ctx, os.Interrupt)
	acted := make(chan struct{})
	cancel := context.AfterFunc(pressed, func() {
		defer close(acted)
		if ctx.Err() == nil {
			act(ctx)
		}
	})
	return func() {
		if !cancel() {
			<-acted
		}
		release()
	}
}
