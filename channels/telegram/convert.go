package telegram

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"pinch/channels"
)

// convert makes an inbound of an update; ok is false for a kind of update that is not ours. me is the bot.
func convert(u models.Update, me models.User) (in channels.Inbound, ok bool) {
	switch {
	case u.Message != nil:
		in = fromMessage(u.Message, me)
	case u.EditedMessage != nil:
		in = fromMessage(u.EditedMessage, me)
		in.Kind = channels.KindEdit
		in.At = time.Unix(int64(cmp.Or(u.EditedMessage.EditDate, u.EditedMessage.Date)), 0)
	case u.CallbackQuery != nil:
		in, ok = fromPress(u.CallbackQuery)
		if !ok {
			return in, false
		}
	default:
		return in, false
	}
	in.Event = strconv.FormatInt(u.ID, 10)
	return in, true
}

func fromMessage(m *models.Message, me models.User) channels.Inbound {
	b := newBody(m)
	in := channels.Inbound{
		Kind: channels.KindMessage, At: time.Unix(int64(m.Date), 0), Chat: chatOf(m), Sender: senderOf(m),
		Message: strconv.Itoa(m.ID), Reply: quoteOf(m), Forward: originOf(m.ForwardOrigin), Files: filesOf(m),
		Mentioned: m.Chat.Type == models.ChatTypePrivate || b.mentions(me) || answersBot(m, me),
		Text:      b.spoken(me),
	}
	if b.text == "" && len(in.Files) == 0 {
		in.Kind = channels.KindService
	}
	return in
}

// fromPress makes an inbound of a press on a button: its text is the button's data.
func fromPress(q *models.CallbackQuery) (channels.Inbound, bool) {
	in := channels.Inbound{Kind: channels.KindPress, At: time.Now(), Sender: personOf(&q.From), Text: q.Data, Mentioned: true}
	switch {
	case q.Message.Message != nil:
		in.Chat, in.Message = chatOf(q.Message.Message), strconv.Itoa(q.Message.Message.ID)
	case q.Message.InaccessibleMessage != nil && q.Message.InaccessibleMessage.Chat.ID != 0:
		gone := q.Message.InaccessibleMessage
		in.Chat, in.Message = chatOf(&models.Message{Chat: gone.Chat}), strconv.Itoa(gone.MessageID)
	default:
		return in, false // of an inline message, which we never send
	}
	return in, true
}

// chatOf returns the place of a message. In a group without topics a thread is only a chain of replies; the General
// topic of a forum has no thread id, and gets its own here.
func chatOf(m *models.Message) channels.Chat {
	c := channels.Chat{ID: strconv.FormatInt(m.Chat.ID, 10), Kind: channels.Broadcast, Title: m.Chat.Title}
	switch m.Chat.Type {
	case models.ChatTypePrivate:
		c.Kind = channels.Private
	case models.ChatTypeGroup, models.ChatTypeSupergroup:
		c.Kind = channels.Group
	}
	switch {
	case m.IsTopicMessage && m.MessageThreadID != 0:
		c.Topic = strconv.Itoa(m.MessageThreadID)
	case m.Chat.IsForum && c.Kind == channels.Group:
		c.Topic = general
	}
	return c
}

// senderOf returns who wrote a message. Behind a sender chat stands an anonymous admin or a channel: from is then one
// account for all of them, and nobody may be taken for it.
func senderOf(m *models.Message) channels.Sender {
	switch {
	case m.SenderChat != nil:
		c := m.SenderChat
		return channels.Sender{ID: strconv.FormatInt(c.ID, 10), Name: cmp.Or(c.Title, c.Username), Username: c.Username}
	case m.From != nil:
		return personOf(m.From)
	}
	return channels.Sender{}
}

func personOf(u *models.User) channels.Sender {
	return channels.Sender{ID: strconv.FormatInt(u.ID, 10), Name: nameOf(u), Username: u.Username, Bot: u.IsBot}
}

func nameOf(u *models.User) string {
	return cmp.Or(strings.TrimSpace(u.FirstName+" "+u.LastName), u.Username)
}

// implicitRoot reports whether a message answers only its topic's first message, as all in a topic do.
func implicitRoot(m *models.Message) bool {
	return m.IsTopicMessage && m.ReplyToMessage != nil && m.ReplyToMessage.ID == m.MessageThreadID
}

func answersBot(m *models.Message, me models.User) bool {
	r := m.ReplyToMessage
	return r != nil && r.From != nil && r.From.ID == me.ID && me.ID != 0 && !implicitRoot(m)
}

func quoteOf(m *models.Message) *channels.Quote {
	var q channels.Quote
	switch {
	case implicitRoot(m):
		return nil
	case m.ReplyToMessage != nil:
		r := m.ReplyToMessage
		q = channels.Quote{Sender: senderOf(r).Name, Text: cmp.Or(newBody(r).text, strings.Join(filesOf(r), ", "))}
	case m.ExternalReply != nil:
		q.Sender = originOf(&m.ExternalReply.Origin)
	case m.Quote == nil:
		return nil
	}
	if m.Quote != nil {
		q.Text = m.Quote.Text // the words that the person marked
	}
	return &q
}

