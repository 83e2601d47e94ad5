package channeltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"pinch/channels"
)

// Platform is the other end of a channel under test.
type Platform interface {
	// Say lets a person write to us in a private chat, always the same.
	Say(text string)
	// Heard waits until that person has got n messages and returns their texts, as a person reads them.
	Heard(ctx context.Context, n int) ([]string, error)
	// Refuse makes the next delivery fail in that way.
	Refuse(channels.Failure)
}

// Suite is what each channel must do. open makes a fresh channel with its platform and registers their cleanup.
func Suite(t *testing.T, open func(*testing.T) (channels.Channel, Platform)) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *fixture)
	}{
		{"keeps the order", testOrder},
		{"offers again what was not accepted", testOffersAgain},
		{"delivers parts", testDelivers},
		{"classifies failures", testFailures},
		{"shows without blocking", testShows},
		{"splits a long reply", testSplits},
	} {
		t.Run(c.name, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			t.Run("run", func(t *testing.T) {
				channel, platform := open(t)
				c.test(t, &fixture{channel: channel, Platform: platform})
			})
			goleak.VerifyNone(t, leaks)
		})
	}
}

// fixture is a running channel and what it has offered.
type fixture struct {
	Platform
	channel channels.Channel

	mu       sync.Mutex
	refusals int // batches to refuse before one is accepted
	offered  [][]channels.Inbound
	accepted chan channels.Inbound
}

// start runs the channel until the test ends, and checks that Run returns nil then.
func (f *fixture) start(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	f.accepted = make(chan channels.Inbound, 100)
	ended := make(chan error, 1)
	go func() { ended <- f.channel.Run(ctx, f.accept) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	return ctx
}

func (f *fixture) accept(_ context.Context, batch []channels.Inbound) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offered = append(f.offered, batch)
	if f.refusals > 0 {
		f.refusals--
		return errors.New("the disk is full")
	}
	for _, in := range batch {
		f.accepted <- in
	}
	return nil
}

func (f *fixture) next(ctx context.Context, t *testing.T) channels.Inbound {
	t.Helper()
	select {
	case in := <-f.accepted:
		return in
	case <-ctx.Done():
		t.Fatal("no inbound came")
		return channels.Inbound{}
	}
}

func testOrder(t *testing.T, f *fixture) {
	ctx := f.start(t)
	seen := map[string]bool{}
	for i := range 20 {
		f.Say(fmt.Sprint("message ", i))
	}
	for i := range 20 {
		in := f.next(ctx, t)
		if in.Text != fmt.Sprint("message ", i) || in.Kind != channels.KindMessage || seen[in.Event] {
			t.Fatalf("%d: got %+v", i, in)
		}
		seen[in.Event] = true
		if in.Channel != f.channel.Name() || in.Chat.Kind != channels.Private || in.Sender.ID == "" || in.Message == "" || in.At.IsZero() {
			t.Errorf("incomplete: %+v", in)
		}
	}
}

func testOffersAgain(t *testing.T, f *fixture) {
	f.refusals = 2
	f.Say("first")
	ctx := f.start(t)
	if in := f.next(ctx, t); in.Text != "first" {
		t.Errorf("got %q", in.Text)
	}
	f.Say("second")
	if in := f.next(ctx, t); in.Text != "second" {
		t.Errorf("got %q", in.Text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.offered) != 4 || !reflect.DeepEqual(f.offered[0], f.offered[1]) || !reflect.DeepEqual(f.offered[0], f.offered[2]) {
		t.Errorf("offered %+v", f.offered)
	}
}

// address learns where the person can be reached.
func (f *fixture) address(t *testing.T) (context.Context, channels.Address) {
	ctx := f.start(t)
	f.Say("hello")
	return ctx, f.next(ctx, t).Address()
}

func testDelivers(t *testing.T, f *fixture) {
	ctx, at := f.address(t)
	ids := map[string]bool{}
	want := []string{"one", "two < 3 & 4 > 3", "三"}
	for _, text := range want {
		id, err := f.channel.Send(ctx, channels.Part{Address: at, Text: text})
		if err != nil || id == "" || ids[id] {
			t.Fatalf("Send: %q, %v", id, err)
		}
		ids[id] = true
	}
	if got, err := f.Heard(ctx, len(want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("heard %q, %v", got, err)
	}
}

func testFailures(t *testing.T, f *fixture) {
	ctx, at := f.address(t)
	for _, failure := range []channels.Failure{channels.Permanent, channels.Temporary} {
		f.Refuse(failure)
		_, err := f.channel.Send(ctx, channels.Part{Address: at, Text: "lost"})
		if err == nil || channels.FailureOf(err).Failure != failure {
			t.Errorf("want failure %v, got %v", failure, err)
		}
	}
	if _, err := f.channel.Send(ctx, channels.Part{Address: at, Text: "arrives"}); err != nil {
		t.Errorf("after failures: %v", err)
	}
	if got, err := f.Heard(ctx, 1); err != nil || !reflect.DeepEqual(got, []string{"arrives"}) {
		t.Errorf("heard %q, %v", got, err)
	}
}

func testShows(t *testing.T, f *fixture) {
	shower, ok := f.channel.(channels.Shower)
	if !ok {
		t.Skip("shows nothing")
	}
	ctx, at := f.address(t)
	for range 1000 {
		shower.Show(at, channels.Progress{Phase: channels.Writing, Text: "x"})
	}
	shower.Show(at, channels.Progress{Phase: channels.Done})
	if _, err := f.channel.Send(ctx, channels.Part{Address: at, Text: "said"}); err != nil {
		t.Error(err)
	}
	if got, err := f.Heard(ctx, 1); err != nil || len(got) != 1 {
		t.Errorf("progress counts as delivery: %q, %v", got, err)
	}
}

func testSplits(t *testing.T, f *fixture) {
	splitter, ok := f.channel.(channels.Splitter)
	if !ok {
		t.Skip("has no limits")
	}
	ctx, at := f.address(t)
	text := strings.Repeat("A sentence with 三 and 😀 in it. ", 500)
	parts := splitter.Split(channels.Reply{Address: at, ReplyTo: "1", Text: text})
	if len(parts) < 2 || parts[0].ReplyTo != "1" || parts[1].ReplyTo != "" {
		t.Fatalf("%d parts: %+v", len(parts), parts)
	}
	for _, p := range parts {
		if p.Address != at {
			t.Errorf("part goes to %+v", p.Address)
		}
		if _, err := f.channel.Send(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	got, err := f.Heard(ctx, len(parts))
	if err != nil || strings.Join(strings.Fields(strings.Join(got, " ")), " ") != strings.TrimSpace(text) {
		t.Errorf("the person reads something else: %v", err)
	}
}
