package storage

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate runs the numbered files that the database has not seen, each in its own transaction. The number of the
// last one is the database's user_version.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	names, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return err
	}
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("it was written by a newer Pinch (schema %d, this one knows %d); install that version again, "+
			"or restore the backup from before it", version, len(names))
	}
	for i, name := range names[version:] {
		if err := step(ctx, db, name, version+i+1); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		log.Info("database schema changed", "file", name)
	}
	return nil
}

func step(ctx context.Context, db *sql.DB, name string, version int) error {
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(text)+fmt.Sprintf("\n;PRAGMA user_version = %d", version)); err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}
