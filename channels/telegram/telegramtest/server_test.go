package telegramtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinch/channels/telegram/telegramtest"
)

const token = "1:x"

// answer is the envelope of the Bot API.
type answer struct {
	OK          bool
	Result      json.RawMessage
	ErrorCode   int `json:"error_code"`
	Description string
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	}
	header http.Header
}

// client calls the server of a bubble.
type client struct {
	*telegramtest.Server
	t *testing.T
	http.Client
}

func inBubble(t *testing.T, test func(t *testing.T, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{Server: telegramtest.NewPipe(token), t: t}
		c.Transport = &http.Transport{DialContext: c.Dial}
		t.Cleanup(c.Close)
		t.Cleanup(c.CloseIdleConnections)
		test(t, c)
	})
}

func (c *client) post(ctx context.Context, path, kind string, body io.Reader) (a answer, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL()+path, body)
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.header = resp.Header
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return a, err
	}
	if !a.OK && resp.StatusCode != a.ErrorCode {
		c.t.Errorf("status %d, error_code %d", resp.StatusCode, a.ErrorCode)
	}
	return a, nil
}

// call makes a call with JSON parameters.
func (c *client) call(method, params string) answer {
	c.t.Helper()
	a, err := c.post(c.t.Context(), "/bot"+token+"/"+method, "application/json", strings.NewReader(params))
	if err != nil { // it may be called from any goroutine
		c.t.Error(err)
	}
	return a
}

// ids are the update ids of a poll.
func (a answer) ids() []int64 {
	var updates []struct {
		ID int64 `json:"update_id"`
	}
	json.Unmarshal(a.Result, &updates) // what is no list has no ids
	var ids []int64
	for _, u := range updates {
		ids = append(ids, u.ID)
	}
	return ids
}

func TestReadsEveryKindOfParameters(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		c.AddChat(7)
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		w.WriteField("chat_id", "7") // a Buffer never fails
		w.WriteField("text", "multi")
		w.Close()
		values := url.Values{"chat_id": {"7"}, "text": {"query"}}.Encode()
		for _, r := range []struct{ query, kind, body string }{
			{"", "application/json; charset=utf-8", `{"chat_id":7,"text":"json"}`},
			{"", "application/x-www-form-urlencoded", "chat_id=7&text=form"},
			{"", w.FormDataContentType(), form.String()},
			{"?" + values, "", ""},
		} {
			if a, err := c.post(t.Context(), "/bot"+token+"/SendMessage"+r.query, r.kind, strings.NewReader(r.body)); err != nil || !a.OK {
				t.Errorf("%q: %+v, %v", r.kind, a, err)
			}
		}
		var texts []string
		for _, m := range c.Sent(7) {
			texts = append(texts, m.Text)
		}
		if want := []string{"json", "form", "multi", "query"}; !reflect.DeepEqual(texts, want) {
			t.Errorf("got %q", texts)
		}
	})
}

func TestRefusals(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		c.AddChat(7, 8, 9)
		c.Block(8, true)
		c.Migrate(9, -100)
		long := strings.Repeat("😀", 2049)
		for _, r := range []struct {
			method, params string
			code           int
			text           string
		}{
			{"nothing", `{}`, 404, "Not Found: method not found"},
			{"sendMessage", `{"chat_id":1,"text":"x"}`, 400, "Bad Request: chat not found"},
			{"sendMessage", `{"chat_id":7,"text":" <b> </b> ","parse_mode":"HTML"}`, 400, "Bad Request: message text is empty"},
			{"sendMessage", `{"chat_id":7,"text":"` + long + `"}`, 400, "Bad Request: message is too long"},
			{"sendMessage", `{"chat_id":7,"text":"<p>x","parse_mode":"html"}`, 400, `Bad Request: can't parse entities: Unsupported start tag "p" at byte offset 0`},
			{"sendMessage", `{"chat_id":7,"text":"x","message_thread_id":1}`, 400, "Bad Request: message thread not found"},
			{"sendMessage", `{"chat_id":7,"text":"x","reply_parameters":{"message_id":5}}`, 400, "Bad Request: message to be replied not found"},
			{"sendMessage", `{"chat_id":8,"text":"x"}`, 403, "Forbidden: bot was blocked by the user"},
			{"sendMessage", `{"chat_id":9,"text":"x"}`, 400, "Bad Request: group chat was upgraded to a supergroup chat"},
			{"editMessageText", `{"chat_id":7,"message_id":99,"text":"x"}`, 400, "Bad Request: message to edit not found"},
			{"sendChatAction", `{"chat_id":7,"action":"dancing"}`, 400, "Bad Request: wrong parameter action in request"},
			{"setMyCommands", `{"commands":[{"command":"Help","description":"x"}]}`, 400, "Bad Request: BOT_COMMAND_INVALID"},
		} {
			if a := c.call(r.method, r.params); a.OK || a.ErrorCode != r.code || a.Description != r.text {
				t.Errorf("%s %.60s: %d %s", r.method, r.params, a.ErrorCode, a.Description)
			}
		}
		if a, err := c.post(t.Context(), "/bot2:y/getMe", "", nil); err != nil || a.ErrorCode != 401 || a.Description != "Unauthorized" {
			t.Errorf("wrong token: %+v, %v", a, err)
		}
	})
}

