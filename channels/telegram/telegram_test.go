package telegram_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinch/agent/config"
	"pinch/channels"
	"pinch/channels/channeltest"
	"pinch/channels/telegram"
	"pinch/channels/telegram/telegramtest"
)

const (
	token = "4242:test-token"
	ana   = int64(5550001)
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func textLog(to *strings.Builder) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

func account(s *telegramtest.Server) telegram.Account {
	return telegram.Account{Token: config.NewSecret(token), URL: s.URL(), Poll: config.Duration(50 * time.Second)}
}

// platform is the fake server as the suite sees it.
type platform struct{ *telegramtest.Server }

func (p platform) Say(text string) { p.Server.Say(ana, ana, text) }

func (p platform) Heard(ctx context.Context, n int) ([]string, error) {
	sent, err := p.WaitSent(ctx, ana, n)
	var texts []string
	for _, m := range sent {
		texts = append(texts, m.Text)
	}
	return texts, err
}

func (p platform) Refuse(f channels.Failure) {
	fault := telegramtest.TooMany(3)
	if f == channels.Permanent {
		fault = telegramtest.Fault{Status: 403, Text: "Forbidden: bot was blocked by the user"}
	}
	p.Fail("sendMessage", 1, fault)
}

func TestSuite(t *testing.T) {
	channeltest.Suite(t, func(t *testing.T) (channels.Channel, channeltest.Platform) {
		s := telegramtest.New(token)
		t.Cleanup(s.Close)
		return telegram.New("telegram", account(s), quiet()), platform{s}
	})
}

// bench is a channel with its server, in a bubble of fake time.
type bench struct {
	*telegramtest.Server
	channel *telegram.Channel
	got     chan channels.Inbound
	refuse  int // batches that accept refuses
	log     *strings.Builder
}

// inBubble runs a test against a channel that is made but does not run yet.
func inBubble(t *testing.T, test func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{Server: telegramtest.NewPipe(token), got: make(chan channels.Inbound, 200), log: &strings.Builder{}}
		t.Cleanup(b.Close)
		b.channel = telegram.New("telegram", account(b.Server), textLog(b.log))
		b.channel.Dial(b.Dial)
		test(t, b)
	})
}

// run runs the channel until the test ends, or the returned function is called.
func (b *bench) run(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := b.channel.Run(ctx, b.accept); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

func (b *bench) accept(_ context.Context, batch []channels.Inbound) error {
	if b.refuse > 0 {
		b.refuse--
		return errors.New("the disk is full")
	}
	for _, in := range batch {
		b.got <- in
	}
	return nil
}

// after returns how long something takes.
func after(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}

func within(t *testing.T, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("took %v, want %v to %v", got, low, high)
	}
}

func TestConfirmsOnlyWhatIsAccepted(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.refuse = 5
		id := b.Say(ana, ana, "hello")
		stop := b.run(t)
		<-time.After(time.Second)
		if b.Confirmed(id) {
			t.Error("confirmed before it was accepted")
		}
		if in := <-b.got; in.Text != "hello" || in.Event != "700001" {
			t.Errorf("got %+v", in)
		}
		if err := b.WaitConfirmed(t.Context(), id); err != nil {
			t.Error(err)
		}
		stop()
		if polls := b.Calls("getUpdates"); polls[len(polls)-1].Params["offset"] != "700002" {
			t.Errorf("last poll %v", polls[len(polls)-1].Params)
		}
	})
}

func TestACrashBeforeTheNextPollOffersAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.Say(ana, ana, "hello")
		ctx, cancel := context.WithCancel(t.Context())
		if err := b.channel.Run(ctx, func(context.Context, []channels.Inbound) error { cancel(); return nil }); err != nil {
			t.Error(err)
		}
		b.run(t)
		if in := <-b.got; in.Text != "hello" || in.Event != "700001" {
			t.Errorf("got %+v", in)
		}
	})
}

func TestABadUpdateNeverHoldsUpOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.Say(ana, ana, "before")
		b.Push(`{"message":{"date":"SECRET","chat":{"id":1}}}`)
		b.Push(`{"message":{"date":1,"chat":{"id":1},"forward_origin":{"type":"SECRET"}}}`)
		b.Push(`{"message":{}}`)
		last := b.Say(ana, ana, "after")
		b.run(t)
		if err := b.WaitConfirmed(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for len(b.got) > 0 {
			texts = append(texts, (<-b.got).Text)
		}
		if texts[0] != "before" || texts[len(texts)-1] != "after" {
			t.Errorf("got %q", texts)
		}
		if n := strings.Count(b.log.String(), "skipped"); n != 2 || strings.Contains(b.log.String(), "SECRET") {
			t.Errorf("log: %s", b.log)
		}
	})
}

func TestStartsOfflineAndRecovers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for n := range 4 {
			b.Fail("getMe", n+1, telegramtest.Fault{Cut: true})
		}
		b.run(t)
		synctest.Wait()
		if !strings.HasPrefix(b.channel.State(), "offline: ") {
			t.Errorf("state %q", b.channel.State())
		}
		took := after(func() { b.Wait(t.Context(), func() bool { return len(b.Calls("getUpdates")) > 0 }) })
		within(t, took, time.Second, 1600*time.Millisecond) // 100 + 200 + 400 + 800 ms
		synctest.Wait()
		if b.channel.State() != "connected as @pinch_test_bot" {
			t.Errorf("state %q", b.channel.State())
		}
	})
}

