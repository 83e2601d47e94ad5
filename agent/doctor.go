package agent

import (
	"context"
	"errors"
	"fmt"

	"pinch/agent/command"
	"pinch/agent/model"
)

// CheckModel is the check of one configured model.
func CheckModel(c model.Config, p model.Prober) command.Check {
	return command.Check{Name: "model " + c.Name, Run: func(ctx context.Context) command.Finding {
		info, err := p.Probe(ctx)
		switch {
		case errors.Is(err, model.ErrNotFound):
			return command.Finding{Level: command.Warn, Text: err.Error(), Remedy: "ollama pull " + c.Model}
		case err != nil:
			return command.Finding{Level: command.Warn, Text: err.Error(), Remedy: "Pinch works without it, by its reflexes"}
		case !info.Tools:
			return command.Finding{
				Level: command.Warn, Text: fmt.Sprintf("%s, window %d, but it cannot use tools", info.Model, info.Window),
				Remedy: "choose one that can, such as qwen3:1.7b",
			}
		}
		return command.Finding{Level: command.OK, Text: fmt.Sprintf("%s at %s, window %d", info.Model, c.URL, info.Window)}
	}}
}
