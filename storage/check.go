package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Info is the state of a database for status and doctor.
type Info struct {
	Database int64  // bytes
	Log      int64  // bytes of the write-ahead log
	Schema   int    // number of the last migration
	Free     int64  // bytes that the disk still has for us
	Problem  string // of the quick integrity check, "" = sound
}

// Check looks at the database of a state directory without changing it, also while a running Pinch has it. Its error
// wraps fs.ErrNotExist when there is none yet.
func Check(ctx context.Context, dir string) (Info, error) {
	var info Info
	path := filepath.Join(dir, fileName)
	stat, err := os.Stat(path)
	if err != nil {
		return info, fmt.Errorf("checking the database: %w", explain(dir, err))
	}
	info.Database = stat.Size()
	if stat, err := os.Stat(filepath.Join(dir, walName)); err == nil {
		info.Log = stat.Size()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return info, fmt.Errorf("checking the database: %w", explain(dir, err))
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return info, fmt.Errorf("checking the database: %w", explain(dir, err))
	}
	info.Free = int64(disk.Bavail) * int64(disk.Bsize)
	pool := connect(path, "ro", reading)
	defer pool.Close()
	err = pool.QueryRowContext(ctx, "PRAGMA user_version").Scan(&info.Schema)
	if err == nil {
		err = pool.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&info.Problem)
	}
	if err != nil {
		return info, fmt.Errorf("checking the database: %w", explain(dir, err))
	}
	if info.Problem == "ok" {
		info.Problem = ""
	}
	return info, nil
}
