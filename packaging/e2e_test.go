package packaging_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // for ask
)

// The harness of the end-to-end tests: each drives the binary that build.sh makes, by its command line alone.

// patience is how long anything may take that should happen soon.
const patience = 30 * time.Second

// builds is where this run keeps its binary; another build meanwhile must not change it.
var builds = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "pinch-e2e-") })

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := builds(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// binary builds pinch once and returns the path of the copy that this run uses.
var binary = sync.OnceValues(func() (string, error) { return build("") })

// build makes the binary of a target of build.sh, "" = this machine.
func build(target string) (string, error) {
	dir, err := builds()
	if err != nil {
		return "", err
	}
	name := "pinch"
	args := []string{}
	if target != "" {
		name, args = name+"-"+target, []string{target}
	}
	if out, err := exec.Command("./build.sh", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	data, err := os.ReadFile(filepath.Join("..", "bin", name))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, data, 0o700)
}

// state makes a state directory that holds this pinch.toml; "" = none. Its path is short enough for the socket.
func state(t testing.TB, toml string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pinch-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if toml != "" {
		write(t, filepath.Join(dir, "pinch.toml"), toml)
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// local is a config with one model at the address of a fake Ollama.
func local(url string) string { return "[[model]]\nname = \"local\"\nurl = \"" + url + "\"\n" }

// nobody is an address where nothing listens.
const nobody = "http://127.0.0.1:9"

// command is pinch on a state directory, with an environment that has nothing of ours in it.
func command(ctx context.Context, t testing.TB, state string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + state, "PINCH_STATE=" + state, "LANG=C.UTF-8", "TERM=xterm"}
	return cmd
}

// result is how a command ended.
type result struct {
	out, err string // what it printed
	code     int    // -1 = killed
}

// pinch runs a command to its end, with nothing to read.
func pinch(t testing.TB, state string, args ...string) result {
	t.Helper()
	return feed(t, state, "", args...)
}

// feed runs a command to its end, with this on its standard input.
func feed(t testing.TB, state, in string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, t, state, args...)
	var out, err strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &err
	var exit *exec.ExitError
	if e := cmd.Run(); e != nil && !errors.As(e, &exit) {
		t.Fatal(e)
	}
	if ctx.Err() != nil {
		t.Fatalf("pinch %v took longer than %v: %s%s", args, patience, &out, &err)
	}
	return result{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// process is a pinch in the background.
type process struct {
	*exec.Cmd
	t     testing.TB
	said  *record // both outputs
	ended chan struct{}
}

// start runs a command in the background until the test ends.
func start(t testing.TB, state string, args ...string) *process {
	t.Helper()
	return startFed(t, state, "", args...)
}

// startFed is start with this on the standard input.
func startFed(t testing.TB, state, in string, args ...string) *process {
	t.Helper()
	cmd := command(t.Context(), t, state, args...)
	cmd.Stdin = strings.NewReader(in)
	return launch(t, cmd)
}

// launch starts a command in the background until the test ends.
func launch(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd, t, &record{}, make(chan struct{})}
	p.Stdout, p.Stderr = p.said, p.said
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	}()
	t.Cleanup(func() { // the context of the test has ended by now, which kills
		<-p.ended
		if t.Failed() {
			t.Logf("%v said:\n%s", cmd.Args, p.said)
		}
	})
	return p
}

// serve starts pinch run and waits until it listens.
func serve(t testing.TB, state string) *process {
	t.Helper()
	p := start(t, state, "run")
	until(t, "pinch run listens", func() bool {
		select {
		case <-p.ended:
			t.Fatalf("pinch run has ended with %d: %s", p.ProcessState.ExitCode(), p.said)
		default:
		}
		conn, err := net.Dial("unix", filepath.Join(state, "pinch.sock"))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return p
}

// kill is SIGKILL; it returns when the process is gone.
func (p *process) kill() {
	p.t.Helper()
	p.stop(syscall.SIGKILL)
}

// stop sends a signal and returns the exit code, -1 when the signal killed it.
func (p *process) stop(signal syscall.Signal) int {
	p.t.Helper()
	if err := p.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
	return p.wait()
}

// wait returns the exit code when the process has ended.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatalf("pinch is still running: %s", p.said)
		return 0
	}
}

// record collects output.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// until polls until ok is true: what another process does cannot be waited for in another way.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

// ask returns the one value that a query finds in the database of a state directory.
func ask(t testing.TB, state, query string) (value string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(state, "pinch.db")+"?mode=rw&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// intact checks that the database is sound.
func intact(t testing.TB, state string) {
	t.Helper()
	if got := ask(t, state, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("the database is damaged: %s", got)
	}
}

// sentence tells whether an error output is one line from pinch that has all of these parts.
func sentence(err string, parts ...string) bool {
	line, rest, _ := strings.Cut(err, "\n")
	for _, part := range parts {
		if !strings.Contains(line, part) {
			return false
		}
	}
	return rest == "" && strings.HasPrefix(line, "pinch: ")
}
