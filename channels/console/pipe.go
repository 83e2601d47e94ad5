package console

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pinch/channels"
)

// maxLine is the longest message that a line can be, in bytes.
const maxLine = 1 << 20

// pipe sends each line as a message after the reply to the one before. Replies go to Out; what belongs to an earlier
// message or to none goes to Err, so that Out has one reply a line.
func pipe(ctx context.Context, o Options, t Talker) error {
	in := bufio.NewScanner(o.In)
	in.Buffer(make([]byte, 4096), maxLine)
	name := login()
	for n := 1; in.Scan(); n++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := strings.ToValidUTF8(string(bytes.TrimSpace(in.Bytes())), "\uFFFD")
		if text == "" {
			continue
		}
		r := reply{id: rand.Text(), aside: o.Err}
		m := channels.Message{ID: r.id, Conversation: o.Conversation, Name: name, Text: text}
		if err := t.Say(ctx, m, r.hear); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := r.print(o.Out, o.JSON); err != nil {
			return fmt.Errorf("printing the reply to line %d: %w", n, err)
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than 1 MB: send less at once")
	} else if err != nil {
		return fmt.Errorf("reading the input: %w", err)
	}
	return nil
}

// reply collects the parts that answer one message.
type reply struct {
	id    string
	aside io.Writer
	texts []string
	about channels.About
}

// hear takes what is said meanwhile.
func (r *reply) hear(e channels.Event) {
	if e.Part == nil {
		return
	}
	if !slices.Contains(e.Part.Answers, r.id) {
		if len(e.Part.Answers) > 0 {
			fmt.Fprintln(r.aside, earlier.In(channels.Language(e.Part.Text)))
		}
		fmt.Fprintf(r.aside, "%s\n\n", plain(e.Part.Text))
		return
	}
	r.texts = append(r.texts, e.Part.Text)
	if e.Part.About != nil {
		r.about = *e.Part.About
	}
}

// usage is the tokens of a reply, as --json prints them.
type usage struct {
	Prompt int `json:"prompt"`
	Cached int `json:"cached"`
	Reply  int `json:"reply"`
}

// print writes the reply and a blank line, or one JSON object.
func (r *reply) print(out io.Writer, asJSON bool) error {
	text := strings.Join(r.texts, "\n")
	if !asJSON {
		_, err := fmt.Fprintf(out, "%s\n\n", plain(text))
		return err
	}
	left := r.about.LeftOut
	if left == nil {
		left = []string{} // an empty list, never null
	}
	return json.NewEncoder(out).Encode(struct {
		Reply   string   `json:"reply"`
		Model   string   `json:"model"`
		Usage   usage    `json:"usage"`
		LeftOut []string `json:"left_out"`
	}{text, r.about.Model, usage{r.about.Prompt, r.about.Cached, r.about.Reply}, left})
}
