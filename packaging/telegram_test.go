package packaging_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pinch/agent/model/modeltest"
	"pinch/channels/telegram/telegramtest"
)

const (
	ana   = 1001
	group = -1009000
)

// bot starts a fake Telegram and pinch run with a model behind it.
func bot(t *testing.T, m *modeltest.Ollama) (*telegramtest.Server, *process) {
	t.Helper()
	return botWith(t, m, 4096)
}

func botWith(t *testing.T, m *modeltest.Ollama, window int) (*telegramtest.Server, *process) {
	t.Helper()
	s := telegramtest.New("11:bot")
	t.Cleanup(s.Close)
	toml := local(m.URL()) + fmt.Sprintf("window = %d\n[channels.telegram]\ntoken = \"11:bot\"\nurl = %q\nallow = [%d]\npoll = \"2s\"\n", window, s.URL(), ana)
	return s, serve(t, state(t, toml))
}

// numbered is a model that repeats the number of the message.
func numbered(m *modeltest.Ollama) {
	number := regexp.MustCompile(`message (\d+)`)
	m.Script(func(r modeltest.Request) modeltest.Answer {
		found := number.FindStringSubmatch(r.Chat.Last())
		if found == nil {
			return modeltest.Answer{Text: "?"}
		}
		return modeltest.Answer{Text: "reply " + found[1]}
	})
}

func TestTelegramKeepsOrderThroughFaults(t *testing.T) {
	m := modeltest.NewOllama(t)
	numbered(m)
	s, _ := bot(t, m)
	s.Fail("getUpdates", 2, telegramtest.Fault{Cut: true})
	s.Fail("getUpdates", 4, telegramtest.Conflict())
	s.Fail("getUpdates", 5, telegramtest.Conflict())
	s.Fail("getUpdates", 7, telegramtest.BadGateway())
	s.Fail("getUpdates", 9, telegramtest.Garbage())
	s.Fail("sendMessage", 3, telegramtest.TooMany(1))
	s.Fail("sendMessage", 8, telegramtest.Fault{Cut: true})
	s.Fail("sendMessage", 15, telegramtest.BadGateway())
	chats := map[int64][]string{}
	for n := 1; n <= 30; n++ {
		chat, text := int64(ana), fmt.Sprintf("message %d", n)
		if n%2 == 0 {
			chat, text = group, "@"+telegramtest.Bot.Username+" "+text
		}
		chats[chat] = append(chats[chat], fmt.Sprintf("reply %d", n))
		if chat == group {
			s.Push(mention(ana, chat, text))
		} else {
			s.Say(ana, chat, text)
		}
	}
	for chat, want := range chats {
		sent, err := s.WaitSent(t.Context(), chat, len(want))
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if sent[i].Text != w {
				t.Errorf("chat %d, reply %d is %q, want %q", chat, i+1, sent[i].Text, w)
			}
		}
		if len(sent) != len(want) {
			t.Errorf("chat %d got %d replies, want %d", chat, len(sent), len(want))
		}
	}
}

// mention is a group message that begins with the bot's name.
func mention(user, chat int64, text string) string {
	return fmt.Sprintf(`{"message":{"date":1796000000,"from":{"id":%d,"is_bot":false,"first_name":"Ana"},`+
		`"chat":{"id":%d,"type":"supergroup","title":"Lab"},"text":%q,"entities":[{"type":"mention","offset":0,"length":%d}]}}`,
		user, chat, text, len(telegramtest.Bot.Username)+1)
}

func TestTelegramLongReplyArrivesInValidPieces(t *testing.T) {
	m := modeltest.NewOllama(t)
	var code strings.Builder
	for i := range 190 {
		fmt.Fprintf(&code, "\tfmt.Println(%d, \"a < b && c\")\n", i)
	}
	long := strings.Repeat("Some **bold** words about relays & pins. 一些中文 🙂. ", 60) + "\n\n```go\n" + code.String() + "```\n\nThe end."
	if len(long) < 9000 {
		t.Fatalf("the reply has only %d characters", len(long))
	}
	m.On("long", modeltest.Answer{Text: long})
	s, _ := botWith(t, m, 32768) // so that the reserve for a reply holds it
	s.Say(ana, ana, "a long one")
	until(t, "the whole reply is there", func() bool {
		sent := s.Sent(ana)
		return len(sent) > 0 && strings.Contains(sent[len(sent)-1].Text, "The end.")
	})
	var all strings.Builder
	for i, piece := range s.Sent(ana) { // the fake refuses what is too long or not valid
		all.WriteString(piece.Text)
		if i > 0 && i < len(s.Sent(ana))-1 && len(piece.Entities) == 0 {
			t.Errorf("piece %d lost its code block", i+1)
		}
	}
	for i := range 190 {
		if want := fmt.Sprintf("fmt.Println(%d, \"a < b && c\")", i); !strings.Contains(all.String(), want) {
			t.Fatalf("the pieces lack %q", want)
		}
	}
}

func TestTelegramRefusedTokenIsTold(t *testing.T) {
	m := modeltest.NewOllama(t)
	s, p := bot(t, m)
	s.Revoke()
	until(t, "the log says so", func() bool { return strings.Contains(p.said.String(), "BotFather") })
	s.Restore("11:bot")
}

func TestTelegramStrangerIsLoggedToBePasted(t *testing.T) {
	m := modeltest.NewOllama(t)
	s, p := bot(t, m)
	s.Say(4711, 4711, "let me in")
	until(t, "the id is in the log", func() bool { return strings.Contains(p.said.String(), "sender=4711") })
	if n := len(m.Requests()); n != 0 {
		t.Errorf("a stranger reached the model %d times", n)
	}
	if strings.Contains(p.said.String(), "let me in") {
		t.Error("the log holds the text of a message")
	}
}
