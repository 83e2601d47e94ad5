package packaging_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/agent/session"
	"pinch/channels"
	"pinch/channels/telegram/telegramtest"
	"pinch/storage"
)

const (
	stored   = 10_000 // messages, in the conversation that is measured
	friend   = 123456789
	botToken = "4242:figures"
	question = "What should I think of when I water the tomatoes on the balcony in July?"
	answer   = "Water them **early in the morning**, at the roots and not over the leaves: wet leaves invite blight. " +
		"In July a large pot wants two to three litres a day; put a finger into the soil first. Mulch keeps it moist."
)

// BenchmarkFigures measures the binary as it ships, and prints each figure beside its target. The idle period is
// $PINCH_IDLE, 10 s where it is not set.
func BenchmarkFigures(b *testing.B) {
	var f figures
	b.Run("Version", f.version)
	b.Run("Status", f.status)
	b.Run("Ready", f.ready)
	b.Run("Memory", f.memory)
	b.Run("Turn", f.turn)
	b.Run("Disk", f.disk)
	f.print(os.Stdout)
}

// figures are the lines of the table.
type figures []figure

type figure struct {
	name, unit string
	ours       float64
	target     float64 // at most; 0 = none
}

// add takes a figure into the table and reports it to the benchmark.
func (f *figures) add(b *testing.B, metric string, ours float64, row figure) {
	b.Helper()
	row.ours = ours
	b.ReportMetric(0, "ns/op") // stops and waits are in it
	b.ReportMetric(ours, metric)
	*f = append(*f, row)
}

func (f figures) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprint(table, "\nfigure\tours\ttarget\t\n")
	for _, g := range f {
		target, mark := "", ""
		if g.target > 0 {
			target = fmt.Sprintf("≤ %g %s", g.target, g.unit)
		}
		if g.target > 0 && g.ours > g.target {
			mark = "over"
		}
		fmt.Fprintf(table, "%s\t%.3g %s\t%s\t%s\n", g.name, g.ours, g.unit, target, mark)
	}
	fmt.Fprintln(table)
	table.Flush()
}

// version is one start that does nothing.
func (f *figures) version(b *testing.B) {
	dir := state(b, "")
	pinch(b, dir, "version") // the file is in memory from now on
	var all []float64
	for b.Loop() {
		all = append(all, oneShot(b, dir, "version"))
	}
	f.add(b, "cpu-ms", median(all), figure{name: "CPU of pinch version", unit: "ms", target: 8})
	f.add(b, "least-cpu-ms", slices.Min(all), figure{name: "… the least", unit: "ms"})
}

// status is one question to a running pinch.
func (f *figures) status(b *testing.B) {
	r := newRig(b)
	r.start()
	var all []float64
	for b.Loop() {
		all = append(all, oneShot(b, r.state, "status"))
	}
	f.add(b, "cpu-ms", median(all), figure{name: "CPU of pinch status, through the socket", unit: "ms"})
}

// ready is a start of the service, until Telegram is polled.
func (f *figures) ready(b *testing.B) {
	r := newRig(b)
	first := r.start()
	r.stop()
	var wall, cpu []float64
	for len(wall) < 10 || b.Loop() {
		began := r.start()
		wall, cpu = append(wall, began.wall), append(cpu, began.cpu)
		r.stop()
	}
	f.add(b, "ms", median(wall), figure{name: "ready to poll", unit: "ms", target: 40})
	f.add(b, "cpu-ms", median(cpu), figure{name: "… CPU until then", unit: "ms"})
	f.add(b, "first-ms", first.wall, figure{name: "… the first start, which makes the database", unit: "ms"})
}

