package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
)

var ask = model.Request{Reply: 10, Messages: []model.Message{{Role: model.User, Text: "hello"}}}

func failing(kind error) modeltest.Step { return modeltest.Fail(fmt.Errorf("detail of %w", kind)) }

func TestFallbackGoesOn(t *testing.T) {
	for _, kind := range []error{model.ErrUnavailable, model.ErrNotFound, model.ErrStalled} {
		first, second := modeltest.NewScript(t, failing(kind)), modeltest.NewScript(t, modeltest.Say("hi there"))
		third := modeltest.NewScript(t)
		var shown strings.Builder
		client := model.Fallback(model.Named{"a", first}, model.Named{"b", second}, model.Named{"c", third})
		reply, err := client.Generate(t.Context(), ask, func(d model.Delta) { shown.WriteString(d.Text) })
		if err != nil || reply.Text != "hi there" || shown.String() != "hi there" {
			t.Errorf("after %v: reply %+v, error %v, shown %q", kind, reply, err, shown.String())
		}
	}
}

func TestFallbackStaysWithWhatTheNextWouldNotHelp(t *testing.T) {
	for _, kind := range []error{model.ErrOverflow, model.ErrBadOutput, model.ErrNoTools, model.ErrRefused} {
		client := model.Fallback(model.Named{"away", modeltest.NewScript(t, failing(model.ErrUnavailable))},
			model.Named{"here", modeltest.NewScript(t, failing(kind))}, model.Named{"unasked", modeltest.NewScript(t)})
		_, err := client.Generate(t.Context(), ask, nil)
		if !errors.Is(err, kind) || errors.Is(err, model.ErrUnavailable) || !strings.Contains(err.Error(), "away") {
			t.Errorf("error is %v", err)
		}
	}
}

func TestFallbackNeverSaysTwice(t *testing.T) {
	half := modeltest.Step{Say: "half a", Fail: model.ErrUnavailable}
	client := model.Fallback(model.Named{"a", modeltest.NewScript(t, half)}, model.Named{"b", modeltest.NewScript(t)})
	if _, err := client.Generate(t.Context(), ask, nil); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("error is %v", err)
	}
}

func TestFallbackTellsWhatAllSaid(t *testing.T) {
	client := model.Fallback(model.Named{"a", modeltest.NewScript(t, failing(model.ErrUnavailable))},
		model.Named{"b", modeltest.NewScript(t, failing(model.ErrNotFound))})
	_, err := client.Generate(t.Context(), ask, nil)
	if !errors.Is(err, model.ErrUnavailable) || !errors.Is(err, model.ErrNotFound) {
		t.Errorf("error is %v", err)
	}
	want := "a: detail of the model cannot be reached; b: detail of the server does not have the model"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if _, err := model.Fallback().Generate(t.Context(), ask, nil); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("without models: %v", err)
	}
}

func TestFallbackEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	first := modeltest.NewScript(t, modeltest.Step{Fail: model.ErrUnavailable, Check: func(model.Request) error { cancel(); return nil }})
	client := model.Fallback(model.Named{"a", first}, model.Named{"b", modeltest.NewScript(t)})
	if _, err := client.Generate(ctx, ask, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
