package telegram

import (
	"context"

	"pinch/agent/command"
)

// Doctor is the check of the bot: whether Telegram knows its token.
func (c *Channel) Doctor() command.Check {
	return command.Check{Name: c.Name(), Run: func(ctx context.Context) command.Finding {
		text, err := c.Check(ctx)
		if err != nil {
			return command.Finding{Level: command.Fail, Text: err.Error(), Remedy: "pinch run goes on trying"}
		}
		return command.Finding{Level: command.OK, Text: text}
	}}
}
