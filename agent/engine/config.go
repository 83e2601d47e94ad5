package engine

import "fmt"

// The values of engine.compaction.
const (
	Safeguard  = "safeguard"
	Aggressive = "aggressive"
	Off        = "off"
)

// Config is the [engine] section.
type Config struct {
	Compaction string `toml:"compaction" doc:"when the window is full: safeguard, aggressive (sooner and deeper) or off (old turns are left out)"`
	Flush      Flush  `toml:"flush" doc:"lasting facts are written to memory before a compaction"`
}

// Flush is [engine.flush].
type Flush struct {
	Enabled   bool    `toml:"enabled" doc:"let the model write down lasting facts first"`
	Threshold float64 `toml:"threshold" doc:"share of the window from which it is worth a request"`
	Prompt    string  `toml:"prompt" doc:"instruction; empty = Pinch's own"`
}

// DefaultConfig is the section of an absent file.
func DefaultConfig() Config {
	return Config{Compaction: Safeguard, Flush: Flush{Enabled: true, Threshold: 0.6}}
}

// Validate checks the section.
func (c Config) Validate() error {
	switch {
	case c.Compaction != Safeguard && c.Compaction != Aggressive && c.Compaction != Off:
		return fmt.Errorf(`compaction %q is not one of "safeguard", "aggressive", "off"`, c.Compaction)
	case c.Flush.Threshold < 0.2 || c.Flush.Threshold > 1:
		return fmt.Errorf("flush.threshold %v is out of range: 0.2 to 1, 0.6 is usual", c.Flush.Threshold)
	}
	return nil
}
