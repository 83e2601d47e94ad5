package packaging_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestSoak is a long life of one conversation, of $PINCH_SOAK turns, in two small windows. No request may be over the
// window by the real tokenizer.
func TestSoak(t *testing.T) {
	turns, err := strconv.Atoi(cmp.Or(os.Getenv("PINCH_SOAK"), "120"))
	if err != nil {
		t.Fatal(err)
	}
	m := newMeter(t)
	for _, window := range []int{4096, 2048} {
		t.Run(strconv.Itoa(window), func(t *testing.T) { soak(t, &meter{t, m.url}, window, turns) })
	}
}

func soak(t *testing.T, m *meter, window, turns int) {
	m.reset(lines{Script: soakScript, Notes: []rule{
		{When: "weeks", Say: "- The person writes about turn numbers and jobs.\nNO_REPLY"},
		{When: "not usable", Say: "- turn job paste table log: what the person sent\n- the jobs were done"},
		{Say: "Let me look.", Call: &call{"list", json.RawMessage(`{}`)}, Once: true},
		{Say: "- The person sent a paste, a table, a log and a list of jobs.\n- Last job: sort the bolts by length.\n- Window open in the attic."},
	}})
	dir := state(t, local(m.url)+fmt.Sprintf("window = %d\n", window))
	space := filepath.Join(dir, "workspace")
	if err := os.Mkdir(space, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(space, "big.log"), boot(60<<10))
	write(t, filepath.Join(space, "wide.txt"), letters(60<<10))
	p := serve(t, dir)
	g := visit(t, dir)
	var weights []int
	for i := range turns {
		text := soakTurn(i)
		if reply, _ := g.say(text); reply == "" || strings.Contains(reply, "went wrong") || strings.Contains(reply, "does not fit") {
			t.Errorf("turn %d, %.60q: %.200q", i, text, reply)
		}
		if i%3 == 0 { // otherwise the next message cancels what is due
			g.settle()
		}
		if (i+1)%max(turns/4, 1) == 0 {
			weights = append(weights, resident(t, p.Process.Pid))
		}
	}
	g.settle()
	log := m.log()
	breaks := soaked(t, log)
	epochs, err := strconv.Atoi(ask(t, dir, "SELECT count(*) FROM epochs"))
	if err != nil || breaks > epochs-1 {
		t.Errorf("%d requests do not begin with the one before, and there are %d epochs: %v", breaks, epochs, err)
	}
	if faults := g.health().Faults; faults != 0 {
		t.Errorf("%d unexplained changes of the prefix", faults)
	}
	most := 0
	for _, r := range log {
		most = max(most, r.Asked)
	}
	t.Logf("window %d: %d turns, %d requests, the largest of %d tokens, %d epochs, RSS at each quarter %v KB", window, turns,
		len(log), most, epochs, weights)
	if last, half := weights[len(weights)-1], weights[1]; last > half+half/10+2048 {
		t.Errorf("the process grows: %v KB at each quarter", weights)
	}
	intact(t, dir)
}

// soaked checks each request and counts those that do not begin with the one before.
func soaked(t *testing.T, log []metered) (breaks int) {
	t.Helper()
	before := metered{}
	for i, r := range log {
		if r.Status != 200 || r.Dropped != 0 || r.Orphans != 0 || r.Asked > r.Window || r.Kind != "warm" && r.Asked+r.Limit > r.Window {
			t.Errorf("request %d: %+v", i+1, r)
		}
		if r.Kind == "inband" || r.Tools == 0 { // an instruction, or a chunk that is summarised on its own
			continue
		}
		if r.Kept < before.Prompt-answerMark {
			breaks++
		}
		before = r
	}
	return breaks
}

// answerMark is the most tokens at the end of a prompt that stand for the answer to come, of which there may be none.
const answerMark = 4

var soakScript = []rule{
	{When: "big log", Role: "user", Call: &call{"read", json.RawMessage(`{"path":"big.log"}`)}},
	{When: "one long line", Role: "user", Call: &call{"read", json.RawMessage(`{"path":"wide.txt"}`)}},
	{When: "note it down", Role: "user", Call: &call{"write", json.RawMessage(`{"path":"jobs.md","content":"sort the bolts\n"}`)}},
	{When: "what is there", Role: "user", Call: &call{"list", json.RawMessage(`{}`)}},
	{When: "find it again", Role: "user", Call: &call{"recall", json.RawMessage(`{"query":"bolts attic window"}`)}},
	{When: "how warm are you", Role: "user", Call: &call{"use", json.RawMessage(`{"name":"temperature","arguments":{}}`)}},
	{When: "no such tool", Role: "user", Call: &call{"levitate", json.RawMessage(`{"height":3}`)}},
	{When: ".", Role: "tool", Say: "I looked: the job is done, and nothing in it is out of the ordinary."},
	{When: "阁楼", Say: "阁楼的窗户还开着，下雨前请关上；我会在天黑前再提醒你一次。"},
	{When: "chapter", Say: strings.Repeat("It goes on at length about the sea and the ships. ", 40)},
	{When: ".", Say: "Understood. I keep it in mind and go on with the next thing on the list."},
}

// soakTurn is one message: short ones, pastes and messages that make the model use tools.
func soakTurn(i int) string {
	n := fmt.Sprintf("Turn %d: ", i)
	switch i % 16 {
	case 1:
		return n + "阁楼的窗户关了吗？昨天雨很大，地板上有水，今天要检查一下。"
	case 2:
		return n + "please read the big log and tell me what is wrong."
	case 3:
		return n + "here is the output:\n" + boot(3000+i*10)
	case 4:
		return n + "decode this: " + letters(6000)
	case 5:
		return n + "sort the bolts by length and note it down."
	case 6:
		return n + strings.Repeat("A chapter of a very long book that nobody asked for, pasted whole. ", 300)
	case 7:
		return n + "what is there in the workspace?"
	case 8:
		return n + strings.Repeat("长篇的中文文章，一段接着一段，讲的是海边的灯塔和守灯塔的人。", 120)
	case 9:
		return n + "find it again, the thing about the attic."
	case 10:
		return n + `{"jobs":[` + strings.Repeat(`{"id":4711,"done":false,"what":"sort"},`, 150) + `{}]}`
	case 11:
		return n + "how warm are you at the moment, would you say?"
	case 12:
		return n + "read the file that is one long line."
	case 13:
		return n + "use no such tool as that."
	case 14:
		return n + strings.Repeat("🌧️🪜🔧 ", 200)
	}
	return n + "anything left to do in the attic today?"
}

// boot is a boot log of about so many bytes.
func boot(bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "[%5d.%06d] usb 1-1.%d: device descriptor read/64, error -%d at 0x%08x\n", i, i*7919%1000000, i%4, 32+i%90, i*2654435761%4294967296)
	}
	return b.String()
}

// letters is so many bytes of base64 in one line.
func letters(bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		b.WriteString(base64.StdEncoding.EncodeToString(sum[:30]))
	}
	return b.String()[:bytes]
}

// resident is what a process holds of the memory, in KB.
func resident(t testing.TB, pid int) (kb int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kb); err == nil {
			return kb
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