// memory is one service from its start over a hundred turns to rest.
func (f *figures) memory(b *testing.B) {
	rest, err := time.ParseDuration(cmp.Or(os.Getenv("PINCH_IDLE"), "10s"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := newRig(b)
		r.start()
		r.weigh(f, "fresh", "after the start", figure{})
		for range 100 {
			r.turn()
		}
		r.weigh(f, "worked", "after 100 turns", figure{target: 1})
		pid := r.process.Process.Pid
		cpu, woken, began := cpuTime(b, pid), wakeups(b, pid), time.Now()
		pass(rest)
		minutes := time.Since(began).Minutes()
		r.weigh(f, "idle", fmt.Sprintf("after %v idle", rest), figure{target: 1})
		f.add(b, "idle-cpu-ms/min", ms(cpuTime(b, pid)-cpu)/minutes, figure{name: fmt.Sprintf("CPU while idle, over %v", rest), unit: "ms/min"})
		f.add(b, "idle-wakeups/min", (wakeups(b, pid)-woken)/minutes, figure{name: fmt.Sprintf("wake-ups while idle, over %v", rest), unit: "/min"})
		r.stop()
	}
}

// turn is a turn over Telegram, with a long history in the store.
func (f *figures) turn(b *testing.B) {
	r := newRig(b)
	stock(b, r.state)
	r.start()
	r.warmUp()
	pid := r.process.Process.Pid
	io := fmt.Sprintf("/proc/%d/io", pid)
	cpu, calls, disk := cpuTime(b, pid), field(b, io, "wchar"), field(b, io, "write_bytes")
	turns := 0.0
	for turns < 100 || b.Loop() {
		r.turn()
		turns++
	}
	f.add(b, "cpu-ms/turn", ms(cpuTime(b, pid)-cpu)/turns, figure{name: "CPU per turn, 10,000 messages stored", unit: "ms", target: 5})
	f.add(b, "write-KB/turn", (field(b, io, "write_bytes")-disk)/turns/1e3, figure{name: "written to the disk per turn (write_bytes)", unit: "KB", target: 48})
	f.add(b, "wchar-KB/turn", (field(b, io, "wchar")-calls)/turns/1e3, figure{name: "written to files and network per turn (wchar)", unit: "KB"})
}

// disk counts by strace what one turn does to the disk: in a row with others, and on its own.
func (f *figures) disk(b *testing.B) {
	r := newRig(b)
	stock(b, r.state)
	log := filepath.Join(r.state, "strace.log")
	strace, err := exec.LookPath("strace")
	if err != nil {
		b.Fatal(err)
	}
	r.before = []string{strace, "-D", "-f", "-qq", "-y", "-s0", "-o", log, "-e", "trace=fsync,fdatasync,sync_file_range,write,pwrite64"}
	r.start()
	r.warmUp()
	pass(6 * time.Second) // light commits become durable within five
	_, from := readTrace(b, log, r.state, 0)
	turns := 0.0
	for turns < 100 || b.Loop() {
		r.turn()
		turns++
	}
	pass(6 * time.Second)
	row, from := readTrace(b, log, r.state, from)
	var alone []float64 // the median leaves out one that moved the log into the file
	for range 3 {
		r.turn()
		pass(6 * time.Second)
		var one trace
		one, from = readTrace(b, log, r.state, from)
		alone = append(alone, float64(one.syncs))
	}
	f.add(b, "file-KB/turn", float64(row.written)/turns/1e3, figure{name: "written to files per turn (strace)", unit: "KB", target: 48})
	f.add(b, "syncs/turn", float64(row.syncs)/turns, figure{name: "fsyncs per turn, many in a row", target: 3})
	f.add(b, "syncs/lone-turn", median(alone), figure{name: "fsyncs of a turn on its own", target: 3})
}

// rig is a pinch whose bot polls a fake Telegram and whose model is a fake.
type rig struct {
	b        *testing.B
	state    string
	telegram *telegramtest.Server
	process  *process
	before   []string // the command that starts pinch
	env      []string // more than the usual
	turns    int
}

func newRig(b *testing.B) *rig {
	ollama := modeltest.NewOllama(b)
	ollama.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Text: answer} })
	r := &rig{b: b, telegram: telegramtest.New(botToken)}
	b.Cleanup(r.telegram.Close)
	r.state = state(b, local(ollama.URL())+fmt.Sprintf("[channels.telegram]\ntoken = %q\nurl = %q\nallow = [%d]\n", botToken, r.telegram.URL(), friend))
	r.telegram.AddChat(friend)
	return r
}

// beginning is what a start took until the first poll, in ms.
type beginning struct{ wall, cpu float64 }

