// Package qq will be the QQ channel. Its section of the file is final already, so that a config written today stays
// valid; until the channel is there, setting it up is an error that says so.
package qq

import (
	"errors"

	"pinch/agent/config"
)

// Config is the [channels.qq] section.
type Config struct {
	AppID    string        `toml:"app_id" doc:"of the bot, from the QQ open platform"`
	Secret   config.Secret `toml:"secret" doc:"of the bot, as env:NAME, file:PATH or credential:NAME"`
	Sandbox  bool          `toml:"sandbox" doc:"talk to the sandbox"`
	API      string        `toml:"api" doc:"address of the API"`
	TokenURL string        `toml:"token_url" doc:"address that gives access tokens"`
	Gateway  string        `toml:"gateway" doc:"address of the gateway; empty = asked of the API"`
	Allow    []string      `toml:"allow" doc:"openids that may talk to it; empty = pairing"`
}

// DefaultConfig is the section of an absent file.
func DefaultConfig() Config {
	return Config{API: "https://api.sgroup.qq.com", TokenURL: "https://bots.qq.com/app/getAppAccessToken"}
}

// Validate refuses a set-up channel, since this version cannot run it.
func (c Config) Validate() error {
	if c.AppID != "" {
		return errors.New("app_id is set, but this version of Pinch has no QQ channel yet: leave the section out")
	}
	return nil
}
