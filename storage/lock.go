package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process has the state directory.
var ErrLocked = errors.New("the state directory is in use")

// takeLock locks the state directory until the file is closed or the process ends. The file holds the process id.
func takeLock(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the state directory: %w", explain(dir, err))
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		holder, _ := os.ReadFile(path) // without the id the sentence still says enough
		err = fmt.Errorf("%w: process %s has %s; stop it first, or choose another directory",
			ErrLocked, strings.TrimSpace(string(holder)), dir)
	case err != nil:
		err = fmt.Errorf("locking %s; the state directory must be on a disk with file locks: %w", path, err)
	default:
		if err = writeID(file); err == nil {
			return file, nil
		}
		err = fmt.Errorf("locking the state directory: %w", explain(dir, err))
	}
	return nil, errors.Join(err, file.Close())
}

func writeID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
