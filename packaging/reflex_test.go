package packaging_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A board without any model must be a working assistant: what acceptance 1 pipes into make run.

var withoutModel = []struct{ say, want string }{
	{"remember that the spare key is under the blue pot", "Remembered"},
	{"remember that Ana is allergic to nuts", "Remembered"},
	{"what did I tell you about the key?", "the spare key is under the blue pot"},
	{"how warm is the board?", "board"},
	{"what time is it?", ":"},
	{"记住备用钥匙在蓝色花盆下面", "记住了"},
	{"我跟你说过关于花盆的什么？", "备用钥匙在蓝色花盆下面"},
	{"板子多少度？", "板子"},
	{"/do list", "MEMORY.md"},
	{"write me a poem", "ollama pull qwen3:1.7b"},
	{"给我写一首诗", "ollama pull qwen3:1.7b"},
	{"show my notes", "Ana is allergic to nuts"},
}

func TestChatWithoutAModel(t *testing.T) {
	dir := state(t, local(nobody))
	var lines strings.Builder
	for _, talk := range withoutModel {
		lines.WriteString(talk.say + "\n")
	}
	r := feed(t, dir, lines.String(), "chat")
	replies := strings.Split(strings.TrimSuffix(r.out, "\n\n"), "\n\n")
	if len(replies) != len(withoutModel) || r.code != 0 || r.err != "" {
		t.Fatalf("exit %d, %d replies: %s%s", r.code, len(replies), r.out, r.err)
	}
	for i, talk := range withoutModel {
		model := strings.Contains(talk.want, "ollama pull")
		bySelf := strings.HasSuffix(replies[i], "⚡") || strings.HasPrefix(talk.say, "/")
		if !strings.Contains(replies[i], talk.want) || model == bySelf {
			t.Errorf("%q was answered with %q; want %q", talk.say, replies[i], talk.want)
		}
	}
	if recalled := replies[2]; strings.Contains(recalled, "nuts") {
		t.Errorf("too much was recalled: %s", recalled)
	}
	notes, err := os.ReadFile(filepath.Join(dir, "workspace", "MEMORY.md"))
	if err != nil || strings.Count(string(notes), "\n- ") < 2 || !strings.Contains(string(notes), "蓝色花盆") {
		t.Errorf("MEMORY.md has %q, %v", notes, err)
	}
	intact(t, dir)
}
