// Package storage keeps everything that must outlive the process in one SQLite file, pinch.db.
//
// There is one process (a lock on the state directory), one writing connection and a few that only read. A commit is
// full, on the disk when it returns, or light: it survives the death of the process at once and a power cut from the
// next full commit on, or after five seconds. For gives one small type per table family, bound to one agent's rows.
package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// soon is how long a light commit may wait to be on the disk.
const soon = 5 * time.Second

const (
	fileName = "pinch.db"
	walName  = fileName + "-wal"
)

// DB is an open store. Its methods and those of its rows may be called from any goroutine.
type DB struct {
	dir  string
	lock *os.File
	log  *slog.Logger
	read *sql.DB

	mu    sync.Mutex  // held during a write, so that the mode of the commit stays what was set
	write *sql.DB     // one connection
	mode  string      // its synchronous setting; "" = FULL, as it was opened
	loose bool        // a light commit may not be on the disk yet
	later *time.Timer // makes it durable soon
}

// Open locks the state directory, makes it if need be, and brings the database to the newest schema.
// It returns ErrLocked when another process has the directory.
func Open(ctx context.Context, dir string, log *slog.Logger) (*DB, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state directory: %w", explain(dir, err))
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	db := &DB{dir: dir, lock: lock, log: log}
	if err := db.open(ctx, log); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database: %w", explain(dir, err)), db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, log *slog.Logger) error {
	path := filepath.Join(db.dir, fileName)
	// SQLite would make the file readable for everybody; the files beside it take over its permissions.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db.write = connect(path, "rw", writing)
	db.write.SetMaxOpenConns(1)
	if err := migrate(ctx, db.write, log); err != nil {
		return err
	}
	db.read = connect(path, "ro", reading)
	db.read.SetMaxOpenConns(2)
	return syncFile(db.dir) // the log is a new file by now, and stays until Close
}

// Close waits for running calls, makes light commits durable and releases the directory.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.later != nil {
		db.later.Stop()
	}
	db.loose = false // closing moves the log into the file
	var errs []error
	// The writer goes last: the last connection moves the log into the file.
	for _, pool := range []*sql.DB{db.read, db.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(append(errs, db.lock.Close())...)
}

// Flush makes earlier light commits durable, if there are any. It runs by itself soon after each.
func (db *DB) Flush() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if !db.loose {
		return nil
	}
	// The sync is of the file, whoever opened it. SQLite holds no locks on its log, so closing ours drops none.
	if err := syncFile(filepath.Join(db.dir, walName)); err != nil {
		return fmt.Errorf("making commits durable: %w", explain(db.dir, err))
	}
	db.loose = false
	return nil
}

// flushLater is Flush by the timer, which tries again until it works.
func (db *DB) flushLater() {
	if err := db.Flush(); err != nil {
		db.log.Error("making commits durable", "error", err)
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.loose {
			db.later.Reset(soon)
		}
	}
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}

// Rows are the tables as one agent sees them.
type Rows struct {
	Journal       Journal
	Inbox         Inbox
	Outbox        Outbox
	Conversations Conversations
	Records       Records
	Log           Log
	Notes         Notes
	Past          Past
	Settings      Settings
}

// For returns the rows of an agent.
func (db *DB) For(agent string) Rows {
	s := scope{db, agent}
	return Rows{Journal{s}, Inbox{s}, Outbox{s}, Conversations{s}, Records{s}, Log{s}, Notes{s}, Past{s}, Settings{s}}
}

// scope is the rows of one agent.
type scope struct {
	db    *DB
	agent string
}