// start runs the service and waits for its first poll.
func (r *rig) start() beginning {
	r.b.Helper()
	polls := len(r.telegram.Calls("getUpdates"))
	began := time.Now()
	cmd := command(r.b.Context(), r.b, r.state, "run")
	if len(r.before) > 0 {
		cmd.Args = slices.Concat(r.before, []string{cmd.Path}, cmd.Args[1:])
		cmd.Path = r.before[0]
	}
	cmd.Env = append(cmd.Env, r.env...)
	r.process = launch(r.b, cmd)
	r.wait(func() bool { return len(r.telegram.Calls("getUpdates")) > polls })
	cpu := cpuTime(r.b, r.process.Process.Pid)
	return beginning{ms(r.telegram.Calls("getUpdates")[polls].At.Sub(began)), ms(cpu)}
}

func (r *rig) stop() {
	r.b.Helper()
	if code := r.process.stop(syscall.SIGTERM); code != 0 {
		r.b.Fatalf("pinch run ended with %d: %s", code, r.process.said)
	}
}

// turn says something and waits for the reply.
func (r *rig) turn() {
	r.b.Helper()
	r.turns++
	r.telegram.Say(friend, friend, question)
	r.wait(func() bool { return len(r.telegram.Sent(friend)) == r.turns })
}

// warmUp takes some turns, and waits until the messages that were there before are indexed.
func (r *rig) warmUp() {
	r.b.Helper()
	for range 20 {
		r.turn()
	}
	until(r.b, "pinch rests", func() bool {
		before := cpuTime(r.b, r.process.Process.Pid)
		pass(300 * time.Millisecond)
		return cpuTime(r.b, r.process.Process.Pid)-before < 3*time.Millisecond
	})
}

func (r *rig) wait(ok func() bool) {
	r.b.Helper()
	ctx, cancel := context.WithTimeout(r.b.Context(), patience)
	defer cancel()
	if err := r.telegram.Wait(ctx, ok); err != nil {
		r.b.Fatalf("%v: %s", err, r.process.said)
	}
}

// weigh adds the memory of the running service, against the targets where row has one.
func (r *rig) weigh(f *figures, metric, when string, row figure) {
	r.b.Helper()
	rss, anon := memory(r.b, r.process.Process.Pid)
	f.add(r.b, metric+"-rss-MB", rss, figure{name: "RSS " + when, unit: "MB", target: row.target * 18})
	f.add(r.b, metric+"-anon-MB", anon, figure{name: "… of it private (RssAnon)", unit: "MB", target: row.target * 6})
}

// stock stores a long conversation of the owner.
func stock(b *testing.B, state string) {
	b.Helper()
	db, err := storage.Open(b.Context(), state, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rows := db.For("main")
	at := channels.Address{Channel: "telegram", Chat: strconv.Itoa(friend)}
	for i := range stored / 2 {
		in := channels.Inbound{Channel: at.Channel, Event: "stored-" + strconv.Itoa(i), Kind: channels.KindMessage, At: time.Now(),
			Chat: channels.Chat{ID: at.Chat, Kind: channels.Private}, Sender: channels.Sender{ID: at.Chat}, Text: question}
		accepted, err := rows.Journal.Accept(b.Context(), []channels.Admitted{{Inbound: in, Decision: channels.Decision{Verdict: channels.Admit, Owner: true}}})
		if err != nil {
			b.Fatal(err)
		}
		entry := func(role model.Role, text string) session.Entry {
			return session.Entry{Turn: accepted[0].ID, Message: model.Message{Role: role, Text: text}, Tokens: len(text) / 4, At: time.Now()}
		}
		err = rows.Journal.Commit(b.Context(), session.Turn{
			ID: accepted[0].ID, Key: session.Route("main", in, true), Inbox: []int64{accepted[0].ID}, Address: at, At: time.Now(),
			Entries: []session.Entry{entry(model.User, question), entry(model.Assistant, answer)},
			Costs:   []session.Cost{{Model: "local", Cause: "chat", Usage: model.Usage{Prompt: 2000, Cached: 1900, Reply: 60}}},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	// As it would be had the conversation grown here: prompts hold its newest part.
	epoch := session.Epoch{Key: session.Main("main"), Tools: "[]", First: stored - 20, Reason: "compaction", Began: time.Now()}
	if _, err := rows.Log.NewEpoch(b.Context(), epoch); err != nil {
		b.Fatal(err)
	}
}

// oneShot runs a command to its end and returns the processor time that it used, in ms.
func oneShot(b *testing.B, state string, args ...string) float64 {
	b.Helper()
	cmd := command(b.Context(), b, state, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return ms(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// pass lets time go by: what is measured is that nothing happens.
func pass(d time.Duration) { <-time.After(d) }
