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
	"pinch/channels"
)

// maxFile is the most bytes of a file of the head; a larger one is refused.
const maxFile = 2 << 20

// firstTalk is the file for the first conversation: it stands in the head until there is a memoryFile, or until it is
// empty or gone. What the first talk brings is kept there, so the agent ends it with its own hand.
const (
	firstTalk  = "BOOTSTRAP.md"
	memoryFile = "MEMORY.md"
)

// workspaceFiles are the files of the head, in order, and whether only the owner's private conversations hold them.
var workspaceFiles = []struct {
	name    string
	private bool
}{{"SOUL.md", false}, {"AGENTS.md", false}, {"USER.md", true}, {"IDENTITY.md", false}, {"TOOLS.md", false}, {firstTalk, true}, {memoryFile, true}}

// Workspace is the folder whose files stand in the head. Symlinks that leave it are refused.
type Workspace struct {
	root *os.Root

	mu   sync.Mutex
	seen map[string]stamp
	told map[string]bool // warnings
}

// stamp is a file as it was last read.
type stamp struct {
	size  int64
	mtime time.Time
	hash  uint64
}

// found is a file of the head in the folder.
type found struct {
	name string // as in workspaceFiles
	real string // as in the folder
	info fs.FileInfo
}

// trouble is a file that the owner should do something about.
type trouble struct {
	say  channels.Phrase
	args []any
}

// text is the trouble in a language.
func (t trouble) text(language string) string { return fmt.Sprintf(t.say.In(language), t.args...) }

// NewWorkspace reads the files of the head from a folder.
func NewWorkspace(root *os.Root) *Workspace {
	return &Workspace{root: root, seen: map[string]stamp{}}
}

// stamp identifies the content of the files of a head. A file is read again only when its size or time changed.
func (w *Workspace) stamp(private bool) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := fnv.New64a()
	files, _ := w.find(private)
	for _, f := range files {
		s := w.seen[f.real]
		if s.size != f.info.Size() || !s.mtime.Equal(f.info.ModTime()) {
			text, _ := w.text(f.real)
			sum := fnv.New64a()
			io.WriteString(sum, text)
			s = stamp{size: f.info.Size(), mtime: f.info.ModTime(), hash: sum.Sum64()}
			w.seen[f.real] = s
		}
		fmt.Fprintf(h, "%s\x00%x\x00", f.real, s.hash)
	}
	return h.Sum64()
}

// read returns the files of the head, and what is wrong with those that are refused.
func (w *Workspace) read(private bool) ([]prompt.File, []trouble) {
	list, troubles := w.find(private)
	var files []prompt.File
	for _, f := range list {
		text, err := w.text(f.real)
		if err != nil {
			troubles = append(troubles, trouble{sayFileOutside, []any{f.real}})
			continue
		}
		files = append(files, prompt.File{Name: f.name, Text: text})
	}
	return files, troubles
}

// find looks for the files of a head. Names match in any case; where two differ in case alone, the first in the order
// of bytes is taken, which is the upper-case one.
func (w *Workspace) find(private bool) (files []found, troubles []trouble) {
	entries, _ := fs.ReadDir(w.root.FS(), ".") // sorted
	names := map[string][]string{}
	for _, e := range entries {
		low := strings.ToLower(e.Name())
		names[low] = append(names[low], e.Name())
	}
	for _, f := range workspaceFiles {
		list := names[strings.ToLower(f.name)]
		over := f.name == firstTalk && len(names[strings.ToLower(memoryFile)]) > 0
		if len(list) == 0 || f.private && !private || over {
			continue
		}
		if len(list) > 1 {
			troubles = append(troubles, trouble{sayFileTwice, []any{list[0], list[1]}})
		}
		info, err := w.root.Stat(list[0])
		switch {
		case err != nil || !info.Mode().IsRegular():
			troubles = append(troubles, trouble{sayFileOutside, []any{list[0]}})
		case info.Size() > maxFile:
			troubles = append(troubles, trouble{sayFileLarge, []any{list[0]}})
		default:
			files = append(files, found{f.name, list[0], info})
		}
	}
	return files, troubles
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

// news are those of warnings that the owner was not told since the process began, or that went away meanwhile.
func (w *Workspace) news(warnings []string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	told := map[string]bool{}
	for _, text := range warnings {
		if !w.told[text] {
			list = append(list, text)
		}
		told[text] = true
	}
	w.told = told
	return list
}
