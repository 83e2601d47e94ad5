// Package telegram is the Telegram channel: a bot that polls for updates, with Telegram's own Bot API server or one
// that speaks like it. An update is confirmed only after it is stored; a reply is sent as HTML made from Markdown.
package telegram

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pinch/agent/config"
)

// Account is one bot.
type Account struct {
	Token config.Secret   `toml:"token" doc:"from @BotFather, as env:NAME, file:PATH or credential:NAME"`
	Allow []int64         `toml:"allow" doc:"ids of the people who may talk to it, such as [123456789]"`
	URL   string          `toml:"url" doc:"address of the Bot API"`
	Poll  config.Duration `toml:"poll" doc:"how long one request waits for a message; at most 50s"`
}

// Config is the [channels.telegram] section: one bot, and more under names.
type Config struct {
	Account
	Accounts map[string]Account `toml:"accounts" doc:"more bots, by a name of yours, with the same settings"`
}

// DefaultConfig is the section of an absent file.
func DefaultConfig() Config {
	var c Config
	c.Default()
	return c
}

// Default fills in what an account may leave out.
func (a *Account) Default() {
	*a = Account{URL: "https://api.telegram.org", Poll: config.Duration(50 * time.Second)}
}

// Validate checks one account. A token that cannot be read now is no error here: the channel says so.
func (a Account) Validate() error {
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New(`url is no address: write one like "https://api.telegram.org"`)
	case a.Token.Reveal() != "" && !plausible(a.Token.Reveal()):
		return errors.New(`token is none of Telegram's: it looks like "123456789:AbCdEf", copy it again from @BotFather`)
	case time.Duration(a.Poll) < time.Second || time.Duration(a.Poll) > 50*time.Second:
		return errors.New(`poll must be between "1s" and "50s"`)
	case slices.ContainsFunc(a.Allow, func(id int64) bool { return id <= 0 }):
		return errors.New("allow has a number that is no person's id: ask @userinfobot for yours")
	}
	return nil
}

// plausible reports whether a token has the form NUMBER:LETTERS, and so cannot change the address it stands in.
func plausible(token string) bool {
	id, secret, _ := strings.Cut(token, ":")
	rest := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return -1
		}
		return r
	}, secret)
	_, err := strconv.ParseUint(id, 10, 63)
	return err == nil && secret != "" && rest == ""
}

// Validate checks the section beside its accounts.
func (c Config) Validate() error {
	for name := range c.Accounts {
		if name == "" || strings.ContainsAny(name, "/: \t\n") {
			return fmt.Errorf("accounts has the name %q: use letters, digits and hyphens", name)
		}
	}
	return c.Account.Validate()
}

// All returns the accounts that have a token, by channel name: "telegram", then "telegram/NAME" in order of names.
func (c Config) All() iter.Seq2[string, Account] {
	return func(yield func(string, Account) bool) {
		if c.Token.Set() && !yield("telegram", c.Account) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(c.Accounts)) {
			if a := c.Accounts[name]; a.Token.Set() && !yield("telegram/"+name, a) {
				return
			}
		}
	}
}

// Allowed returns the people who may talk to the bot, as sender ids.
func (a Account) Allowed() []string {
	ids := make([]string, len(a.Allow))
	for i, id := range a.Allow {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return ids
}