func TestTakesWhatIsRight(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		c.AddChat(7)
		for _, r := range [][2]string{
			{"sendMessage", `{"chat_id":7,"text":"<b>` + strings.Repeat("😀", 2048) + `</b>","parse_mode":"HTML"}`},
			{"editMessageText", `{"chat_id":7,"message_id":1,"text":"other"}`},
			{"sendMessage", `{"chat_id":7,"text":"x","reply_parameters":{"message_id":5,"allow_sending_without_reply":true}}`},
			{"sendChatAction", `{"chat_id":7,"action":"typing"}`},
			{"setMyCommands", `{"commands":[{"command":"help","description":"what I can do"}]}`},
		} {
			if a := c.call(r[0], r[1]); !a.OK {
				t.Errorf("%s: %s", r[0], a.Description)
			}
		}
		if m := c.Sent(7)[0]; m.Text != "other" || m.Edits != 1 {
			t.Errorf("got %+v", m)
		}
		if a := c.call("editMessageText", `{"chat_id":7,"message_id":1,"text":"other"}`); !strings.Contains(a.Description, "message is not modified") {
			t.Errorf("the same again: %s", a.Description)
		}
	})
}

func TestQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		first := c.Say(5, 5, "a")
		second, third := c.Say(5, 5, "b"), c.Say(5, -6, "c")
		if got := c.call("getUpdates", `{"limit":2}`).ids(); !reflect.DeepEqual(got, []int64{first, second}) {
			t.Errorf("limit: %v", got)
		}
		if got := c.call("getUpdates", `{}`).ids(); len(got) != 3 || c.Confirmed(first) {
			t.Errorf("confirmed without an offset: %v", got)
		}
		if got := c.call("getUpdates", fmt.Sprintf(`{"offset":%d}`, second)).ids(); !reflect.DeepEqual(got, []int64{second, third}) || !c.Confirmed(first) {
			t.Errorf("offset: %v", got)
		}
		if got := c.call("getUpdates", `{"offset":-1}`).ids(); !reflect.DeepEqual(got, []int64{third}) {
			t.Errorf("negative offset: %v", got)
		}
		if got := c.call("getUpdates", `{}`).ids(); !reflect.DeepEqual(got, []int64{third}) {
			t.Errorf("a negative offset forgets: %v", got)
		}
	})
}

func TestLongPoll(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		begin := time.Now()
		if a := c.call("getUpdates", `{"timeout":900}`); string(a.Result) != "[]" || time.Since(begin) != 50*time.Second {
			t.Errorf("got %s after %v", a.Result, time.Since(begin))
		}
		begin = time.Now()
		time.AfterFunc(7*time.Second, func() { c.Say(5, 5, "x") })
		if a := c.call("getUpdates", `{"timeout":30}`); len(a.ids()) != 1 || time.Since(begin) != 7*time.Second {
			t.Errorf("got %s after %v", a.Result, time.Since(begin))
		}
	})
}

func TestASecondPollerEndsTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		first := make(chan answer)
		poll := func() { first <- c.call("getUpdates", `{"timeout":50}`) }
		go poll()
		synctest.Wait()
		go c.call("getUpdates", `{"timeout":1}`)
		const want = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
		if a := <-first; a.ErrorCode != 409 || a.Description != want {
			t.Errorf("got %+v", a)
		}
		<-time.After(2 * time.Second)
		go poll()
		synctest.Wait()
		c.SetWebhook("https://e.org")
		if a := <-first; a.ErrorCode != 409 || a.Description != "Conflict: terminated by setWebhook request" {
			t.Errorf("got %+v", a)
		}
		if a := c.call("getUpdates", `{}`); !strings.Contains(a.Description, "can't use getUpdates method while webhook is active") {
			t.Errorf("got %+v", a)
		}
		c.call("deleteWebhook", `{}`)
		if a := c.call("getUpdates", `{}`); !a.OK {
			t.Errorf("got %+v", a)
		}
	})
}

func TestAllowedUpdatesStick(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		edit := `{"edited_message":{"date":1,"chat":{"id":5,"type":"private"},"text":"x"}}`
		if c.Push(`{"message_reaction":{}}`) != 0 || c.Push(edit) == 0 {
			t.Error("the default is wrong")
		}
		c.call("getUpdates", `{"allowed_updates":["message"]}`)
		c.call("getUpdates", `{}`)
		if c.Push(edit) != 0 || c.Say(5, 5, "x") == 0 {
			t.Error("what is allowed is forgotten")
		}
		c.call("getUpdates", `{"allowed_updates":[]}`)
		if c.Push(edit) == 0 {
			t.Error("an empty list is not the default")
		}
	})
}

