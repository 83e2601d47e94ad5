package modeltest

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"pinch/agent/model"
)

// Fake is a fake server of one provider's protocol.
type Fake interface {
	URL() string
	Script(answer func(Request) Answer)
}

// New makes the provider's client for the server at url, which gives up after stall of silence.
type New func(t testing.TB, url string, stall time.Duration) model.Client

const patience = time.Minute // a stall that no test reaches

// Suite is what every provider must pass. The caller checks for leaked goroutines in its TestMain.
func Suite(t *testing.T, client New, fake Fake) {
	s := suite{client: client, fake: fake}
	t.Run("reply", s.reply)
	t.Run("calls", s.calls)
	t.Run("length", s.length)
	t.Run("evaluate only", s.evaluateOnly)
	t.Run("refusals", s.refusals)
	t.Run("nobody there", s.nobodyThere)
	t.Run("broken at every byte", s.broken)
	t.Run("strange answers", s.strange)
	t.Run("endless answer", s.endless)
	t.Run("silence", s.silence)
	t.Run("cancelled", s.cancelled)
}

type suite struct {
	client New
	fake   Fake
}

var (
	question = model.Request{Reply: 200, Messages: []model.Message{
		{Role: model.System, Text: "You look after a house."}, {Role: model.User, Text: "Is the porch light on?"},
	}}
	lamp   = model.ToolSpec{Name: "lamp", Doc: "Switch a lamp", Schema: []byte(`{"type":"object","properties":{"state":{"type":"string","enum":["on","off"]}}}`)}
	answer = Answer{Text: "I look. 门廊灯 <is> & was on.", Calls: []model.ToolCall{
		{Name: "lamp", Arguments: `{"z":1.50,"a":{"d":12345678901234567890,"c":[]}}`}, {Name: "lamp", Arguments: `{}`},
	}}
)

func (s suite) answers(a Answer) { s.fake.Script(func(Request) Answer { return a }) }

func (s suite) reply(t *testing.T) {
	s.answers(Answer{Text: answer.Text})
	var shown strings.Builder
	pieces := 0
	reply, err := s.client(t, s.fake.URL(), patience).Generate(t.Context(), question, func(d model.Delta) {
		shown.WriteString(d.Text)
		pieces++
	})
	if err != nil {
		t.Fatal(err)
	}
	if reply.Text != answer.Text || shown.String() != answer.Text || pieces < 2 {
		t.Errorf("reply %q, shown %q in %d pieces, want %q", reply.Text, shown.String(), pieces, answer.Text)
	}
	if reply.Stop != model.StopEnd || reply.Model == "" {
		t.Errorf("stop %q of model %q", reply.Stop, reply.Model)
	}
	if reply.Usage.Prompt <= 0 || reply.Usage.Reply <= 0 || reply.Usage.Prefill <= 0 || reply.Usage.Decode <= 0 {
		t.Errorf("usage is %+v", reply.Usage)
	}
}

func (s suite) calls(t *testing.T) {
	s.answers(answer)
	req := question
	req.Tools = []model.ToolSpec{lamp}
	reply, err := s.client(t, s.fake.URL(), patience).Generate(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Calls) != 2 || reply.Text != answer.Text {
		t.Fatalf("reply is %+v", reply)
	}
	for i, c := range reply.Calls {
		if want := answer.Calls[i]; c.Name != want.Name || c.Arguments != want.Arguments {
			t.Errorf("call is %+v, want %+v", c, want)
		}
	}
	if a, b := reply.Calls[0].ID, reply.Calls[1].ID; a == "" || b == "" || a == b {
		t.Errorf("ids are %q and %q", a, b)
	}
}

func (s suite) length(t *testing.T) {
	s.answers(Answer{Text: strings.Repeat("and so on ", 100)})
	req := question
	req.Reply = 8
	reply, err := s.client(t, s.fake.URL(), patience).Generate(t.Context(), req, nil)
	if err != nil || reply.Stop != model.StopLength || reply.Text == "" {
		t.Errorf("reply %+v, error %v", reply, err)
	}
}

func (s suite) evaluateOnly(t *testing.T) {
	s.answers(answer)
	req := question
	req.Reply = 0
	reply, err := s.client(t, s.fake.URL(), patience).Generate(t.Context(), req, func(d model.Delta) {
		t.Errorf("shown %+v", d)
	})
	if err != nil || reply.Text != "" || len(reply.Calls) != 0 || reply.Usage.Prompt <= 0 {
		t.Errorf("reply %+v, error %v", reply, err)
	}
}

func (s suite) refusals(t *testing.T) {
	for _, want := range []error{model.ErrUnavailable, model.ErrNotFound, model.ErrOverflow, model.ErrBadOutput,
		model.ErrNoTools, model.ErrRefused} {
		for _, late := range []bool{false, true} {
			if late && want == model.ErrRefused {
				continue // nothing is refused in the middle of a reply
			}
			s.answers(Answer{Text: "One moment", Fail: want, Late: late})
			reply, err := s.client(t, s.fake.URL(), patience).Generate(t.Context(), question, nil)
			if !errors.Is(err, want) || !reflect.DeepEqual(reply, model.Reply{}) {
				t.Errorf("late %v: reply %+v, error %v, want %v", late, reply, err, want)
			}
		}
	}
}

