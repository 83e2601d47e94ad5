package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"pinch/channels"
)

const refused = "token refused by Telegram: get a new one from @BotFather and set channels.telegram.token"

// Channel is one bot.
type Channel struct {
	name    string
	account Account
	log     *slog.Logger
	wire    *wire
	bot     *bot.Bot

	mu     sync.Mutex
	me     models.User // zero until getMe answered
	state  string
	typing typing
}

var (
	_ channels.Channel  = (*Channel)(nil)
	_ channels.Shower   = (*Channel)(nil)
	_ channels.Splitter = (*Channel)(nil)
)

// New makes the channel of an account. It does no I/O; a token that cannot be read shows in State.
func New(name string, account Account, log *slog.Logger) *Channel {
	account.URL = strings.TrimRight(account.URL, "/")
	c := &Channel{name: name, account: account, log: log.With("channel", name), wire: &wire{}, typing: newTyping(), state: "not started"}
	if account.Token.Reveal() == "" {
		c.state = "no token: set channels.telegram.token"
		if err := account.Token.Err(); err != nil {
			c.state = fmt.Sprintf("no token: %v", err)
		}
		return c
	}
	// With a token and without getMe it cannot fail.
	c.bot, _ = bot.New(account.Token.Reveal(), bot.WithSkipGetMe(), bot.WithServerURL(account.URL),
		bot.WithHTTPClient(time.Minute, c.wire), bot.WithErrorsHandler(func(err error) { c.log.Debug("telegram library", "err", err) }))
	return c
}

// Name returns "telegram" or "telegram/ACCOUNT".
func (c *Channel) Name() string { return c.name }

// State says in a few words how the channel is, and what to do about it.
func (c *Channel) State() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *Channel) setState(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s != c.state {
		c.log.Info("telegram", "state", s)
	}
	c.state = s
}

func (c *Channel) self() models.User {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.me
}

// Check asks Telegram who the bot is. The error is what State would say.
func (c *Channel) Check(ctx context.Context) (string, error) {
	if c.bot == nil {
		return "", errors.New(c.State())
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	me, err := c.bot.GetMe(ctx)
	if err != nil {
		return "", errors.New(stateOf(err))
	}
	return connected(*me), nil
}

func connected(me models.User) string { return "connected as @" + me.Username }

// Run polls until ctx ends. It shows what is wrong in State and never gives up.
func (c *Channel) Run(ctx context.Context, accept channels.Accept) error {
	if c.bot == nil {
		c.log.Error("telegram has no token", "state", c.State())
		<-ctx.Done()
		return nil
	}
	var typist sync.WaitGroup
	typist.Go(func() { c.keepTyping(ctx) })
	defer c.wire.close()
	defer typist.Wait()

	p := poller{Channel: c, accept: accept}
	failures, last := 0, 0
	for ctx.Err() == nil {
		err := p.step(ctx)
		if err == nil || ctx.Err() != nil {
			failures = 0
			continue
		}
		if code := codeOf(err); code != last {
			failures, last = 0, code // a day offline must not make the first 401 count as the thousandth
		}
		failures++
		c.setState(stateOf(err))
		c.log.Debug("telegram poll", "err", err, "failures", failures)
		rest(ctx, pause(err, failures))
	}
	return nil
}

// codeOf is Telegram's error code, 0 for an error of the network.
func codeOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return 0
}

// stateOf says what an error means to a person.
func stateOf(err error) string {
	var r *refusal
	switch {
	case !errors.As(err, &r):
		return "offline: " + brief(err)
	case r.Code == http.StatusUnauthorized, r.Code == http.StatusNotFound:
		return refused
	case r.Code == http.StatusConflict:
		return "another program polls with this token: stop it, or get a token of its own from @BotFather"
	case r.Code == http.StatusTooManyRequests:
		return fmt.Sprintf("Telegram asks to wait for %v", r.after())
	}
	return "offline: " + brief(err)
}

// brief is the end of an error's text, where the cause stands.
func brief(err error) string {
	text := []rune(strings.ToValidUTF8(err.Error(), ""))
	if errors.Is(err, context.DeadlineExceeded) {
		return "Telegram does not answer"
	}
	return string(text[max(0, len(text)-160):])
}

// pause returns how long to wait after an error that was the n-th in a row.
func pause(err error, n int) time.Duration {
	var r *refusal
	if errors.As(err, &r) {
		switch r.Code {
		case http.StatusUnauthorized, http.StatusNotFound:
			return jitter(min(time.Duration(n)*time.Minute, 10*time.Minute))
		case http.StatusConflict:
			if n >= 3 {
				return 30*time.Second + rand.N(20*time.Second)
			}
		case http.StatusTooManyRequests:
			return max(r.after(), time.Second)
		}
	}
	return backoff(n)
}

// backoff is 100 ms after the first failure, doubling up to 5 s.
func backoff(n int) time.Duration {
	return jitter(min(100*time.Millisecond<<min(n-1, 6), 5*time.Second))
}

// jitter takes up to a quarter off, so that many boards do not come back in step.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/4) }

// rest waits, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
