package tool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"syscall"
)

// MostFile is the bytes of the largest workspace file that is read or written.
const MostFile = 2 << 20

// tempMark is in the name of files that are being written.
const tempMark = ".pinch-tmp-"

// WriteFile replaces a file of the workspace so that a power cut leaves the old or the new one, never a part: temp
// file, fsync, rename, fsync of the directory. It makes missing directories and keeps the old file's mode.
func WriteFile(root *os.Root, name string, data []byte) error {
	dir := path.Dir(name)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", name, err)
	}
	mode := fs.FileMode(0o600)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	temp := path.Join(dir, fmt.Sprintf(".%s%s%08x", path.Base(name), tempMark, rand.Uint32()))
	if err := writeSynced(root, temp, data, mode); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), ignoreMissing(root.Remove(temp)))
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), ignoreMissing(root.Remove(temp)))
	}
	return syncDir(root, dir)
}

func writeSynced(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) { // a file system without it
		err = nil
	}
	return errors.Join(err, d.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadFile reads a regular file of the workspace of at most MostFile bytes. Its refusals go to the model; a missing
// file is fs.ErrNotExist.
func ReadFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case info.IsDir():
		return nil, Refuse("%s is a folder. Use list to see what is in it.", name)
	case !info.Mode().IsRegular(): // opening a pipe would wait for ever
		return nil, Refuse("%s is no ordinary file.", name)
	case info.Size() > MostFile:
		return nil, Refuse("%s has %s; files over %s cannot be read.", name, sizeText(info.Size()), sizeText(MostFile))
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MostFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > MostFile {
		return nil, Refuse("%s grew over %s while it was read.", name, sizeText(MostFile))
	}
	return data, nil
}

// Match returns the name of the file that stands in the workspace in any case: for MEMORY.md a memory.md. Where
// there is none, or where the exact one is there, it returns name itself.
func Match(root *os.Root, name string) string {
	if _, err := root.Lstat(name); err == nil {
		return name
	}
	entries, err := fs.ReadDir(root.FS(), path.Dir(name))
	if err != nil {
		return name
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), path.Base(name)) {
			return path.Join(path.Dir(name), e.Name())
		}
	}
	return name
}

// within cleans a path that a model wrote. What is not inside of the workspace is refused before it is touched;
// os.Root refuses symlinks that lead out.
func within(name string) (string, error) {
	clean := strings.ReplaceAll(strings.TrimSpace(name), `\`, "/")
	switch {
	case clean == "" || strings.HasSuffix(clean, "/") && strings.Trim(clean, "./") == "":
		clean = "."
	case strings.ContainsRune(clean, 0) || len(clean) > 1024:
		return "", Refuse("This is no path. Use a short one, such as notes/todo.txt.")
	}
	clean = path.Clean(clean)
	if !fs.ValidPath(clean) || strings.HasPrefix(clean, "~") {
		return "", Refuse("%s is outside of the workspace. Use a path inside, such as notes/todo.txt.", name)
	}
	return clean, nil
}

// explain makes a refusal of an error of the file system; the model can act on those, not on others.
func explain(name string, err error) error {
	var refusal Refusal
	switch {
	case err == nil || errors.As(err, &refusal):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return Refuse("There is no %s. Use list to see what is there.", name)
	case errors.Is(err, fs.ErrPermission):
		return Refuse("%s may not be opened: the system forbids it.", name)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		return Refuse("%s cannot be: a part of this path is a file, not a folder.", name)
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EISDIR):
		return Refuse("%s cannot be used as a file name here. Choose another.", name)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS):
		return Refuse("%s was not written: the disk is full or read-only. Tell the owner.", name)
	case strings.Contains(err.Error(), "path escapes"): // os.Root has no exported error for it
		return Refuse("%s leads out of the workspace through a link. Use another path.", name)
	}
	return err
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
