package storage

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Settings are named values that were changed at run time.
type Settings struct{ scope }

// Get returns a value, "" when it is not set.
func (s Settings) Get(ctx context.Context, name string) (string, error) {
	scan := func(rows *sql.Rows, value *string) error { return rows.Scan(value) }
	values, err := query(ctx, s.db, scan, `SELECT value FROM settings WHERE agent = ? AND name = ?`, s.agent, name)
	if err != nil {
		return "", fmt.Errorf("reading setting %s: %w", name, explain(s.db.dir, err))
	}
	return strings.Join(values, ""), nil // one at most
}

// Set stores a value, on the disk when it returns.
func (s Settings) Set(ctx context.Context, name, value string) error {
	return s.db.full(ctx, "storing setting "+name, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (agent, name, value) VALUES (?, ?, ?)
			ON CONFLICT (agent, name) DO UPDATE SET value = excluded.value`, s.agent, name, value)
		return err
	})
}
