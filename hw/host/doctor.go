package host

import (
	"context"
	"time"

	"pinch/agent/command"
)

// Checks are the checks of the clock and of the board.
func (h Host) Checks() []command.Check {
	return []command.Check{{Name: "clock", Run: h.checkClock}, {Name: "board", Run: h.checkBoard}}
}

func (h Host) checkClock(context.Context) command.Finding {
	now := time.Now()
	if !h.ClockSet(now) {
		return command.Finding{
			Level: command.Warn, Text: "the clock says " + now.Format(time.RFC3339),
			Remedy: "connect the network once, or set it: sudo date -s '2026-12-01 12:00'",
		}
	}
	return command.Finding{Level: command.OK, Text: now.Format(time.RFC3339)}
}

func (h Host) checkBoard(ctx context.Context) command.Finding {
	reading, err := h.Read(ctx)
	if err != nil {
		return command.Finding{Level: command.Warn, Text: h.Model() + ": " + err.Error()}
	}
	return command.Finding{Level: command.OK, Text: h.Model() + ": " + reading.String()}
}
