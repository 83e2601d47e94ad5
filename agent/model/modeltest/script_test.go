package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
)

// watched is a test that may fail without failing the one around it.
type watched struct {
	testing.TB
	said string
	end  func()
}

func (w *watched) Errorf(format string, args ...any) { w.said += fmt.Sprintf(format, args...) }
func (w *watched) Cleanup(f func())                  { w.end = f }
func (w *watched) Failed() bool                      { return w.said != "" }

func user(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Text: text}}}
}

func TestScriptPlays(t *testing.T) {
	s := modeltest.NewScript(t, modeltest.Step{Want: []string{"light"}, Say: "It is on."}, modeltest.Call("lamp", "{}"))
	var pieces []string
	reply, err := s.Generate(t.Context(), user("the light?"), func(d model.Delta) { pieces = append(pieces, d.Text) })
	if err != nil || reply.Text != "It is on." || strings.Join(pieces, "|") != "It |is |on." || reply.Usage.Prompt == 0 {
		t.Errorf("reply %+v, error %v, pieces %q", reply, err, pieces)
	}
	reply, err = s.Generate(t.Context(), user("more"), nil)
	if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name != "lamp" || len(s.Requests()) != 2 {
		t.Errorf("reply %+v, error %v", reply, err)
	}
}

func TestScriptWantsAllResultsOfARound(t *testing.T) {
	s := modeltest.NewScript(t, modeltest.Step{Want: []string{"one", "two"}})
	req := user("the light?")
	req.Messages = append(req.Messages, model.Message{Role: model.Tool, Text: "one"}, model.Message{Role: model.Tool, Text: "two"})
	if _, err := s.Generate(t.Context(), req, nil); err != nil {
		t.Error(err)
	}
}

func TestScriptFailsTheTest(t *testing.T) {
	for want, steps := range map[string][]modeltest.Step{
		"no request was expected": nil,
		`"door" is missing`:       {{Want: []string{"door"}}},
		"check says no":           {{Check: func(model.Request) error { return errors.New("check says no") }}},
		"1 more requests":         {modeltest.Say("a"), modeltest.Say("b")},
	} {
		w := &watched{TB: t}
		s := modeltest.NewScript(w, steps...)
		s.Generate(t.Context(), user("the light?"), nil)
		w.end()
		if !strings.Contains(w.said, want) {
			t.Errorf("the test was told %q, want %q", w.said, want)
		}
	}
}

func TestScriptBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := modeltest.NewScript(t, modeltest.Step{Block: release, Say: "late"}, modeltest.Step{Block: release})
		got := make(chan model.Reply, 1)
		go func() {
			reply, _ := s.Generate(t.Context(), user("x"), nil)
			got <- reply
		}()
		synctest.Wait()
		if len(got) != 0 {
			t.Error("answered too early")
		}
		close(release)
		if reply := <-got; reply.Text != "late" {
			t.Errorf("reply is %+v", reply)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Generate(ctx, user("x"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}
