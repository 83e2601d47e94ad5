package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"pinch/agent/command"
	"pinch/agent/session"
	"pinch/budget"
	"pinch/channels"
)

// maxTurns is how many turns run at once, over all conversations.
const maxTurns = 4

// Agent accepts inbounds, gives each conversation a lane, and delivers what its turns say.
type Agent struct {
	store   Store
	persona *Persona
	log     *slog.Logger
	started time.Time

	table    command.Table        // set by Bind
	channels map[string]*delivery // set by Bind

	ctx      context.Context // ends when Serve ends; lanes live under it
	slots    chan struct{}   // one token a running turn
	prefixes prefixes
	measures measures
	work     sync.WaitGroup // lanes and deliverers

	resting resting

	mu    sync.Mutex
	lanes map[session.Key]*lane
}

// New returns an agent. Bind completes it, Serve makes it live.
func New(store Store, persona *Persona, log *slog.Logger) *Agent {
	return &Agent{
		store: store, persona: persona, log: log, started: time.Now(),
		slots: make(chan struct{}, maxTurns),
		lanes: map[session.Key]*lane{}, channels: map[string]*delivery{},
		measures: measures{learned: budget.NewEstimator(budget.Qwen)},
		resting:  resting{unwind: time.AfterFunc(calm, debug.FreeOSMemory)},
	}
}

// Bind gives the agent its operations and channels, which may need the agent themselves. It is called once.
func (a *Agent) Bind(table command.Table, list ...channels.Channel) {
	a.table = table
	for _, ch := range list {
		a.channels[ch.Name()] = &delivery{channel: ch, kick: make(chan struct{}, 1)}
	}
}

// Serve runs the channels until ctx ends or one of them fails, and takes up what an earlier process left: unanswered
// messages and unsent parts. Turns that still run at the end are left unanswered, for the next start.
func (a *Agent) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	a.ctx = ctx
	defer a.resting.unwind.Stop()
	defer a.work.Wait()
	defer cancel(nil)
	if err := a.recover(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	a.work.Go(func() { a.wakeUp(ctx) })
	for name, d := range a.channels {
		a.work.Go(func() { a.deliver(ctx, d) })
		a.work.Go(func() {
			if err := d.channel.Run(ctx, a.Accept); err != nil {
				cancel(fmt.Errorf("channel %s: %w", name, err))
			}
		})
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// recover hands what an earlier process accepted and did not answer to the lanes, oldest first.
func (a *Agent) recover(ctx context.Context) error {
	pending, err := a.store.Inbox.Pending(ctx)
	if err != nil {
		return fmt.Errorf("read the inbox: %w", err)
	}
	for _, p := range pending {
		p.Left = true
		a.push(p)
	}
	if len(pending) > 0 {
		a.log.Info("taking up unanswered messages", "count", len(pending))
	}
	return nil
}

// Accept decides about a batch, makes it durable and hands it to the lanes. After it returned nil the platform may
// be told that we have it.
func (a *Agent) Accept(ctx context.Context, batch []channels.Inbound) error {
	var admitted []channels.Admitted
	for _, in := range batch {
		facts, err := a.store.People.Facts(ctx, in)
		if err != nil {
			return fmt.Errorf("look up the sender: %w", err)
		}
		d := channels.Preflight(in, facts)
		if d.Verdict == channels.Ignore {
			a.log.Info("ignored a message", "channel", in.Channel, "sender", in.Sender.ID, "reason", d.Reason)
			continue
		}
		admitted = append(admitted, channels.Admitted{Inbound: in, Decision: d})
	}
	if len(admitted) == 0 {
		return nil
	}
	rows, err := a.store.Journal.Accept(ctx, admitted)
	if err != nil {
		return fmt.Errorf("store a message: %w", err)
	}
	for _, row := range rows {
		a.wake(row.Inbound.Channel) // writing reopens a closed reply window
		a.push(row)
	}
	return nil
}

// Faults counts prompts that did not begin with the one before them, with no epoch start to explain it.
func (a *Agent) Faults() int { return a.prefixes.count() }

// Call runs an operation for whoever carries the call: the socket, the command line.
func (a *Agent) Call(ctx context.Context, c command.Call) (command.Result, error) {
	if c.Conversation == "" {
		c.Conversation = string(session.Main(a.persona.ID))
	}
	if c.Language == "" {
		c.Language = a.persona.language("")
	}
	return a.table.Call(ctx, c)
}
