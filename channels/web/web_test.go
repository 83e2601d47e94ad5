package web_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pinch/channels"
	"pinch/channels/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func at(chat string) channels.Address { return channels.Address{Channel: "console", Chat: chat} }

// last is the whole reply to a message.
func last(id int64, text string, answers ...string) channels.Part {
	return channels.Part{ID: id, Address: at("main"), Text: text, Last: true, Answers: answers}
}

func message(id, text string) channels.Message {
	return channels.Message{ID: id, Conversation: "main", Name: "ann", Text: text}
}

// run starts a channel; taken gets the inbounds of each batch. The channel ends with the test.
func run(t *testing.T) (c *web.Channel, taken chan channels.Inbound) {
	t.Helper()
	c, taken = web.New("console"), make(chan channels.Inbound, 64)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, func(_ context.Context, batch []channels.Inbound) error {
			for _, in := range batch {
				taken <- in
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return c, taken
}

// talker is what a Channel and a Client have in common.
type talker interface {
	Say(ctx context.Context, m channels.Message, show func(channels.Event)) error
}

// saying is a Say that runs.
type saying struct {
	events chan channels.Event
	ended  chan error
}

// say begins a Say. Its events must be taken.
func say(ctx context.Context, to talker, m channels.Message) saying {
	s := saying{make(chan channels.Event, 1024), make(chan error, 1)}
	go func() { s.ended <- to.Say(ctx, m, func(e channels.Event) { s.events <- e }) }()
	return s
}

// texts waits for the end and returns the texts of the parts, and the streamed text.
func (s saying) texts(t *testing.T) (parts []string, streamed string) {
	t.Helper()
	if err := <-s.ended; err != nil {
		t.Fatalf("Say: %v", err)
	}
	close(s.events)
	for e := range s.events {
		if e.Part != nil {
			parts = append(parts, e.Part.Text)
		} else {
			streamed += e.Progress.Text
		}
	}
	return parts, streamed
}

// failure is what a failed Send means; nil for one that did not fail.
func failure(err error) *channels.SendError {
	if err == nil {
		return nil
	}
	return channels.FailureOf(err)
}

func mustSend(t *testing.T, c *web.Channel, p channels.Part) {
	t.Helper()
	if _, err := c.Send(t.Context(), p); err != nil {
		t.Fatalf("Send %q: %v", p.Text, err)
	}
}

func TestSayShowsItsTurnAndWhatCameBefore(t *testing.T) {
	c, taken := run(t)
	s := say(t.Context(), c, message("m2", "hello"))
	in := <-taken
	if in.Channel != "console" || in.Event != "m2" || in.Message != "m2" || in.Sender.ID != "owner" ||
		in.Sender.Name != "ann" || in.Chat != (channels.Chat{ID: "main", Kind: channels.Private}) || in.Text != "hello" ||
		in.Kind != channels.KindMessage || !in.Mentioned || in.At.IsZero() {
		t.Errorf("inbound: %+v", in)
	}
	mustSend(t, c, last(1, "an old reply", "m1"))
	c.Show(at("other"), channels.Progress{Phase: channels.Writing, Text: "not for us"})
	c.Show(at("main"), channels.Progress{Phase: channels.Writing, Text: "Hel"})
	c.Show(at("main"), channels.Progress{Phase: channels.Writing, Text: "lo"})
	mustSend(t, c, last(2, "Hello!", "m2"))
	parts, streamed := s.texts(t)
	if !slices.Equal(parts, []string{"an old reply", "Hello!"}) || streamed != "Hello" {
		t.Errorf("parts %q, streamed %q", parts, streamed)
	}
}

func TestSayGivesMessagesTheirOwnIDs(t *testing.T) {
	c, taken := run(t)
	ids := map[string]bool{}
	for range 3 {
		s := say(t.Context(), c, message("", "hi"))
		in := <-taken
		ids[in.Event] = true
		mustSend(t, c, last(0, "yes", in.Message))
		s.texts(t)
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("ids: %v", ids)
	}
}

func TestSayEndsWithATurnThatSaysNothing(t *testing.T) {
	c, taken := run(t)
	s := say(t.Context(), c, message("m1", "hush"))
	<-taken
	c.Show(at("main"), channels.Progress{Phase: channels.Done, Answers: []string{"m0"}})
	c.Show(at("main"), channels.Progress{Phase: channels.Done, Answers: []string{"m1"}})
	if parts, _ := s.texts(t); parts != nil {
		t.Errorf("parts %q", parts)
	}
}

func TestSendWaitsForThePersonWhereNobodyListens(t *testing.T) {
	c, taken := run(t)
	reply := last(7, "here it is", "m1")
	if _, err := c.Send(t.Context(), reply); err == nil || failure(err).Failure != channels.WindowClosed {
		t.Fatalf("Send to nobody: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cut := make(chan error, 1)
	go func() { // a terminal that is killed while it shows the reply
		cut <- c.Say(ctx, message("m1", "go"), func(channels.Event) { cancel() })
	}()
	<-taken
	if _, err := c.Send(t.Context(), reply); err == nil || failure(err).Failure != channels.WindowClosed {
		t.Fatalf("Send to a terminal that went away: %v", err)
	}
	if err := <-cut; !errors.Is(err, context.Canceled) {
		t.Errorf("Say: %v", err)
	}

	s := say(t.Context(), c, message("m2", "are you there?"))
	<-taken
	mustSend(t, c, reply)
	mustSend(t, c, last(8, "I am", "m2"))
	if parts, _ := s.texts(t); !slices.Equal(parts, []string{"here it is", "I am"}) {
		t.Errorf("parts %q", parts)
	}
}

func TestSlowListenerBlocksNobodyAndMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, taken := run(t)
		first, wake := make(chan bool), make(chan bool)
		var parts []string
		var text strings.Builder
		ended := make(chan error, 1)
		go func() {
			ended <- c.Say(t.Context(), message("m1", "go"), func(e channels.Event) {
				if e.Progress != nil && e.Progress.Phase == channels.Waiting {
					first <- true
					<-wake
				} else if e.Progress != nil {
					text.WriteString(e.Progress.Text)
				} else {
					parts = append(parts, e.Part.Text)
				}
			})
		}()
		<-taken
		c.Show(at("main"), channels.Progress{Phase: channels.Waiting})
		<-first
		for range 5000 {
			c.Show(at("main"), channels.Progress{Phase: channels.Writing, Text: "x"})
		}
		for n := range 1000 { // phases that cannot be merged: some are dropped
			c.Show(at("main"), channels.Progress{Phase: []channels.Phase{channels.Using, channels.Reading}[n%2]})
		}
		reply := last(1, "done", "m1")
		began := time.Now()
		_, err := c.Send(t.Context(), reply)
		if f := failure(err); f == nil || f.Failure != channels.Temporary || time.Since(began) != 2*time.Second {
			t.Errorf("Send to a slow terminal: %v after %v", err, time.Since(began))
		}
		again := make(chan error, 1)
		go func() {
			_, err := c.Send(t.Context(), reply)
			again <- err
		}()
		synctest.Wait()
		close(wake)
		if err := <-again; err != nil {
			t.Errorf("the second Send: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Say: %v", err)
		}
		if !slices.Equal(parts, []string{"done"}) || text.Len() != 5000 {
			t.Errorf("parts %q, %d bytes streamed", parts, text.Len())
		}
	})
}

func TestPartThatWasShownLateIsNotShownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, taken := run(t)
		s := saying{make(chan channels.Event), make(chan error, 1)} // each event waits until it is taken
		go func() { s.ended <- c.Say(t.Context(), message("m2", "go"), func(e channels.Event) { s.events <- e }) }()
		<-taken
		old := last(1, "old", "m1")
		if _, err := c.Send(t.Context(), old); failure(err) == nil {
			t.Error("Send did not wait for the terminal")
		}
		<-s.events
		synctest.Wait()
		mustSend(t, c, old)
		sent := make(chan error, 1)
		go func() {
			_, err := c.Send(t.Context(), last(2, "new", "m2"))
			sent <- err
		}()
		if e := <-s.events; e.Part.Text != "new" {
			t.Errorf("shown twice: %q", e.Part.Text)
		}
		if err := errors.Join(<-sent, <-s.ended); err != nil {
			t.Error(err)
		}
	})
}

func TestSayEndsWithTheChannel(t *testing.T) {
	c := web.New("console")
	ctx, cancel := context.WithCancel(t.Context())
	early := say(t.Context(), c, message("m1", "before Run")) // it waits for Run
	taken, ended := make(chan bool), make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, func(_ context.Context, batch []channels.Inbound) error {
			if batch[0].Text == "bad" {
				return errors.New("disk full")
			}
			taken <- true
			return nil
		})
	}()
	<-taken
	if err := c.Say(t.Context(), message("m2", "bad"), func(channels.Event) {}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a message that was not taken: %v", err)
	}
	cancel()
	if err := <-early.ended; !errors.Is(err, web.ErrStopping) {
		t.Errorf("Say: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestSayGivesSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, taken := run(t)
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		signs := 0
		err := web.SayAlive(c, ctx, message("m1", "slow"), func(channels.Event) {}, func() { signs++ })
		<-taken
		if signs != 2 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d signs of life in 40 s, %v", signs, err)
		}
	})
}
