package storage

import (
	"context"
	"fmt"

	"pinch/agent/command"
)

// The free bytes of a disk that is nearly full, and of one that is full.
const (
	scarce = 50 << 20
	none   = 2 << 20
)

// Doctor is the check of a state directory; origin is what chose it.
func Doctor(dir, origin string, c Config) command.Check {
	return command.Check{Name: "state", Run: func(ctx context.Context) command.Finding {
		info, err := Check(ctx, dir)
		used := info.Database + info.Log
		text := fmt.Sprintf("%s (from %s), %.1f MB of %v, %.1f MB free on the disk", dir, origin, float64(used)/1e6, c.Budget, float64(info.Free)/1e6)
		switch {
		case err != nil:
			return command.Finding{Level: command.Fail, Text: err.Error()}
		case info.Problem != "":
			return command.Finding{Level: command.Fail, Text: "the database is damaged: " + info.Problem, Remedy: "keep a copy of " + dir + " before anything else"}
		case info.Free < none:
			return command.Finding{Level: command.Fail, Text: "the disk is full: " + text, Remedy: "free some space there"}
		case info.Free < scarce:
			return command.Finding{Level: command.Warn, Text: "the disk is nearly full: " + text, Remedy: "free some space there"}
		case used > int64(float64(c.Budget)*c.HighWater):
			return command.Finding{Level: command.Warn, Text: text, Remedy: "raise storage.disk_budget"}
		}
		return command.Finding{Level: command.OK, Text: text}
	}}
}
