// Package engine is the context engine: it decides what of a conversation stands in a request, and in which epoch.
package engine

import (
	"context"

	"pinch/agent/session"
)

// Log is the stored tail of conversations.
type Log interface {
	// Tail returns the current epoch and its entries in order. An unknown conversation has the zero epoch.
	Tail(ctx context.Context, key session.Key) (session.Epoch, []session.Entry, error)
	// NewEpoch stores an epoch as the conversation's current one and returns it with its id. Survives SIGKILL.
	NewEpoch(ctx context.Context, epoch session.Epoch) (session.Epoch, error)
}
