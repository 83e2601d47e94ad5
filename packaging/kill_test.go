package packaging_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/channels/telegram/telegramtest"
)

// The points at which the kill test ends the process.
const (
	atRandom    = "random moment"
	atIntent    = "between intent and result"
	atSend      = "between send and mark"
	atStreaming = "while streaming"
)

const (
	kills   = 60
	leastAt = 5 // hits of each point
	person  = 77
)

// victim is a bot on a fake Telegram with a fake model, whose process is killed again and again.
type victim struct {
	t        *testing.T
	state    string
	telegram *telegramtest.Server
	model    *modeltest.Ollama
	watch    int // inotify on the workspace

	mu    sync.Mutex
	armed string
	proc  *os.Process
	hit   chan struct{}
}

// TestKilledAtAnyMomentNothingIsLost kills pinch run during a scripted conversation. Many messages let the model
// edit a file in a way that shows each run. Each must be answered, once unless the kill fell between send and mark, and
// no edit may happen twice.
func TestKilledAtAnyMomentNothingIsLost(t *testing.T) {
	v := newVictim(t)
	points := []string{atRandom, atIntent, atSend, atStreaming}
	wanted := map[int]string{} // message -> where the process was meant to die
	hits := map[string]int{}
	for n := 1; n <= kills; n++ {
		point := points[n%len(points)]
		wanted[n] = point
		p := v.start()
		v.settled(n - 1)
		v.strike(n, point)
		p.kill()
		for p, ok := range v.autopsy(point) {
			if ok {
				hits[p]++
			}
		}
	}
	p := v.start()
	v.settled(kills)
	p.kill()
	for _, p := range points {
		t.Logf("%d hits %s", hits[p], p)
		if hits[p] < leastAt {
			t.Errorf("%d hits %s, want at least %d", hits[p], p, leastAt)
		}
	}
	v.verdict(wanted)
}

func newVictim(t *testing.T) *victim {
	v := &victim{t: t, telegram: telegramtest.New("77:kill"), model: modeltest.NewOllama(t)}
	t.Cleanup(v.telegram.Close)
	v.state = state(t, fmt.Sprintf(`
[[model]]
url = %q
window = 4096
[channels.telegram]
token = "77:kill"
url = %q
allow = [%d]
poll = "1s"
`, v.model.URL(), v.telegram.URL(), person))
	workspace := filepath.Join(v.state, "workspace")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "log.txt"), []byte("END\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if v.watch, err = unix.InotifyInit1(unix.IN_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(v.watch) })
	if _, err := unix.InotifyAddWatch(v.watch, workspace, unix.IN_CREATE); err != nil {
		t.Fatal(err)
	}
	v.script()
	return v
}

var (
	number = regexp.MustCompile(`#(\d+)#`)
	edited = regexp.MustCompile(`e(\d+) `)
)

// script is the model: "edit #n#" makes it call edit, a tool result makes it tell what came of it.
func (v *victim) script() {
	v.model.Script(func(r modeltest.Request) modeltest.Answer {
		id := ""
		for _, m := range r.Chat.Messages {
			if found := number.FindStringSubmatch(m.Content); m.Role == "user" && found != nil {
				id = found[1]
			}
		}
		last := r.Chat.Messages[len(r.Chat.Messages)-1]
		if last.Role == "user" && strings.Contains(last.Content, "edit") {
			args := fmt.Sprintf(`{"path":"log.txt","old":"END","new":"e%s END"}`, id)
			return modeltest.Answer{Calls: []model.ToolCall{{Name: "edit", Arguments: args}}}
		}
		return modeltest.Answer{Text: "This is the answer to #" + id + "# and it has some more words to stream."}
	})
	v.model.OnChunk(func(_, chunk int) {
		if chunk == 5 {
			v.fire(atStreaming)
		}
	})
	v.telegram.OnSend(func(telegramtest.Message) { v.fire(atSend) })
	go func() { // ends when the watch is closed
		buf := make([]byte, 4096)
		for {
			if _, err := unix.Read(v.watch, buf); err != nil {
				return
			}
			v.fire(atIntent)
		}
	}()
}

// fire kills the process if it is to die at this point.
func (v *victim) fire(point string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.armed == point {
		v.armed = ""
		v.proc.Kill()
		close(v.hit)
	}
}

