package telegram_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinch/agent/config"
	"pinch/channels"
	"pinch/channels/telegram"
	"pinch/channels/telegram/telegramtest"
)

const lab = int64(-100123)

func part(chat int64, text string) channels.Part {
	return channels.Part{Address: channels.Address{Channel: "telegram", Chat: strconv.FormatInt(chat, 10)}, Text: text}
}

func topic(p channels.Part, id string) channels.Part {
	p.Address.Topic = id
	return p
}

// send sends a part that must arrive and returns it as the person sees it.
func (b *bench) send(t *testing.T, p channels.Part, chat int64) telegramtest.Message {
	t.Helper()
	id, err := b.channel.Send(t.Context(), p)
	sent := b.Sent(chat)
	if err != nil || len(sent) == 0 || id != strconv.FormatInt(sent[len(sent)-1].ID, 10) {
		t.Fatalf("Send: %q, %v; sent %+v", id, err, sent)
	}
	return sent[len(sent)-1]
}

func TestSendsFormattedText(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.AddChat(ana)
		m := b.send(t, part(ana, "**bold** & `code`"), ana)
		want := []telegramtest.Entity{{Type: "b", Offset: 0, Length: 4}, {Type: "code", Offset: 7, Length: 4}}
		if m.Text != "bold & code" || m.Mode != "HTML" || !slices.Equal(m.Entities, want) {
			t.Errorf("got %+v", m)
		}
		if p := b.Calls("sendMessage")[0].Params; p["link_preview_options"] != `{"is_disabled":true}` || p["reply_parameters"] != "" {
			t.Errorf("params %v", p)
		}
	})
}

func TestSendsPlainTextWhenTheMarkupIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.AddChat(ana)
		refusal := telegramtest.Fault{Status: 400, Text: "Bad Request: can't parse entities: Unsupported start tag \"x\" at byte offset 0"}
		b.Fail("sendMessage", 1, refusal)
		if m := b.send(t, part(ana, "**bold** [x](http://e.org)"), ana); m.Text != "**bold** [x](http://e.org)" || m.Mode != "" {
			t.Errorf("got %+v", m)
		}
		b.Fail("sendMessage", 1, refusal)
		if m := b.send(t, part(ana, "x"+strings.Repeat(" **b**", 1000)), ana); !strings.HasPrefix(m.Text, "x b b") {
			t.Errorf("a long one: %.40q", m.Text)
		}
		b.Fail("sendMessage", 1, refusal)
		b.Fail("sendMessage", 2, refusal)
		if _, err := b.channel.Send(t.Context(), part(ana, "x")); err == nil || channels.FailureOf(err).Failure != channels.Permanent {
			t.Errorf("refused twice: %v", err)
		}
		if n := len(b.Calls("sendMessage")); n != 6 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestSendsWhatShowsNothingAsItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.AddChat(ana)
		if m := b.send(t, part(ana, "[a]: http://e.org"), ana); m.Text != "[a]: http://e.org" {
			t.Errorf("got %+v", m)
		}
	})
}

func TestReplies(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.Say(ana, ana, "question")
		p := part(ana, "answer")
		p.ReplyTo = "1"
		if m := b.send(t, p, ana); m.ReplyTo != 1 {
			t.Errorf("got %+v", m)
		}
		p.ReplyTo = "999"
		if m := b.send(t, p, ana); m.ReplyTo != 0 {
			t.Errorf("to a message that is gone: %+v", m)
		}
	})
}

func TestTopicsOfAForum(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.Push(`{"message":{"date":1,` + forum + `,"is_topic_message":true,"message_thread_id":7,"text":"x"}}`)
		if m := b.send(t, topic(part(lab, "in it"), "7"), lab); m.Thread != 7 {
			t.Errorf("got %+v", m)
		}
		if m := b.send(t, topic(part(lab, "general"), "1"), lab); m.Thread != 0 {
			t.Errorf("general: %+v", m)
		}
		b.DeleteTopic(lab, 7)
		if m := b.send(t, topic(part(lab, "gone"), "7"), lab); m.Thread != 0 {
			t.Errorf("deleted: %+v", m)
		}
	})
}

func TestFollowsAMigration(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.Migrate(-5, -100999000111222)
		if m := b.send(t, part(-5, "hello"), -100999000111222); m.Text != "hello" {
			t.Errorf("got %+v", m)
		}
	})
}

func TestSendFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		fault   telegramtest.Fault
		failure channels.Failure
		after   time.Duration
	}{
		{"blocked", telegramtest.Fault{Status: 403, Text: "Forbidden: bot was blocked by the user"}, channels.Permanent, 0},
		{"bad request", telegramtest.Fault{Status: 400, Text: "Bad Request: chat not found"}, channels.Permanent, 0},
		{"flood", telegramtest.TooMany(7728), channels.Temporary, 7728 * time.Second},
		{"token", telegramtest.Unauthorized(), channels.Temporary, time.Minute},
		{"server error", telegramtest.Fault{Status: 500, Text: "Internal Server Error"}, channels.Temporary, 0},
		{"html page", telegramtest.BadGateway(), channels.Temporary, 0},
		{"garbage", telegramtest.Garbage(), channels.Temporary, 0},
		{"dropped", telegramtest.Fault{Cut: true}, channels.Temporary, 0},
		{"hang", telegramtest.Fault{Hang: true}, channels.Temporary, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				b.AddChat(ana)
				b.Fail("sendMessage", 1, c.fault)
				var err error
				took := after(func() { _, err = b.channel.Send(t.Context(), part(ana, "secret words")) })
				within(t, took, 0, 30*time.Second)
				var e *channels.SendError
				if !errors.As(err, &e) || e.Failure != c.failure || e.After != c.after {
					t.Fatalf("got %#v", err)
				}
				if strings.Contains(err.Error(), "secret words") || len(err.Error()) > 300 {
					t.Errorf("the error tells too much: %v", err)
				}
				b.send(t, part(ana, "later"), ana)
			})
		})
	}
}

