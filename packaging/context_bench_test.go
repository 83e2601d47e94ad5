package packaging_test

import (
	"bufio"
	bigendian "encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
)

// How much a small engine must evaluate: twenty messages piped through pinch chat, a window of 4,096 tokens, one
// prompt-cache slot, tokens of the real Qwen tokenizer.

const (
	mostEvaluated = 1650 // in the plain conversation
	mostWaiting   = 1.10 // over the minimum, between a message and its reply
	mostCompacted = 1.25 // over the minimum, in all, with compactions
)

// measured is one measured conversation.
type measured struct {
	meter *meter
	state string
	idle  map[int]bool // requests that nobody waited for
	own   map[int]bool // requests of the bench itself
}

func (k *measured) mark(set map[int]bool, from, to int) {
	for i := from; i < to; i++ {
		set[i] = true
	}
}

// variant is a way to hold the conversation.
type variant struct {
	name   string
	hold   func(testing.TB, *measured)
	judged bool
}

func TestContextBench(t *testing.T) {
	m := newMeter(t)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nvariant\trequests\tfirst\twaiting\tleast\tratio\ttotal\tleast\tratio\tshrunk\t\n")
	for _, v := range []variant{
		{"plain", plain, true},
		{"heartbeat every five", heartbeats, true},
		{"clock goes on", clocks, true},
		{"second conversation", visitors, false},
		{"80 messages, compactions", long, true},
		{"80 messages at once", hurried, false}, // where a message cuts background work off is up to the clock
	} {
		m.reset(lines{Script: fixture[[]rule](t, "chat20.replies.json"), Notes: notes})
		k := &measured{m, state(t, local(m.url)), map[int]bool{}, map[int]bool{}}
		v.hold(t, k)
		s := k.sum(t)
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%.3f\t%d\t%d\t%.3f\t%d\t\n", v.name, s.requests, s.first,
			s.waiting, s.leastWaiting, s.waitingRatio(), s.total, s.least, s.ratio(), s.shrunk)
		if v.judged && s.waitingRatio() > mostWaiting {
			t.Errorf("%s: %d tokens evaluated while somebody waited, %.3f of the least", v.name, s.waiting, s.waitingRatio())
		}
		if v.name == "plain" && s.total > mostEvaluated {
			t.Errorf("%s: %d tokens evaluated, at most %d are allowed", v.name, s.total, mostEvaluated)
		}
		if v.judged && s.ratio() > mostCompacted {
			t.Errorf("%s: %d tokens evaluated in all, %.3f of the least", v.name, s.total, s.ratio())
		}
	}
	fmt.Fprintln(table)
	table.Flush()
}

// notes is what the bench's model answers to Pinch's own instructions.
var notes = []rule{
	{When: "weeks|Heartbeat", Say: "NO_REPLY"},
	{Say: "- The small brass key opens the meter cupboard.\n- Packing list for Saturday: tent, 2 sleeping bags, head torch, stove, 10 m rope; " +
		"the rucksack takes 9 kilos.\n- The freezer in the cellar reads minus 11.\n- usb 1-1.2: device descriptor read/64, error -32: try a short cable."},
}

// sums are the figures of one measured, in tokens.
type sums struct {
	requests, first       int
	waiting, leastWaiting int
	total, least          int
	shrunk                int // requests that were shorter than the one before: compactions
}

func (s sums) waitingRatio() float64 { return float64(s.waiting) / float64(s.leastWaiting) }
func (s sums) ratio() float64        { return float64(s.total) / float64(s.least) }

// sum adds up what was evaluated and what was unavoidable: the first prompt, then each prompt's growth less the reply
// that the slot holds already; where a prompt shrank, that prompt less its head. An in-band request is no prompt that
// later ones grow from.
func (k *measured) sum(t testing.TB) (s sums) {
	t.Helper()
	var before metered
	for i, r := range k.meter.log() {
		if r.Status != 200 || r.Dropped > 0 || r.Asked > r.Window || r.Orphans > 0 {
			t.Errorf("request %d: %+v", i+1, r)
		}
		if k.own[i] && r.Kind == "chat" { // of another conversation
			continue
		}
		least := r.Prompt - before.Prompt - before.Generated
		switch {
		case i == 0:
			s.first, least = r.Prompt, r.Prompt
		case r.Prompt < before.Prompt:
			s.shrunk, least = s.shrunk+1, r.Prompt-r.Head
		}
		s.requests, s.total, s.least = s.requests+1, s.total+r.Evaluated, s.least+least
		if !k.idle[i] && !k.own[i] {
			s.waiting, s.leastWaiting = s.waiting+r.Evaluated, s.leastWaiting+least
		}
		switch r.Kind {
		case "chat":
			before = r
		case "warm": // what it said is in no prompt
			before, before.Generated = r, 0
		}
	}
	return s
}