func (v *victim) start() *process {
	p := start(v.t, v.state, "run")
	v.mu.Lock()
	v.proc = p.Process
	v.mu.Unlock()
	return p
}

// settled waits until the first n messages are answered and nothing more comes.
func (v *victim) settled(n int) {
	v.t.Helper()
	until(v.t, fmt.Sprintf("%d messages are answered", n), func() bool {
		return len(v.answers()) == n && v.count("SELECT count(*) FROM outbox WHERE state = 0") == 0
	})
}

// answers counts the replies by the number of the message that they answer.
func (v *victim) answers() map[string]int {
	counts := map[string]int{}
	for _, m := range v.telegram.Sent(person) {
		if found := number.FindStringSubmatch(m.Text); found != nil {
			counts[found[1]]++
		}
	}
	return counts
}

// edits tells whether message n lets the model use its tool: all that are to die in it, and half of the others.
func edits(n int, point string) bool { return point == atIntent || n/4%2 == 0 }

// strike sends message n and kills the process at a point of its turn.
func (v *victim) strike(n int, point string) {
	v.mu.Lock()
	v.armed, v.hit = point, make(chan struct{})
	hit := v.hit
	v.mu.Unlock()
	text := "say #%d#"
	if edits(n, point) {
		text = "edit #%d#"
	}
	v.telegram.Say(person, person, fmt.Sprintf(text, n))
	if point == atRandom {
		time.AfterFunc(rand.N(40*time.Millisecond), func() { v.fire(atRandom) })
	}
	select {
	case <-hit:
	case <-time.After(patience):
		v.t.Fatalf("message %d never came to %q", n, point)
	}
}

// autopsy looks at what the dead process left, and says which points that shows. Only the meant one counts for the
// points that leave no mark.
func (v *victim) autopsy(meant string) map[string]bool {
	found := map[string]bool{meant: meant == atRandom || meant == atStreaming}
	found[atIntent] = v.count("SELECT count(*) FROM tool_records r JOIN inbox i ON i.id = r.turn WHERE r.done = 0 AND i.state = 0") > 0
	found[atSend] = meant == atSend && v.count("SELECT count(*) FROM outbox WHERE state = 0") > 0
	return found
}

// count runs a query on the database of a live or dead process.
func (v *victim) count(query string) (n int) {
	v.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(v.state, "pinch.db")+"?_busy_timeout=5000&_query_only=1")
	if err != nil {
		v.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(context.Background(), query).Scan(&n); err != nil && !strings.Contains(err.Error(), "no such table") {
		v.t.Fatal(err)
	}
	return n
}

func (v *victim) verdict(wanted map[int]string) {
	answers := v.answers()
	twice, asked := 0, 0
	for n := 1; n <= kills; n++ {
		if edits(n, wanted[n]) {
			asked++
		}
		switch got := answers[fmt.Sprint(n)]; {
		case got == 0:
			v.t.Errorf("message %d was never answered (killed %s)", n, wanted[n])
		case got == 2 && (wanted[n] == atSend || wanted[n] == atRandom):
			twice++
		case got > 1:
			v.t.Errorf("message %d was answered %d times (killed %s)", n, got, wanted[n])
		}
	}
	v.t.Logf("%d replies were sent twice", twice)
	log, err := os.ReadFile(filepath.Join(v.state, "workspace", "log.txt"))
	if err != nil {
		v.t.Fatal(err)
	}
	runs := map[string]int{}
	for _, e := range edited.FindAllStringSubmatch(string(log), -1) {
		if runs[e[1]]++; runs[e[1]] > 1 {
			v.t.Errorf("edit %s was done twice", e[1])
		}
	}
	v.t.Logf("%d of %d edits were done, the others were told as maybe done", len(runs), asked)
	var verdict string
	db, err := sql.Open("sqlite3", filepath.Join(v.state, "pinch.db"))
	if err != nil {
		v.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		v.t.Errorf("integrity_check: %s %v", verdict, err)
	}
	if faults := v.count("SELECT count(*) FROM inbox WHERE state = 2"); faults != 0 {
		v.t.Errorf("%d messages were answered with an error", faults)
	}
}
