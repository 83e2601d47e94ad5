package storage_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"pinch/agent/session"
	"pinch/channels"
	"pinch/storage"
)

func try(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		try(t, err)
		return v
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func contains(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}

func open(t testing.TB, dir string) *storage.DB {
	t.Helper()
	db := must(storage.Open(context.Background(), dir, slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(func() { try(t, db.Close()) })
	return db
}

// raw opens the file beside the store, as a person with sqlite3 would.
func raw(t testing.TB, dir string) *sql.DB {
	t.Helper()
	pool := must(sql.Open("sqlite3", "file:"+filepath.Join(dir, "pinch.db")))(t)
	t.Cleanup(func() { pool.Close() })
	return pool
}

func value(t testing.TB, pool *sql.DB, query string, args ...any) (v string) {
	t.Helper()
	try(t, pool.QueryRow(query, args...).Scan(&v))
	return v
}

// copied returns what the kernel has of a state directory, which is what a killed process leaves.
func copied(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"pinch.db", "pinch.db-wal"} {
		data := must(os.ReadFile(filepath.Join(dir, name)))(t)
		try(t, os.WriteFile(filepath.Join(to, name), data, 0o600))
	}
	return to
}

func admitted(event string) channels.Admitted {
	return channels.Admitted{
		Inbound: channels.Inbound{Channel: "telegram", Event: event, Kind: channels.KindMessage, Text: "hello " + event,
			At: time.Unix(1700000000, 0).UTC(), Chat: channels.Chat{ID: "7", Kind: channels.Private}, Sender: channels.Sender{ID: "7"}},
		Decision: channels.Decision{Verdict: channels.Admit, Reason: "allowed", Owner: true},
	}
}

func accept(t testing.TB, rows storage.Rows, events ...string) []session.Pending {
	t.Helper()
	var batch []channels.Admitted
	for _, e := range events {
		batch = append(batch, admitted(e))
	}
	return must(rows.Journal.Accept(context.Background(), batch))(t)
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "state #1?")
	db := open(t, dir)
	accept(t, db.For("main"), "1")
	for name, want := range map[string]fs.FileMode{".": 0o700, "pinch.db": 0o600, "pinch.db-wal": 0o600, "pinch.db-shm": 0o600, "lock": 0o600} {
		if got := must(os.Stat(filepath.Join(dir, name)))(t).Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	for pragma, want := range map[string]string{"page_size": "1024", "journal_mode": "wal", "auto_vacuum": "2", "synchronous": "2",
		"foreign_keys": "1", "wal_autocheckpoint": "1000", "journal_size_limit": "2000000", "busy_timeout": "5000"} {
		equal(t, pragma, value(t, db.Writer(), "PRAGMA "+pragma), want)
	}
}

func TestReopenKeepsRowsAndMigratesOnce(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	db := must(storage.Open(ctx, dir, logger))(t)
	accept(t, db.For("main"), "1")
	try(t, db.Close())
	if strings.Count(log.String(), "0001_first.sql") != 1 {
		t.Fatalf("first start logged %q", log.String())
	}
	log.Reset()
	db = must(storage.Open(ctx, dir, logger))(t)
	equal(t, "log of the second start", log.String(), "")
	equal(t, "waiting", len(must(db.For("main").Inbox.Pending(ctx))(t)), 1)
	try(t, db.Close())
	if _, err := os.Stat(filepath.Join(dir, "pinch.db-wal")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Close left the log behind: %v", err)
	}
}

func TestLockNamesTheHolder(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := must(storage.Open(ctx, dir, slog.New(slog.DiscardHandler)))(t)
	_, err := storage.Open(ctx, dir, slog.New(slog.DiscardHandler))
	if !errors.Is(err, storage.ErrLocked) {
		t.Fatalf("second open: %v", err)
	}
	contains(t, err, "process "+strconv.Itoa(os.Getpid()), dir, "stop it")
	try(t, db.Close())
	open(t, dir)
}

func TestOpenExplainsItself(t *testing.T) {
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	file := filepath.Join(t.TempDir(), "file")
	try(t, os.WriteFile(file, nil, 0o600))
	_, err := storage.Open(ctx, filepath.Join(file, "state"), log)
	contains(t, err, file, "cannot be written", "choose another directory")

	damaged := t.TempDir()
	try(t, os.WriteFile(filepath.Join(damaged, "pinch.db"), []byte(strings.Repeat("not a database ", 100)), 0o600))
	_, err = storage.Open(ctx, damaged, log)
	contains(t, err, damaged, "damaged", "move it away")

	newer := t.TempDir()
	try(t, must(storage.Open(ctx, newer, log))(t).Close())
	must(raw(t, newer).Exec("PRAGMA user_version = 99"))(t)
	_, err = storage.Open(ctx, newer, log)
	contains(t, err, "newer Pinch", "schema 99")
	// A refused database is unlocked and untouched.
	equal(t, "version", value(t, raw(t, newer), "PRAGMA user_version"), "99")
	must(raw(t, newer).Exec("PRAGMA user_version = 1"))(t)
	open(t, newer)
}

func TestFullDiskKeepsTheStoreUsable(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	rows := db.For("main")
	accept(t, rows, "1")
	pages := value(t, db.Writer(), "PRAGMA page_count")
	must(db.Writer().Exec("PRAGMA max_page_count = " + pages))(t)
	big := admitted("2")
	big.Inbound.Text = strings.Repeat("x", 20_000)
	_, err := rows.Journal.Accept(ctx, []channels.Admitted{admitted("3"), big})
	contains(t, err, dir, "full", "free some space")
	must(db.Writer().Exec("PRAGMA max_page_count = 1000000"))(t)
	// The whole batch was undone, and later ones work.
	equal(t, "accepted later", len(accept(t, rows, "1", "2", "3")), 2)
}

func TestLightCommitsSurviveAKill(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	rows := db.For("main")
	id := accept(t, rows, "1")[0].ID
	try(t, rows.Inbox.Retake(ctx, id))
	if !db.Loose() {
		t.Error("a light commit does not wait for Flush")
	}
	equal(t, "mode of a light commit", value(t, db.Writer(), "PRAGMA synchronous"), "1")
	after := must(open(t, copied(t, dir)).For("main").Inbox.Pending(ctx))(t)
	equal(t, "tries after the kill", after[0].Tries, 1)

	try(t, db.Flush())
	equal(t, "waits after Flush", db.Loose(), false)
	try(t, db.Flush())
	accept(t, rows, "2")
	equal(t, "mode of a full commit", value(t, db.Writer(), "PRAGMA synchronous"), "2")
	equal(t, "waits after a full commit", db.Loose(), false)
}

func TestModesOfCommitsAlternate(t *testing.T) {
	db := open(t, t.TempDir())
	rows := db.For("main")
	for i := range 3 { // the second time, every statement may come from the cache
		id := accept(t, rows, strconv.Itoa(i))[0].ID
		equal(t, "mode of a full commit", value(t, db.Writer(), "PRAGMA synchronous"), "2")
		try(t, rows.Inbox.Retake(t.Context(), id))
		equal(t, "mode of a light commit", value(t, db.Writer(), "PRAGMA synchronous"), "1")
	}
}

func TestCancelledWriteChangesNothing(t *testing.T) {
	db := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.For("main").Journal.Accept(ctx, []channels.Admitted{admitted("1")}); !errors.Is(err, context.Canceled) {
		t.Fatalf("accept: %v", err)
	}
	equal(t, "accepted later", len(accept(t, db.For("main"), "1")), 1)
}

func TestCheck(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if _, err := storage.Check(ctx, dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("check of nothing: %v", err)
	}
	db := open(t, dir)
	for i := range 200 {
		accept(t, db.For("main"), fmt.Sprint(i))
	}
	info := must(storage.Check(ctx, dir))(t) // beside the running store
	if info.Database < 1024 || info.Log < 1024 || info.Schema != 1 || info.Free < 1024 || info.Problem != "" {
		t.Errorf("sound database: %+v", info)
	}
	bad := copied(t, dir)
	must(storage.Check(ctx, bad))(t)
	try(t, must(storage.Open(ctx, bad, slog.New(slog.DiscardHandler)))(t).Close()) // folds the log in
	path := filepath.Join(bad, "pinch.db")
	data := must(os.ReadFile(path))(t)
	for i := len(data) / 2; i < len(data)/2+4096; i++ {
		data[i] ^= 0x5a
	}
	try(t, os.WriteFile(path, data, 0o600))
	if info, err := storage.Check(ctx, bad); err == nil && info.Problem == "" {
		t.Error("a damaged database passes the check")
	}
}