func TestWaitsAfterFailures(t *testing.T) {
	for _, c := range []struct {
		name      string
		fault     telegramtest.Fault
		times     int
		low, high time.Duration // until the poll that succeeds
		state     string
	}{
		{"html page", telegramtest.BadGateway(), 3, 500 * time.Millisecond, 700 * time.Millisecond, "offline: "},
		{"dropped connection", telegramtest.Fault{Cut: true}, 9, 14 * time.Second, 23 * time.Second, "offline: "},
		{"garbage", telegramtest.Garbage(), 1, 0, 100 * time.Millisecond, "offline: "},
		{"hang", telegramtest.Fault{Hang: true}, 1, 60 * time.Second, 61 * time.Second, "offline: Telegram does not answer"},
		{"flood", telegramtest.TooMany(77), 1, 77 * time.Second, 78 * time.Second, "Telegram asks to wait for 1m17s"},
		{"conflict", telegramtest.Conflict(), 4, 60 * time.Second, 101 * time.Second, "another program polls"},
		{"token", telegramtest.Unauthorized(), 2, 135 * time.Second, 181 * time.Second, "token refused by Telegram: get a new one from @BotFather"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				for n := range c.times {
					b.Fail("getUpdates", n+1, c.fault)
				}
				b.run(t)
				polls := func(n int) func() bool { return func() bool { return len(b.Calls("getUpdates")) >= n } }
				b.Wait(t.Context(), polls(1))
				took := after(func() {
					b.Wait(t.Context(), polls(c.times))
					synctest.Wait()
					if c.fault.Hang {
						<-time.After(60*time.Second + time.Millisecond)
						synctest.Wait()
					}
					if !strings.HasPrefix(b.channel.State(), c.state) {
						t.Errorf("state %q", b.channel.State())
					}
					b.Wait(t.Context(), polls(c.times+1))
				})
				within(t, took, c.low, c.high)
				b.Say(ana, ana, "still here")
				if in := <-b.got; in.Text != "still here" {
					t.Errorf("got %+v", in)
				}
			})
		})
	}
}

func TestEndsAWebhook(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.run(t)
		b.Wait(t.Context(), func() bool { return len(b.Calls("getUpdates")) > 0 })
		b.SetWebhook("https://elsewhere")
		b.Say(ana, ana, "hello")
		if in := <-b.got; in.Text != "hello" {
			t.Errorf("got %+v", in)
		}
		for _, c := range b.Calls("deleteWebhook") {
			if c.Params["drop_pending_updates"] != "" {
				t.Error("drops what waits")
			}
		}
	})
}

func TestARepeatingServerIsNoBusyLoop(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		same := telegramtest.Fault{Status: 200, Body: `{"ok":true,"result":[{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"},"text":"x"}}]}`}
		for n := range 50 {
			b.Fail("getUpdates", n+1, same)
		}
		b.run(t)
		<-time.After(10 * time.Second)
		synctest.Wait()
		if n := len(b.Calls("getUpdates")); n > 12 || len(b.got) != 1 {
			t.Errorf("%d polls, %d inbounds", n, len(b.got))
		}
	})
}

func TestCheck(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		if text, err := b.channel.Check(t.Context()); err != nil || text != "connected as @pinch_test_bot" {
			t.Errorf("%q, %v", text, err)
		}
		b.Fail("getMe", 1, telegramtest.Fault{Hang: true})
		var err error
		within(t, after(func() { _, err = b.channel.Check(t.Context()) }), 10*time.Second, 10*time.Second)
		if err == nil || err.Error() != "offline: Telegram does not answer" {
			t.Errorf("hang: %v", err)
		}
		b.Revoke()
		if _, err := b.channel.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "@BotFather") {
			t.Errorf("revoked: %v", err)
		}
	})
}

func TestWithoutTokenItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a telegram.Account
		a.Default()
		if err := a.Token.UnmarshalText([]byte("env:PINCH_NO_SUCH_VARIABLE")); err != nil {
			t.Fatal(err)
		}
		c := telegram.New("telegram", a, quiet())
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		within(t, after(func() { c.Run(ctx, nil) }), time.Hour, time.Hour)
		if _, err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "PINCH_NO_SUCH_VARIABLE") {
			t.Errorf("Check: %v", err)
		}
		_, err := c.Send(t.Context(), channels.Part{Address: channels.Address{Chat: "1"}, Text: "x"})
		if err == nil || channels.FailureOf(err).Failure != channels.Temporary {
			t.Errorf("Send: %v", err)
		}
	})
}

func TestErrorsDoNotTellTheToken(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for n := range 3 {
			b.Fail("getMe", n+1, telegramtest.Fault{Cut: true})
			b.Fail("sendMessage", n+1, telegramtest.Fault{Cut: true})
		}
		_, checkErr := b.channel.Check(t.Context())
		_, sendErr := b.channel.Send(t.Context(), channels.Part{Address: channels.Address{Chat: "1"}, Text: "x"})
		b.run(t)
		<-time.After(time.Second)
		if all := checkErr.Error() + sendErr.Error() + b.channel.State() + b.log.String(); strings.Contains(all, "test-token") {
			t.Error(all)
		}
	})
}
