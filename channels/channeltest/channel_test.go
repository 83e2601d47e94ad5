package channeltest_test

import (
	"context"
	"errors"
	"testing"

	"pinch/channels"
	"pinch/channels/channeltest"
)

type platform struct{ *channeltest.Channel }

func (p platform) Say(text string) { p.Channel.Say("ana", text) }

func (p platform) Refuse(f channels.Failure) {
	p.Fail(&channels.SendError{Failure: f, Err: errors.New("refused")})
}

func (p platform) Heard(context.Context, int) ([]string, error) {
	var texts []string
	for _, part := range p.Sent() {
		texts = append(texts, part.Text)
	}
	return texts, nil
}

func TestSuite(t *testing.T) {
	channeltest.Suite(t, func(*testing.T) (channels.Channel, channeltest.Platform) {
		c := channeltest.New("memory")
		return c, platform{c}
	})
}

func TestWantTakesPartsInOrder(t *testing.T) {
	c := channeltest.New("memory")
	for _, text := range []string{"one", "two"} {
		if _, err := c.Send(t.Context(), channels.Part{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	c.Want(t, "on")
	if got := c.Want(t, "two"); got.Text != "two" {
		t.Errorf("got %+v", got)
	}
}
