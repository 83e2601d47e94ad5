package storage

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"pinch/channels"
)

const seenSQL = `SELECT 1 FROM inbox WHERE channel = ? AND event = ?`

// People knows who may speak.
type People struct {
	db    *DB
	allow map[string][]string
}

// People returns what is known of senders; allow has, by channel name, the ids of those who may speak there.
func (db *DB) People(allow map[string][]string) People { return People{db, allow} }

// Facts gathers what preflight must know. The owner is who sits at the console, and the only one who is allowed on a
// channel.
func (p People) Facts(ctx context.Context, in channels.Inbound) (channels.Facts, error) {
	ids := p.allow[in.Channel]
	f := channels.Facts{Allowed: in.Sender.ID != "" && slices.Contains(ids, in.Sender.ID)}
	f.Owner = in.Channel == "console" || f.Allowed && len(ids) == 1
	scan := func(rows *sql.Rows, seen *bool) error { return rows.Scan(seen) }
	seen, err := query(ctx, p.db, scan, seenSQL, in.Channel, in.Event)
	if err != nil {
		return channels.Facts{}, fmt.Errorf("looking up a message: %w", explain(p.db.dir, err))
	}
	f.Seen = len(seen) > 0
	return f, nil
}