func (s suite) nobodyThere(t *testing.T) {
	_, err := s.client(t, closedPort(t), patience).Generate(t.Context(), question, nil)
	if !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("error is %v", err)
	}
}

// broken ends the answer after each byte, once politely and once by a broken connection.
func (s suite) broken(t *testing.T) {
	s.answers(answer)
	p := newPlayer(t, s.fake.URL())
	client := s.client(t, p.url, patience)
	whole, err := client.Generate(t.Context(), question, nil)
	if err != nil {
		t.Fatal(err)
	}
	record := p.recorded()
	if len(record) == 0 {
		t.Fatal("nothing was recorded")
	}
	for n := 0; n < len(record); n++ {
		for _, abort := range []bool{false, true} {
			p.play(func(w http.ResponseWriter, _ *http.Request) {
				write(w, record[:n])
				if abort {
					panic(http.ErrAbortHandler)
				}
			})
			reply, err := client.Generate(t.Context(), question, nil)
			if err == nil {
				reply.Usage, whole.Usage = model.Usage{}, model.Usage{}
				if !reflect.DeepEqual(reply, whole) {
					t.Fatalf("after %d bytes (abort %v) half a reply passed as %+v", n, abort, reply)
				}
			} else if !errors.Is(err, model.ErrUnavailable) && !errors.Is(err, model.ErrBadOutput) {
				t.Fatalf("after %d bytes (abort %v): %v", n, abort, err)
			}
		}
	}
}

func (s suite) strange(t *testing.T) {
	s.answers(Answer{Text: "One moment please"})
	p := newPlayer(t, s.fake.URL())
	client := s.client(t, p.url, patience)
	if _, err := client.Generate(t.Context(), question, nil); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(p.recorded()), "\n")
	for _, body := range []string{
		"", "\n\n\n", "null\n", "[]\n", "{}\n", "\x00\xff\xfe", "42", `{"done":"yes"}`, `{"message":{"content":7}}`,
		"<html><body>Welcome to your router</body></html>", strings.Repeat("x", 3<<20), first + "\n" + strings.Repeat("[", 3<<20),
		first + "\nrubbish\n", strings.Repeat("[", 500_000),
	} {
		p.play(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			write(w, []byte(body))
		})
		reply, err := client.Generate(t.Context(), question, nil)
		if !errors.Is(err, model.ErrUnavailable) && !errors.Is(err, model.ErrBadOutput) || !reflect.DeepEqual(reply, model.Reply{}) {
			t.Errorf("after %.40q: reply %+v, error %v", body, reply, err)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("after %.40q the error has %d bytes", body, len(err.Error()))
		}
	}
}

func (s suite) endless(t *testing.T) {
	s.answers(Answer{Text: strings.Repeat("again-", 100) + " and again"})
	p := newPlayer(t, s.fake.URL())
	client := s.client(t, p.url, patience)
	if _, err := client.Generate(t.Context(), question, nil); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(p.recorded()), "\n")
	lines := []byte(strings.Repeat(first+"\n", 100))
	p.play(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(lines); err != nil {
				return
			}
		}
	})
	if _, err := client.Generate(t.Context(), question, nil); !errors.Is(err, model.ErrBadOutput) {
		t.Errorf("error is %v", err)
	}
}

func (s suite) silence(t *testing.T) {
	s.answers(Answer{Text: "One moment please"})
	p := newPlayer(t, s.fake.URL())
	if _, err := s.client(t, p.url, patience).Generate(t.Context(), question, nil); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(p.recorded()), "\n")
	for _, begin := range []string{"", first + "\n", first + "\n" + first[:len(first)/2]} {
		p.play(func(w http.ResponseWriter, r *http.Request) {
			write(w, []byte(begin))
			<-r.Context().Done()
		})
		_, err := s.client(t, p.url, 30*time.Millisecond).Generate(t.Context(), question, nil)
		if !errors.Is(err, model.ErrStalled) || errors.Is(err, model.ErrUnavailable) {
			t.Errorf("after %q: error is %v", begin, err)
		}
	}
}

func (s suite) cancelled(t *testing.T) {
	s.answers(Answer{Text: "One moment please"})
	p := newPlayer(t, s.fake.URL())
	client := s.client(t, p.url, patience)
	if _, err := client.Generate(t.Context(), question, nil); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(p.recorded()), "\n")
	p.play(func(w http.ResponseWriter, r *http.Request) {
		write(w, []byte(first+"\n"))
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := client.Generate(ctx, question, func(model.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || errors.Is(err, model.ErrUnavailable) || errors.Is(err, model.ErrStalled) {
		t.Errorf("error is %v", err)
	}
	if _, err = client.Generate(ctx, question, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error of a request after the end is %v", err)
	}
}
