package storage

import (
	"fmt"

	"pinch/agent/config"
)

// Config is the [storage] section.
type Config struct {
	Budget    config.Size `toml:"disk_budget" doc:"most bytes of the state directory"`
	HighWater float64     `toml:"high_water" doc:"share of the budget above which to clean"`
}

// DefaultConfig is the section of an absent file.
func DefaultConfig() Config { return Config{Budget: 100e6, HighWater: 0.8} }

// Validate checks the section.
func (c Config) Validate() error {
	const least = 1e6
	switch {
	case c.Budget < least:
		return fmt.Errorf("disk_budget %v is too small: 1MB is the least, 100MB is usual", c.Budget)
	case c.HighWater < 0.1 || c.HighWater > 1:
		return fmt.Errorf("high_water %v is out of range: 0.1 to 1, 0.8 is usual", c.HighWater)
	}
	return nil
}
