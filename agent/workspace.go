package agent

import (
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"pinch/agent/prompt"
)

// maxFile is the most of a workspace file that is read for the head, in bytes.
const maxFile = 2 << 20

// workspaceFiles are the files of the head, in order, and whether only the owner's private conversations hold them.
var workspaceFiles = []struct {
	name    string
	private bool
}{{"SOUL.md", false}, {"AGENTS.md", false}, {"USER.md", true}, {"IDENTITY.md", false}, {"TOOLS.md", false}, {"MEMORY.md", true}}

// Workspace is the folder whose files stand in the head. Symlinks that leave it are refused.
type Workspace struct {
	root *os.Root

	mu   sync.Mutex
	seen map[string]stamp
}

// stamp is a file as it was last read.
type stamp struct {
	size  int64
	mtime time.Time
	hash  uint64
}

// NewWorkspace reads the files of the head from a folder.
func NewWorkspace(root *os.Root) *Workspace {
	return &Workspace{root: root, seen: map[string]stamp{}}
}

// stamp identifies the content of the files of a head. A file is read again only when its size or time changed.
func (w *Workspace) stamp(private bool) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := fnv.New64a()
	names := w.names()
	for _, f := range workspaceFiles {
		name, ok := names[strings.ToLower(f.name)]
		if !ok || f.private && !private {
			continue
		}
		info, err := w.root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		s := w.seen[name]
		if s.size != info.Size() || !s.mtime.Equal(info.ModTime()) {
			text, _ := w.text(name)
			sum := fnv.New64a()
			io.WriteString(sum, text)
			s = stamp{size: info.Size(), mtime: info.ModTime(), hash: sum.Sum64()}
			w.seen[name] = s
		}
		fmt.Fprintf(h, "%s\x00%x\x00", name, s.hash)
	}
	return h.Sum64()
}

// read returns the files of the head. Which of them a conversation may hold is decided by prompt.Head.
func (w *Workspace) read() []prompt.File {
	names := w.names()
	var files []prompt.File
	for _, f := range workspaceFiles {
		name, ok := names[strings.ToLower(f.name)]
		if !ok {
			continue
		}
		if text, err := w.text(name); err == nil {
			files = append(files, prompt.File{Name: f.name, Text: text})
		}
	}
	return files
}

// names maps lower-case names to those in the folder; where two differ in case alone the upper-case one wins.
func (w *Workspace) names() map[string]string {
	entries, _ := fs.ReadDir(w.root.FS(), ".") // sorted: upper case comes first
	names := map[string]string{}
	for _, e := range entries {
		if low := strings.ToLower(e.Name()); names[low] == "" {
			names[low] = e.Name()
		}
	}
	return names
}

func (w *Workspace) text(name string) (string, error) {
	f, err := w.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	return string(text), err
}
