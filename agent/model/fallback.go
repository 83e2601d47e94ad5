package model

import (
	"context"
	"errors"
	"fmt"
)

// Named is a Client with its configured name.
type Named struct {
	Name   string
	Client Client
}

// Fallback asks the clients in order of preference until one answers. It goes on to the next only when the
// failure is ErrUnavailable, ErrNotFound or ErrStalled and nothing of the reply was shown yet. The error
// says what each of them said; when one refused for another reason, only that reason is wrapped.
func Fallback(clients ...Named) Client { return fallback(clients) }

type fallback []Named

func (f fallback) Generate(ctx context.Context, req Request, delta func(Delta)) (Reply, error) {
	if len(f) == 0 {
		return Reply{}, fmt.Errorf("%w: no model is configured, add a [[model]] to the config", ErrUnavailable)
	}
	shown := false
	watch := func(d Delta) {
		shown = shown || d.Text != ""
		if delta != nil {
			delta(d)
		}
	}
	var before error
	for _, c := range f {
		reply, err := c.Client.Generate(ctx, req, watch)
		if err == nil {
			if reply.Model == "" {
				reply.Model = c.Name
			}
			return reply, nil
		}
		err = fmt.Errorf("%s: %w", c.Name, err)
		next := errors.Is(err, ErrUnavailable) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrStalled)
		switch {
		case (!next || shown || ctx.Err() != nil) && before != nil:
			return Reply{}, fmt.Errorf("%w (before that %v)", err, before)
		case !next || shown || ctx.Err() != nil:
			return Reply{}, err
		case before != nil:
			err = fmt.Errorf("%w; %w", before, err)
		}
		before = err
	}
	return Reply{}, before
}
