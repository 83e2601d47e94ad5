package telegram_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pinch/channels"
	"pinch/channels/telegram"
)

const (
	private = `"chat":{"id":5550001,"type":"private","first_name":"Ana"}`
	group   = `"chat":{"id":-100123,"type":"supergroup","title":"Lab"}`
	forum   = `"chat":{"id":-100123,"type":"supergroup","title":"Lab","is_forum":true}`
	from    = `"from":{"id":5550001,"is_bot":false,"first_name":"Ana","last_name":"T","username":"ana_t"}`
)

// read converts a message for a bot named @pi_bot with id 4242; kind is its field in the update.
func read(t *testing.T, kind, message string) channels.Inbound {
	t.Helper()
	c := telegram.New("telegram/work", telegram.Account{}, quiet())
	in, ok := c.Read(fmt.Sprintf(`{"update_id":7,%q:{"message_id":42,"date":1796000000,%s}}`, kind, message), 4242, "pi_bot")
	if !ok {
		t.Fatalf("%s is not taken", message)
	}
	return in
}

func TestReadsAPrivateMessage(t *testing.T) {
	got := read(t, "message", private+","+from+`,"text":"hello 你好"`)
	want := channels.Inbound{
		Channel: "telegram/work", Event: "7", Kind: channels.KindMessage, At: time.Unix(1796000000, 0),
		Chat:    channels.Chat{ID: "5550001", Kind: channels.Private},
		Sender:  channels.Sender{ID: "5550001", Name: "Ana T", Username: "ana_t"},
		Message: "42", Text: "hello 你好", Mentioned: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestMentions(t *testing.T) {
	entity := func(kind string, offset, length int) string {
		return fmt.Sprintf(`"entities":[{"type":%q,"offset":%d,"length":%d}]`, kind, offset, length)
	}
	reply := `"reply_to_message":{"message_id":9,"date":1,"chat":{"id":-100123,"type":"supergroup"},"from":{"id":4242,"is_bot":true,"first_name":"Pi"},"text":"so?"}`
	for _, c := range []struct {
		name, message string
		mentioned     bool
		text          string
	}{
		{"none", group + `,"text":"hello"`, false, "hello"},
		{"front", group + `,"text":"@Pi_Bot, status?",` + entity("mention", 0, 7), true, "status?"},
		{"after emoji and han", group + `,"text":"😀你好 @pi_bot go",` + entity("mention", 5, 7), true, "😀你好 @pi_bot go"},
		{"of another", group + `,"text":"@pi_bot2 go",` + entity("mention", 0, 8), false, "@pi_bot2 go"},
		{"text without entity", group + `,"text":"@pi_bot go"`, false, "@pi_bot go"},
		{"outside the text", group + `,"text":"hi",` + entity("mention", 1, 99), false, "hi"},
		{"negative", group + `,"text":"hi",` + entity("mention", -5, 3), false, "hi"},
		{"overflow", group + `,"text":"hi",` + entity("mention", 1, 2147483647), false, "hi"},
		{"by name", group + `,"text":"Pi, go","entities":[{"type":"text_mention","offset":0,"length":2,"user":{"id":4242,"is_bot":true,"first_name":"Pi"}}]`, true, "Pi, go"},
		{"command to me", group + `,"text":"/help@pi_bot me",` + entity("bot_command", 0, 12), true, "/help me"},
		{"command to another", group + `,"text":"/help@b_bot",` + entity("bot_command", 0, 11), false, "/help@b_bot"},
		{"command to all", group + `,"text":"/help",` + entity("bot_command", 0, 5), false, "/help"},
		{"command in private", private + `,"text":"/help@pi_bot x",` + entity("bot_command", 0, 12), true, "/help x"},
		{"caption", group + `,"photo":[{"file_id":"a","file_unique_id":"b","width":1,"height":1}],"caption":"@pi_bot what?","caption_entities":[{"type":"mention","offset":0,"length":7}]`, true, "what?"},
		{"answer to me", group + `,"text":"yes",` + reply, true, "yes"},
		{"in my topic", forum + `,"text":"yes","is_topic_message":true,"message_thread_id":9,` + reply, false, "yes"},
		{"answer in a topic", forum + `,"text":"yes","is_topic_message":true,"message_thread_id":8,` + reply, true, "yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := read(t, "message", from+","+c.message)
			if in.Mentioned != c.mentioned || in.Text != c.text {
				t.Errorf("mentioned %v, text %q", in.Mentioned, in.Text)
			}
		})
	}
}

func TestTopics(t *testing.T) {
	for _, c := range []struct{ name, message, topic string }{
		{"topic", forum + `,"is_topic_message":true,"message_thread_id":7`, "7"},
		{"general", forum, "1"},
		{"reply thread of a plain group", group + `,"message_thread_id":7`, ""},
		{"private topic", private + `,"is_topic_message":true,"message_thread_id":7`, "7"},
	} {
		if in := read(t, "message", from+","+c.message+`,"text":"x"`); in.Chat.Topic != c.topic {
			t.Errorf("%s: %q", c.name, in.Chat.Topic)
		}
	}
	in := read(t, "message", from+","+forum+`,"is_topic_message":true,"message_thread_id":7,"text":"x","reply_to_message":{"message_id":7,"date":1,"chat":{"id":-100123,"type":"supergroup"},"forum_topic_created":{"name":"T","icon_color":1}}`)
	if in.Reply != nil {
		t.Errorf("the topic's root counts as a quote: %+v", in.Reply)
	}
}

func TestASenderChatIsNoPerson(t *testing.T) {
	anonymous := `"from":{"id":1087968824,"is_bot":true,"first_name":"Group","username":"GroupAnonymousBot"},"sender_chat":{"id":-100123,"type":"supergroup","title":"Lab"}`
	got := read(t, "message", group+","+anonymous+`,"text":"hi"`).Sender
	if want := (channels.Sender{ID: "-100123", Name: "Lab"}); got != want {
		t.Errorf("got %+v", got)
	}
	if got := read(t, "message", group+`,"text":"hi"`).Sender; got.ID != "" {
		t.Errorf("nobody is %+v", got)
	}
}

func TestQuotesAndForwards(t *testing.T) {
	original := `"reply_to_message":{"message_id":9,"date":1,"chat":{"id":1,"type":"private"},"from":{"id":3,"first_name":"Bo"},"text":"the whole text"}`
	got := read(t, "message", private+","+from+`,"text":"why?","quote":{"text":"whole","position":4},`+original).Reply
	if got == nil || *got != (channels.Quote{Sender: "Bo", Text: "whole"}) {
		t.Errorf("marked words: %+v", got)
	}
	got = read(t, "message", private+","+from+`,"text":"why?",`+original).Reply
	if got == nil || *got != (channels.Quote{Sender: "Bo", Text: "the whole text"}) {
		t.Errorf("reply: %+v", got)
	}
	for origin, want := range map[string]string{
		`{"type":"user","date":1,"sender_user":{"id":3,"first_name":"Bo"}}`:                        "Bo",
		`{"type":"hidden_user","date":1,"sender_user_name":"Cy"}`:                                  "Cy",
		`{"type":"channel","date":1,"message_id":1,"chat":{"id":-1,"type":"channel","title":"D"}}`: "D",
		`{"type":"chat","date":1,"sender_chat":{"id":-1,"type":"group","title":"E"}}`:              "E",
	} {
		if in := read(t, "message", private+","+from+`,"text":"x","forward_origin":`+origin); in.Forward != want {
			t.Errorf("forwarded from %q, want %q", in.Forward, want)
		}
	}
}

func TestDescribesFiles(t *testing.T) {
	const id = `"file_id":"a","file_unique_id":"b"`
	for message, want := range map[string]string{
		`"photo":[{` + id + `,"width":1,"height":1},{` + id + `,"width":2,"height":2}]`:                      "photo",
		`"voice":{` + id + `,"duration":7}`:                                                                  "voice message, 7 s",
		`"document":{` + id + `,"file_name":"report.pdf","file_size":12000}`:                                 "document report.pdf, 12 KB",
		`"document":{` + id + `,"file_size":3400000}`:                                                        "document, 3 MB",
		`"animation":{` + id + `,"width":1,"height":1,"duration":2},"document":{` + id + `}`:                 "animation, 2 s",
		`"video":{` + id + `,"width":1,"height":1,"duration":9,"file_name":"v.mp4","file_size":1}`:           "video v.mp4, 9 s, 1 KB",
		`"video_note":{` + id + `,"length":1,"duration":9}`:                                                  "video message, 9 s",
		`"audio":{` + id + `,"duration":60,"title":"Song"}`:                                                  "audio Song, 60 s",
		`"sticker":{` + id + `,"type":"regular","emoji":"👍"}`:                                                "sticker 👍",
		`"location":{"latitude":52.5,"longitude":13.4}`:                                                      "location 52.50000, 13.40000",
		`"venue":{"location":{"latitude":1,"longitude":2},"title":"Bar","address":"Street 1"},"location":{}`: "place Bar, Street 1",
		`"contact":{"phone_number":"+49 1","first_name":"Bo"}`:                                               "contact Bo +49 1",
		`"poll":{"id":"1","question":"When?","options":[]}`:                                                  "poll: When?",
	} {
		in := read(t, "message", private+","+from+","+message)
		if got := strings.Join(in.Files, "; "); got != want || in.Kind != channels.KindMessage {
			t.Errorf("got %q as %s, want %q", got, in.Kind, want)
		}
	}
}

func TestKinds(t *testing.T) {
	if in := read(t, "edited_message", private+","+from+`,"text":"x","edit_date":1796000009`); in.Kind != channels.KindEdit || in.At.Unix() != 1796000009 {
		t.Errorf("edit: %+v", in)
	}
	if in := read(t, "message", group+","+from+`,"new_chat_members":[{"id":3,"first_name":"Bo"}]`); in.Kind != channels.KindService {
		t.Errorf("service: %+v", in)
	}
	c := telegram.New("telegram", telegram.Account{}, quiet())
	in, ok := c.Read(`{"update_id":8,"callback_query":{"id":"q",`+from+`,"chat_instance":"c","data":"yes","message":{"message_id":5,"date":1,`+group+`}}}`, 4242, "pi_bot")
	if !ok || in.Kind != channels.KindPress || in.Text != "yes" || in.Chat.ID != "-100123" || in.Message != "5" || in.Sender.ID != "5550001" {
		t.Errorf("press: %+v, %v", in, ok)
	}
	in, ok = c.Read(`{"update_id":8,"callback_query":{"id":"q",`+from+`,"data":"yes","message":{"message_id":5,"date":0,`+private+`}}}`, 4242, "pi_bot")
	if !ok || in.Chat.Kind != channels.Private || in.Message != "5" {
		t.Errorf("press on a message that is gone: %+v, %v", in, ok)
	}
	for _, raw := range []string{
		`{"update_id":8,"callback_query":{"id":"q",` + from + `,"data":"yes"}}`,
		`{"update_id":8,"poll":{"id":"1","question":"q","options":[]}}`, `{"update_id":8}`,
	} {
		if in, ok := c.Read(raw, 4242, "pi_bot"); ok {
			t.Errorf("%s is taken: %+v", raw, in)
		}
	}
	channel := `"chat":{"id":-1,"type":"channel","title":"News"}`
	if in := read(t, "message", channel+`,"text":"x"`); in.Chat.Kind != channels.Broadcast {
		t.Errorf("channel: %+v", in.Chat)
	}
}

func FuzzUpdate(f *testing.F) {
	for _, message := range []string{
		private + "," + from + `,"text":"😀@pi_bot","entities":[{"type":"mention","offset":2,"length":7}]`,
		forum + `,"is_topic_message":true,"message_thread_id":9,"reply_to_message":{"message_id":9},"caption":"x"`,
		group + `,"sender_chat":{"id":-1},"forward_origin":{"type":"hidden_user"},"quote":{"text":"q"},"external_reply":{"origin":{"type":"chat"}}`,
		private + `,"voice":{"duration":-7},"document":{"file_size":-1},"dice":{},"contact":{},"venue":{},"poll":{}`,
	} {
		f.Add(`{"update_id":7,"message":{"message_id":42,"date":1,` + message + `}}`)
	}
	f.Add(`{"update_id":8,"callback_query":{"message":{"date":0},"data":"\ud800"}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var log strings.Builder
		c := telegram.New("telegram", telegram.Account{}, textLog(&log))
		in, ok := c.Read(raw, 4242, "pi_bot")
		if strings.Contains(log.String(), "panicked") {
			t.Fatalf("%s panicked", raw)
		}
		if ok && (in.Event == "" || in.Kind == "" || in.Chat.ID == "" || in.Chat.Kind == "") {
			t.Fatalf("%s became %+v", raw, in)
		}
		if _, err := json.Marshal(in); err != nil {
			t.Fatalf("%s cannot be stored: %v", raw, err)
		}
	})
}
