package agent

import (
	"context"
	"time"

	"pinch/agent/engine"
	"pinch/agent/memory"
	"pinch/agent/session"
	"pinch/agent/tool"
	"pinch/channels"
)

// Store is what the agent needs kept. Everything is bound to one agent's rows.
type Store struct {
	Journal       Journal
	Inbox         Inbox
	Outbox        Outbox
	People        People
	Conversations Conversations
	Records       tool.Records
	Log           engine.Log
	Past          memory.Past
	Settings      Settings
}

// Journal is the two full commits of a turn, and the ledger.
type Journal interface {
	// Accept makes a batch durable and returns the rows that are new and admitted, in order. An event that was
	// accepted before is left out.
	Accept(ctx context.Context, batch []channels.Admitted) ([]session.Pending, error)
	// Commit records a turn, marks its inbox rows answered and queues its parts.
	Commit(ctx context.Context, turn session.Turn) error
	// Spend records what was asked of a model outside of turns.
	Spend(ctx context.Context, costs []session.Cost, now time.Time) error
}

// Inbox is the accepted messages that are not answered yet.
type Inbox interface {
	// Pending returns them, oldest first.
	Pending(ctx context.Context) ([]session.Pending, error)
	// Retake counts one more attempt at a row that an earlier process left unanswered. Survives SIGKILL when it returns.
	Retake(ctx context.Context, id int64) error
}

// Outbox is the parts that are committed and not yet accepted by their channel.
type Outbox interface {
	// Due returns the first unsent part of each address of a channel that may go now, and when the next may.
	// A zero next means that nothing waits for a time.
	Due(ctx context.Context, channel string, now time.Time) (due []channels.Part, next time.Time, err error)
	// Sent marks a part as accepted under the platform's id. Survives SIGKILL when it returns.
	Sent(ctx context.Context, part int64, id string) error
	// Defer puts a part off and counts the try; a zero time gives it up.
	Defer(ctx context.Context, part int64, until time.Time) error
}

// People knows who may speak.
type People interface {
	Facts(ctx context.Context, in channels.Inbound) (channels.Facts, error)
}

// Conversations keeps the conversation rows; Commit updates them.
type Conversations interface {
	Get(ctx context.Context, key session.Key) (session.Conversation, error)
	List(ctx context.Context, limit int) ([]session.Conversation, error) // last used first
}