func TestSendAfterTheConnectionWasCut(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.AddChat(ana)
		b.Fail("sendMessage", 1, telegramtest.Fault{CutAfter: true})
		if _, err := b.channel.Send(t.Context(), part(ana, "perhaps twice")); err == nil {
			t.Error("no error")
		}
		if n := len(b.Sent(ana)); n != 1 { // it was delivered, and we cannot know
			t.Errorf("%d messages", n)
		}
	})
}

func TestABadAddressIsPermanent(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		p := channels.Part{Address: channels.Address{Chat: "@name"}, Text: "x"}
		if _, err := b.channel.Send(t.Context(), p); err == nil || channels.FailureOf(err).Failure != channels.Permanent {
			t.Errorf("got %v", err)
		}
	})
}

func TestTyping(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.AddChat(ana, lab)
		at := topic(part(lab, ""), "1").Address
		b.run(t)
		begin := time.Now()
		b.channel.Show(at, channels.Progress{Phase: channels.Waiting})
		<-time.After(10 * time.Second)
		b.channel.Show(at, channels.Progress{Phase: channels.Done})
		<-time.After(time.Minute)
		calls := b.Calls("sendChatAction")
		if len(calls) != 3 || calls[0].At.Sub(begin) > time.Millisecond || calls[2].At.Sub(begin) != 9*time.Second {
			t.Fatalf("%d calls: %v", len(calls), calls)
		}
		if p := calls[0].Params; p["message_thread_id"] != "1" || p["action"] != "typing" {
			t.Errorf("params %v", p)
		}
		b.channel.Show(at, channels.Progress{Phase: channels.Writing}) // a turn whose end is never told
		<-time.After(time.Hour)
		if n := len(b.Calls("sendChatAction")) - 3; n != 134 {
			t.Errorf("%d calls in ten minutes", n)
		}
	})
}

func TestTypingEndsWithTheLastPart(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.AddChat(ana)
		b.run(t)
		typed := func() int {
			<-time.After(time.Minute)
			return len(b.Calls("sendChatAction"))
		}
		show := func(message string) {
			b.channel.Show(part(ana, "").Address, channels.Progress{Phase: channels.Reading, Answers: []string{message}})
		}
		send := func(message string, last bool) {
			p := part(ana, "done")
			p.Last, p.Answers = last, []string{message}
			if _, err := b.channel.Send(t.Context(), p); err != nil {
				t.Error(err)
			}
		}
		show("1")
		send("1", false)
		first := typed()
		if first < 10 {
			t.Errorf("%d calls in the minute after a part that is not the last", first)
		}
		send("1", true)
		ended := typed()
		if ended != first {
			t.Errorf("%d calls after the last part", ended-first)
		}
		show("2")
		send("1", true) // again, after a failure to record it
		if n := typed() - ended; n < 10 {
			t.Errorf("%d calls for the next turn", n)
		}
	})
}

func TestTypingStopsAtTheFirstError(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.AddChat(ana, lab)
		b.run(t)
		b.Fail("sendChatAction", 1, telegramtest.TooMany(60))
		b.channel.Show(part(ana, "").Address, channels.Progress{Phase: channels.Reading})
		synctest.Wait()
		b.channel.Show(part(ana, "").Address, channels.Progress{Phase: channels.Writing})
		b.channel.Show(part(lab, "").Address, channels.Progress{Phase: channels.Writing})
		<-time.After(10 * time.Second)
		chats := map[string]int{}
		for _, c := range b.Calls("sendChatAction") {
			chats[c.Params["chat_id"]]++
		}
		if chats["5550001"] != 1 || chats["-100123"] != 3 {
			t.Errorf("calls %v", chats)
		}
		b.channel.Show(part(ana, "").Address, channels.Progress{Phase: channels.Done})
		b.channel.Show(part(ana, "").Address, channels.Progress{Phase: channels.Waiting}) // the next turn
		synctest.Wait()
		if n := len(b.Calls("sendChatAction")); n != 5 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestConfig(t *testing.T) {
	c := telegram.DefaultConfig()
	if err := c.Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for name := range c.All() {
		t.Errorf("no token, but a channel %q", name)
	}
	work := c.Account
	work.Token = config.NewSecret("2:b")
	work.Allow = []int64{7, 8}
	c.Token = config.NewSecret("1:a")
	c.Accounts = map[string]telegram.Account{"work": work, "none": {}, "home": work}
	var names []string
	for name, a := range c.All() {
		names = append(names, name)
		if name == "telegram/work" && !slices.Equal(a.Allowed(), []string{"7", "8"}) {
			t.Errorf("allowed %v", a.Allowed())
		}
	}
	if want := []string{"telegram", "telegram/home", "telegram/work"}; !slices.Equal(names, want) {
		t.Errorf("channels %v", names)
	}
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	for key, spoil := range map[string]func(*telegram.Config){
		"url":      func(c *telegram.Config) { c.URL = "api.telegram.org" },
		"token":    func(c *telegram.Config) { c.Token = config.NewSecret("1:a/../x") },
		"poll":     func(c *telegram.Config) { c.Poll = config.Duration(time.Minute) },
		"allow":    func(c *telegram.Config) { c.Allow = []int64{-100123} },
		"accounts": func(c *telegram.Config) { c.Accounts = map[string]telegram.Account{"a/b": {}} },
	} {
		c := telegram.DefaultConfig()
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+" ") || strings.Contains(err.Error(), "1:a/") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