func originOf(o *models.MessageOrigin) string {
	switch {
	case o == nil:
		return ""
	case o.MessageOriginUser != nil:
		return nameOf(&o.MessageOriginUser.SenderUser)
	case o.MessageOriginHiddenUser != nil:
		return o.MessageOriginHiddenUser.SenderUserName
	case o.MessageOriginChat != nil:
		return o.MessageOriginChat.SenderChat.Title
	case o.MessageOriginChannel != nil:
		return o.MessageOriginChannel.Chat.Title
	}
	return ""
}

// body is a text or caption with its marks, whose places count in UTF-16 units.
type body struct {
	text  string
	units []uint16
	marks []models.MessageEntity
}

func newBody(m *models.Message) body {
	b := body{text: m.Text, marks: m.Entities}
	if m.Text == "" {
		b = body{text: m.Caption, marks: m.CaptionEntities}
	}
	b.units = utf16.Encode([]rune(b.text))
	return b
}

// at returns the text of a mark, "" for one that lies outside.
func (b body) at(e models.MessageEntity) string {
	if e.Offset < 0 || e.Length < 0 || e.Offset > len(b.units) || e.Length > len(b.units)-e.Offset {
		return ""
	}
	return string(utf16.Decode(b.units[e.Offset : e.Offset+e.Length]))
}

// mentions reports whether the text names the bot, in a group.
func (b body) mentions(me models.User) bool {
	for _, e := range b.marks {
		switch e.Type {
		case models.MessageEntityTypeMention:
			if names(b.at(e), me) {
				return true
			}
		case models.MessageEntityTypeTextMention:
			if e.User != nil && e.User.ID == me.ID && me.ID != 0 {
				return true
			}
		case models.MessageEntityTypeBotCommand:
			if _, to, ok := strings.Cut(b.at(e), "@"); ok && names("@"+to, me) {
				return true
			}
		}
	}
	return false
}

func names(mention string, me models.User) bool {
	return me.Username != "" && strings.EqualFold(mention, "@"+me.Username)
}

// spoken is the text without the bot's name in front: "@bot, hello" is "hello", "/help@bot" is "/help".
func (b body) spoken(me models.User) string {
	for _, e := range b.marks {
		mark := b.at(e)
		if e.Offset != 0 || mark == "" {
			continue
		}
		rest := b.text[len(mark):]
		switch command, to, _ := strings.Cut(mark, "@"); {
		case e.Type == models.MessageEntityTypeMention && names(mark, me):
			return strings.TrimLeft(rest, " \t\n,:，：")
		case e.Type == models.MessageEntityTypeBotCommand && names("@"+to, me):
			return command + rest
		}
	}
	return b.text
}

// filesOf describes the attachments of a message, which are not fetched.
func filesOf(m *models.Message) []string {
	var all []string
	add := func(parts ...string) {
		all = append(all, strings.TrimSpace(strings.Join(parts, "")))
	}
	if len(m.Photo) > 0 || m.LivePhoto != nil {
		add("photo")
	}
	if v := m.Video; v != nil {
		add("video", named(v.FileName), seconds(v.Duration), size(v.FileSize))
	}
	if v := m.VideoNote; v != nil {
		add("video message", seconds(v.Duration))
	}
	if v := m.Voice; v != nil {
		add("voice message", seconds(v.Duration))
	}
	if a := m.Audio; a != nil {
		add("audio", named(cmp.Or(a.Title, a.FileName)), seconds(a.Duration), size(a.FileSize))
	}
	switch { // an animation is sent as a document too, for old clients
	case m.Animation != nil:
		add("animation", seconds(m.Animation.Duration))
	case m.Document != nil:
		add("document", named(m.Document.FileName), size(m.Document.FileSize))
	}
	if s := m.Sticker; s != nil {
		add("sticker", named(s.Emoji))
	}
	return append(all, thingsOf(m)...)
}

// thingsOf describes what a message has that is no file.
func thingsOf(m *models.Message) []string {
	var all []string
	switch { // a venue has its location too
	case m.Venue != nil:
		all = append(all, fmt.Sprintf("place %s, %s", m.Venue.Title, m.Venue.Address))
	case m.Location != nil:
		all = append(all, fmt.Sprintf("location %.5f, %.5f", m.Location.Latitude, m.Location.Longitude))
	}
	if c := m.Contact; c != nil {
		all = append(all, strings.TrimSpace("contact "+strings.TrimSpace(c.FirstName+" "+c.LastName)+" "+c.PhoneNumber))
	}
	if m.Poll != nil {
		all = append(all, "poll: "+m.Poll.Question)
	}
	if m.Dice != nil {
		all = append(all, fmt.Sprintf("dice %s %d", m.Dice.Emoji, m.Dice.Value))
	}
	return all
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return " " + name
}

func seconds(n int) string { return fmt.Sprintf(", %d s", n) }

// size is ", 12 KB", or nothing where it is not known.
func size(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1e6:
		return fmt.Sprintf(", %d KB", (n+999)/1000)
	}
	return fmt.Sprintf(", %d MB", (n+500_000)/1e6)
}