// pipe holds a conversation through one pinch chat, line by line. Before each message everything that is due while
// nobody waits has been done; between is called then.
func (k *measured) pipe(t testing.TB, messages []string, between func(i int)) {
	t.Helper()
	serve(t, k.state)
	g := visit(t, k.state)
	chat := command(t.Context(), t, k.state, "chat", "--json")
	in, err := chat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := chat.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	chat.Stderr = os.Stderr
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewScanner(out)
	for i, message := range messages {
		from := len(k.meter.log())
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			t.Fatal(err)
		}
		if !replies.Scan() || !strings.Contains(replies.Text(), `"reply"`) {
			t.Fatalf("message %d: %s", i+1, replies.Text())
		}
		g.settle()
		log := k.meter.log()
		last := len(log)
		for last > from && log[last-1].Kind != "chat" { // what came after the reply
			last--
		}
		k.mark(k.idle, last, len(log))
		between(i)
	}
	in.Close()
	if err := chat.Wait(); err != nil {
		t.Error(err)
	}
	if f := g.health().Faults; f != 0 {
		t.Errorf("%d unexplained changes of the prefix", f)
	}
}

func chat20(t testing.TB) []string { return fixture[[]string](t, "chat20.json") }

func plain(t testing.TB, k *measured) { k.pipe(t, chat20(t), func(int) {}) }

// heartbeats puts an instruction at the end of the conversation every five messages and drops it again.
func heartbeats(t testing.TB, k *measured) {
	k.pipe(t, chat20(t), func(i int) {
		if i%5 == 4 {
			n := len(k.meter.log())
			k.meter.instruct("[Pinch] Heartbeat: is anything due that the person should hear of now? If not, reply HEARTBEAT_OK.")
			k.mark(k.own, n, n+1)
		}
	})
}

// clocks gives each message a pinch chat of its own, in a time zone seven minutes east of the one before, so that all
// that Pinch shows of the clock has moved on by minutes.
func clocks(t testing.TB, k *measured) {
	for i, message := range chat20(t) {
		from := len(k.meter.log())
		cmd := command(t.Context(), t, k.state, "chat")
		cmd.Env = append(cmd.Env, "TZ="+zone(t, k.state, 7*60*i))
		cmd.Stdin, cmd.Stderr = strings.NewReader(message+"\n"), os.Stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		for j, r := range k.meter.log() {
			k.idle[j] = k.idle[j] || j >= from && r.Kind == "warm"
		}
	}
	request, _ := k.meter.last()
	seen := map[string]bool{}
	for _, m := range request.Chat.Messages {
		if header, _, ok := strings.Cut(m.Content, "]"); ok && m.Role == "user" {
			seen[header] = true
		}
	}
	if len(seen) < 15 {
		t.Errorf("the clock did not go on: %v", seen)
	}
}

// zone writes a time zone that lies so many seconds east of UTC and returns its path.
func zone(t testing.TB, dir string, east int) string {
	t.Helper()
	head := func(version byte) []byte { // no leaps, no changes, one type with a name of four bytes
		b := append([]byte("TZif"), version)
		b = append(b, make([]byte, 15)...)
		for _, n := range []uint32{0, 0, 0, 0, 1, 4} {
			b = bigendian.BigEndian.AppendUint32(b, n)
		}
		b = bigendian.BigEndian.AppendUint32(b, uint32(int32(east)))
		return append(b, 0, 0, 'B', 'N', 'C', 0)
	}
	path := filepath.Join(dir, fmt.Sprintf("zone%d", east))
	write(t, path, string(append(append(head('2'), head('2')...), "\n\n"...)))
	return path
}

// visitors has another conversation speak every five messages.
func visitors(t testing.TB, k *measured) {
	other := 0
	k.pipe(t, chat20(t), func(i int) {
		if i%5 == 4 {
			n := len(k.meter.log())
			g := visit(t, k.state)
			g.name = "second"
			g.say([]string{"Good evening.", "Is the cellar dry?", "And the loft?", "Thanks."}[other])
			other++
			g.settle()
			k.mark(k.own, n, len(k.meter.log()))
		}
	})
}

// long repeats the conversation until it has been shortened some times.
func long(t testing.TB, k *measured) {
	k.pipe(t, chat80(t), func(int) {})
	if n := ask(t, k.state, "SELECT count(*) FROM epochs WHERE reason LIKE 'compaction by model'"); n < "2" {
		t.Errorf("%s compactions", n)
	}
}

// hurried is long without a pause between messages, so that all is done while somebody waits.
func hurried(t testing.TB, k *measured) {
	r := feed(t, k.state, strings.Join(chat80(t), "\n")+"\n", "chat")
	if r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func chat80(t testing.TB) (messages []string) {
	for i := range 4 {
		for _, m := range chat20(t) {
			messages = append(messages, fmt.Sprintf("%s (%d)", m, i+1))
		}
	}
	return messages
}
