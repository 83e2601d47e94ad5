package storage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"pinch/agent/session"
)

// The settings of the connections. Page size and vacuum mode only count before a new file has its first page, so they
// stand before the journal mode. 1 KB pages halve what a small commit writes; the log is moved into the file at about
// 1 MB and never kept much larger. The caches are small: the kernel has the file in its own, and a commit of another
// connection empties those of the readers.
const (
	writing = `PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
		PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -256;
		PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 2000000`
	reading = `PRAGMA query_only = ON; PRAGMA cache_size = -128`
)

// connector opens connections with their settings; a pool may open one at any time.
type connector struct {
	driver *sqlite3.SQLiteDriver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// connect returns a pool on a file; mode is SQLite's, "rw" or "ro".
func connect(path, mode, settings string) *sql.DB {
	hook := func(conn *sqlite3.SQLiteConn) error {
		_, err := conn.Exec(settings, nil)
		return err
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "_busy_timeout=5000&_stmt_cache_size=24&mode=" + mode}
	return sql.OpenDB(connector{&sqlite3.SQLiteDriver{ConnectHook: hook}, uri.String()})
}

// errNothing ends a write that found nothing to write; it is no error.
var errNothing = errors.New("nothing to write")

// full runs a transaction that is on the disk when it returns.
func (db *DB) full(ctx context.Context, doing string, run func(*sql.Tx) error) error {
	return db.commit(ctx, doing, "FULL", run)
}

// light runs a transaction that survives the death of the process when it returns, and a power cut later.
func (db *DB) light(ctx context.Context, doing string, run func(*sql.Tx) error) error {
	return db.commit(ctx, doing, "NORMAL", run)
}

func (db *DB) commit(ctx context.Context, doing, synchronous string, run func(*sql.Tx) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	err := db.transact(ctx, synchronous, run)
	switch {
	case errors.Is(err, errNothing):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", doing, explain(db.dir, err))
	}
	// A full commit syncs what is before it in the log, but one that changed no page syncs nothing: only Flush is sure.
	if synchronous != "FULL" && !db.loose {
		db.loose = true
		db.later = time.AfterFunc(soon, db.flushLater)
	}
	return nil
}

func (db *DB) transact(ctx context.Context, synchronous string, run func(*sql.Tx) error) error {
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := db.set(conn, synchronous); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := run(tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}

// set changes how commits of the writer reach the disk. The lock is held.
func (db *DB) set(conn *sql.Conn, synchronous string) error {
	if synchronous == db.mode {
		return nil
	}
	// This pragma acts while it is compiled: one that comes from the cache of statements does nothing. This Exec never
	// takes one from there.
	err := conn.Raw(func(c any) error {
		_, err := c.(*sqlite3.SQLiteConn).Exec("PRAGMA synchronous = "+synchronous, nil)
		return err
	})
	if err == nil {
		db.mode = synchronous
	}
	return err
}

// rollback undoes a transaction; one that a cancelled context already ended is fine.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// explain adds the path and the next step to an error of the disk.
func explain(dir string, err error) error {
	var e sqlite3.Error
	errors.As(err, &e)
	is := func(codes ...error) bool {
		return slices.ContainsFunc(codes, func(code error) bool {
			return errors.Is(err, code) || errors.Is(e.Code, code) || errors.Is(e.SystemErrno, code)
		})
	}
	switch {
	case is(sqlite3.ErrFull, unix.ENOSPC, unix.EDQUOT):
		return fmt.Errorf("%w: free some space where %s is: %w", session.ErrDiskFull, dir, err)
	case is(sqlite3.ErrCorrupt, sqlite3.ErrNotADB):
		return fmt.Errorf("%s in %s is damaged; stop Pinch, put a backup in its place, or move it away to begin "+
			"with an empty one: %w", fileName, dir, err)
	case is(sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm), is(unix.EACCES, unix.EPERM, unix.EROFS, unix.ENOTDIR):
		return fmt.Errorf("%s cannot be written; check its owner and permissions and that the disk is not read-only, "+
			"or choose another directory: %w", dir, err)
	}
	return err
}

// query reads rows; scan fills one value from the current row.
func query[T any](ctx context.Context, db *DB, scan func(*sql.Rows, *T) error, text string, args ...any) ([]T, error) {
	rows, err := db.read.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// one runs a statement that must change exactly one row, or returns missing.
func one(ctx context.Context, tx *sql.Tx, missing error, text string, args ...any) error {
	result, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(missing, err)
	}
	return nil
}

// column is a value that is kept as JSON in a text column.
type column struct{ v any }

func (c column) Value() (driver.Value, error) {
	text, err := json.Marshal(c.v)
	return string(text), err
}

// Scan reads it back into the value that v points to.
func (c column) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("a JSON column holds %T", src)
	}
	return json.Unmarshal([]byte(text), c.v)
}

// stamp is a time that is kept as Unix milliseconds; the zero time is 0.
type stamp struct{ t *time.Time }

func at(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Scan reads it back.
func (s stamp) Scan(src any) error {
	ms, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time column holds %T", src)
	}
	*s.t = time.Time{}
	if ms != 0 {
		*s.t = time.UnixMilli(ms)
	}
	return nil
}