func TestFaults(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		c.AddChat(7)
		send := func(text string) (answer, error) {
			return c.post(t.Context(), "/bot"+token+"/sendMessage", "application/json", strings.NewReader(`{"chat_id":7,"text":"`+text+`"}`))
		}
		for n, f := range []telegramtest.Fault{telegramtest.TooMany(9), {Cut: true}, {CutAfter: true}, telegramtest.BadGateway(), telegramtest.Garbage()} {
			c.Fail("sendMessage", n+2, f)
		}
		if a, err := send("fine"); err != nil || !a.OK {
			t.Errorf("first: %+v, %v", a, err)
		}
		if a, _ := send("flood"); a.ErrorCode != 429 || a.Description != "Too Many Requests: retry after 9" || a.Parameters.RetryAfter != 9 || a.header.Get("Retry-After") != "9" {
			t.Errorf("flood: %+v", a)
		}
		for _, text := range []string{"cut", "cut after", "page", "garbage"} {
			if a, err := send(text); err == nil {
				t.Errorf("%s: %+v", text, a)
			}
		}
		if a, err := send("fine again"); err != nil || !a.OK {
			t.Errorf("last: %+v, %v", a, err)
		}
		var texts []string
		for _, m := range c.Sent(7) {
			texts = append(texts, m.Text)
		}
		if want := []string{"fine", "cut after", "fine again"}; !reflect.DeepEqual(texts, want) {
			t.Errorf("sent %q", texts)
		}
		if n := len(c.Calls("sendMessage")); n != 7 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestOnSendComesBeforeTheAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		c.AddChat(7)
		var seen []string
		c.OnSend(func(m telegramtest.Message) {
			if len(c.Sent(7)) != 1 {
				t.Error("it is not kept yet")
			}
			seen = append(seen, m.Text)
		})
		c.call("sendMessage", `{"chat_id":7,"text":"x"}`)
		if !reflect.DeepEqual(seen, []string{"x"}) {
			t.Errorf("seen %q", seen)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, c *client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.WaitSent(ctx, 7, 1); err == nil {
			t.Error("no error")
		}
	})
}

func TestParseHTML(t *testing.T) {
	text, entities, err := telegramtest.ParseHTML(`😀<b>a &lt;<i>b</i></b> <a href="http://e.org/?a&amp;b">c</a><pre><code class="language-go">d &#60;</code></pre>`)
	want := []telegramtest.Entity{{"i", "", 5, 1}, {"b", "", 2, 4}, {"a", "http://e.org/?a&b", 7, 1}, {"code", "language-go", 8, 3}, {"pre", "", 8, 3}}
	if err != nil || text != "😀a <b cd <" || !reflect.DeepEqual(entities, want) {
		t.Errorf("%q %+v %v", text, entities, err)
	}
	for html, want := range map[string]string{
		"a < b":                      "Unclosed start tag at byte offset 2",
		"<p>x</p>":                   `Unsupported start tag "p" at byte offset 0`,
		"x</b>":                      "Unexpected end tag at byte offset 1",
		"<b>x":                       `Can't find end tag corresponding to start tag "b"`,
		"<b><i>x</b></i>":            `Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`,
		"<b>x</b":                    "Unclosed end tag at byte offset 4",
		"a & b":                      "Unescaped ampersand at byte offset 2",
		"&nbsp;":                     "Unescaped ampersand at byte offset 0",
		"<a>x</a>":                   `Attribute "href" is missing in the tag "a" at byte offset 0`,
		"<b x=\"y\">z</b>":           `Unexpected attribute "x" in the tag "b" at byte offset 0`,
		"<a href=x>y</a>":            `Expected a quoted value of attribute "href" in the tag "a" at byte offset 0`,
		"<code><b>x</b></code>":      `Nested tag "b" at byte offset 6`,
		"<span class=\"x\">y</span>": `Unexpected value of attribute "class" in the tag "span" at byte offset 0`,
		"<blockquote><blockquote>x</blockquote></blockquote>": `Nested tag "blockquote" at byte offset 12`,
	} {
		if _, _, err := telegramtest.ParseHTML(html); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", html, err, want)
		}
	}
}

func FuzzParseHTML(f *testing.F) {
	f.Add(`<b>x</b> &amp; <a href="y&quot;">z</a>`)
	f.Add("<pre><code class=\"language-\"></")
	f.Fuzz(func(t *testing.T, html string) {
		text, entities, err := telegramtest.ParseHTML(html)
		if err == nil && len(text) > len(html) {
			t.Fatalf("%q became longer: %q", html, text)
		}
		for _, e := range entities {
			if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(text) {
				t.Fatalf("%q: entity %+v of %q", html, e, text)
			}
		}
	})
}
