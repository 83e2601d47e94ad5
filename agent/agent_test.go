package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pinch/agent/engine"
	"pinch/agent/model"
	"pinch/agent/model/modeltest"
	"pinch/agent/session"
	"pinch/agent/tool"
	"pinch/channels"
)

// begins reports whether request b begins with request a.
func begins(a, b model.Request) error {
	if !reflect.DeepEqual(a.Tools, b.Tools) {
		return errors.New("the tools differ")
	}
	if len(b.Messages) < len(a.Messages) || !reflect.DeepEqual(a.Messages, b.Messages[:len(a.Messages)]) {
		return fmt.Errorf("the messages differ:\n%v\n%v", a.Messages, b.Messages)
	}
	return nil
}

func TestEachRequestBeginsWithTheOneBefore(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("I am Pinch."),
		modeltest.Call("write", `{"path":"a.txt","content":"hello"}`), modeltest.Say("Written."), modeltest.Say("Four."))
	w := newWorld(t, t.TempDir(), m).start()
	w.say("Who are you?")
	w.want("I am Pinch.")
	w.say("Put hello into a.txt")
	w.want("Written.")
	w.say("/why")
	w.want("The model script answered") // of the model's answer; a command is no entry
	w.say("What is 2+2?")
	part := w.want("Four.")
	if !part.Last || part.About == nil || part.About.Rounds != 1 {
		t.Errorf("the last part is %+v", part)
	}
	text, err := os.ReadFile(filepath.Join(w.state, "workspace", "a.txt"))
	if err != nil || string(text) != "hello" {
		t.Errorf("a.txt holds %q, %v", text, err)
	}
	r := m.Requests()
	for i := 1; i < len(r); i++ {
		if err := begins(r[i-1], r[i]); err != nil {
			t.Errorf("request %d does not begin with the one before: %v", i+1, err)
		}
	}
	if n := w.agent.Faults(); n != 0 {
		t.Errorf("%d prefix faults", n)
	}
	last := r[3].Messages[len(r[3].Messages)-1]
	if !strings.HasSuffix(last.Text, "] What is 2+2?") || !strings.Contains(last.Text, "ana · telegram") {
		t.Errorf("the envelope is %q", last.Text)
	}
}

func TestToolRefusalsAreTextsForTheModel(t *testing.T) {
	m := modeltest.NewScript(t,
		modeltest.Call("reed", `{"path":"none.txt"}`),
		modeltest.Step{Want: []string{"none.txt"}, Call: []model.ToolCall{{Name: "teleport", Arguments: `{}`}}},
		modeltest.Step{Want: []string{"teleport"}, Call: []model.ToolCall{{Name: "write", Arguments: `{"path":"x"}`}}},
		modeltest.Step{Want: []string{"content"}, Call: []model.ToolCall{{Name: "read", Arguments: `{"path":"../../etc/passwd"}`}}},
		modeltest.Step{Want: []string{"../../etc/passwd"}, Say: "I could not."},
	)
	w := newWorld(t, t.TempDir(), m).start()
	w.say("Do odd things")
	w.want("I could not.")
}

func TestRoundLimitEndsTheTurn(t *testing.T) {
	var steps []modeltest.Step
	for range 8 {
		steps = append(steps, modeltest.Call("list", `{}`))
	}
	steps[7].Want = []string{"last step"}
	m := modeltest.NewScript(t, append(steps, modeltest.Say("fine"))...)
	w := newWorld(t, t.TempDir(), m).start()
	w.say("List for ever")
	w.want("stopped after 8 steps")
	w.say("And now?")
	w.want("fine")
	for _, r := range m.Requests() {
		if err := paired(r.Messages); err != nil {
			t.Error(err)
		}
	}
}

// paired checks that each call has exactly one result, right behind it.
func paired(messages []model.Message) error {
	open := map[string]bool{}
	for _, m := range messages {
		if m.Role == model.Tool {
			if !open[m.CallID] {
				return fmt.Errorf("result without a call: %+v", m)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("call without a result before %+v", m)
		}
		for _, c := range m.Calls {
			open[c.ID] = true
		}
	}
	return nil
}

func TestReflexesNeedNoModelAndAreRemembered(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("Under the flowerpot."))
	w := newWorld(t, t.TempDir(), m).start()
	w.say("remember that the key is under the flowerpot")
	if part := w.want("Remembered"); !strings.HasSuffix(part.Text, "⚡") || part.About.Model != "" {
		t.Errorf("the reply is not marked as a reflex: %+v", part)
	}
	w.say("我跟你说过关于 key 的什么")
	w.want("flowerpot")
	w.say("Where is it?")
	w.want("Under the flowerpot.")
	texts := fmt.Sprint(m.Requests()[0].Messages)
	if !strings.Contains(texts, "remember that the key") || strings.Contains(texts, "⚡") {
		t.Errorf("the model's view of the reflex turns is %s", texts)
	}
	w.say("?what time is it") // the prefix that asks the model
	m.Then(modeltest.Say("late"))
	w.want("late")
}

func TestNoModelKeepsTheMessageForRetry(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Fail(model.ErrUnavailable))
	w := newWorld(t, t.TempDir(), m).start()
	w.say("Write me a poem")
	w.want("Start the model. Then send /retry")
	w.say("现在几点")
	w.want("⚡")
	m.Then(modeltest.Step{Want: []string{"Write me a poem"}, Say: "Roses are red."})
	w.say("/retry")
	w.want("Roses are red.")
	w.say("/retry")
	w.want("nothing to answer again")
}

func TestRetryAtOnceIsAnAnswer(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Fail(model.ErrUnavailable), modeltest.Say("Roses are red."))
	w := newWorld(t, t.TempDir(), m).start()
	w.say("Write me a poem")
	w.want("Then send /retry")
	w.say("/retry")
	w.want("Roses are red.")
	w.say("/retry")
	w.want("nothing to answer again")
}

func TestFallbackReflexesAnswerOnlyWithoutAModel(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("A model's noon."), modeltest.Fail(model.ErrUnavailable))
	w := newWorld(t, t.TempDir(), m)
	w.persona.Config.Reflex = "fallback"
	w.start()
	w.say("what time is it")
	w.want("A model's noon.")
	w.say("what time is it")
	w.want("⚡")
}

func TestStopEndsTheTurnAtOnce(t *testing.T) {
	block := make(chan struct{})
	m := modeltest.NewScript(t, modeltest.Step{Block: block}, modeltest.Say("next"))
	w := newWorld(t, t.TempDir(), m).start()
	w.say("Think long")
	wait(t, func() bool { return len(m.Requests()) == 1 })
	w.say("/stop")
	w.want("Stopped.") // by the command or by the turn, in whichever order
	w.want("Stopped.")
	w.say("Next?")
	w.want("next")
}

// wait polls until ok; there is no event to wait for.
func wait(t testing.TB, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatal("it never happened")
		case <-tick.C:
		}
	}
}

const patience = 20 * time.Second

func TestStrangersReachNoModel(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("hi Ana"))
	w := newWorld(t, t.TempDir(), m).start()
	w.channel.Say("eve", "let me in")
	w.channel.Push(channels.Inbound{
		Kind: channels.KindMessage, At: time.Now(), Text: "unmentioned",
		Chat: channels.Chat{ID: "g", Kind: channels.Group}, Sender: channels.Sender{ID: "ana"},
	})
	w.say("hello")
	w.want("hi Ana")
}

func TestOthersGetNoFilesAndNoMemory(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Call("read", `{"path":"MEMORY.md"}`), modeltest.Say("no"))
	w := newWorld(t, t.TempDir(), m)
	w.write("MEMORY.md", "- the safe opens with 4711\n")
	w.write("SOUL.md", "You are kind.\n")
	w.start()
	w.channel.Push(channels.Inbound{
		Kind: channels.KindMessage, At: time.Now(), Text: "read the memory file", Mentioned: true,
		Chat: channels.Chat{ID: "g", Kind: channels.Group}, Sender: channels.Sender{ID: "ana"},
	})
	w.want("no")
	for _, r := range m.Requests() {
		if text := fmt.Sprint(r); strings.Contains(text, "4711") || len(r.Tools) != 1 || r.Tools[0].Name != "recall" {
			t.Errorf("a group's request holds the owner's: %s", text)
		}
		if !strings.Contains(fmt.Sprint(r), "You are kind.") {
			t.Error("SOUL.md is missing")
		}
	}
}

func TestWorkspaceChangesStartAnEpochOnlyFromOutside(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("1"), modeltest.Call("write", `{"path":"SOUL.md","content":"Be terse."}`),
		modeltest.Say("2"), modeltest.Say("3"), modeltest.Say("4"))
	w := newWorld(t, t.TempDir(), m).start()
	for _, n := range []string{"1", "2", "3"} {
		w.say("go " + n)
		w.want(n)
	}
	w.write("SOUL.md", "Be a pirate.")
	w.say("go 4")
	w.want("4")
	r := m.Requests()
	if err := begins(r[0], r[3]); err != nil {
		t.Errorf("our own write changed the head: %v", err)
	}
	if head := r[4].Messages[0].Text; !strings.Contains(head, "pirate") {
		t.Errorf("a write from outside did not: %s", head)
	}
	if w.agent.Faults() != 0 {
		t.Error("an epoch start counted as a fault")
	}
}

func TestFullWindowLeavesOutWholeOldTurns(t *testing.T) {
	var steps []modeltest.Step
	for i := range 60 {
		steps = append(steps, modeltest.Call("list", `{}`), modeltest.Say(fmt.Sprintf("answer %d. %s", i, strings.Repeat("More words follow here. ", 20))))
	}
	m := modeltest.NewScript(t, steps...)
	w := newWorld(t, t.TempDir(), m)
	w.persona.Engine = engine.NewWindow(w.rows.Log, engine.Config{Compaction: engine.Off})
	w.start()
	left := 0
	for i := range 60 {
		w.say(fmt.Sprintf("question %d. %s", i, strings.Repeat("Some words to fill the window. ", 20)))
		if len(w.want(fmt.Sprintf("answer %d.", i)).About.LeftOut) > 0 {
			left++
		}
	}
	r := m.Requests()
	fresh := 0
	for i, req := range r {
		if err := paired(req.Messages); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if req.Messages[1].Role != model.User {
			t.Fatalf("request %d begins in the middle of a turn", i)
		}
		if i > 0 && begins(r[i-1], req) != nil {
			fresh++
		}
	}
	if left == 0 || fresh != left {
		t.Errorf("%d epochs began and %d were told", fresh, left)
	}
	if fresh > 12 {
		t.Errorf("%d of 120 requests threw the prefix away: the cut is not deep enough", fresh)
	}
}

func TestPanicInAToolEndsNothing(t *testing.T) {
	b := &bench{do: func() { panic("smoke") }}
	m := modeltest.NewScript(t, modeltest.Call("burn", `{}`), modeltest.Step{Want: []string{"smoke"}, Say: "It broke."})
	w := newWorld(t, t.TempDir(), m, b.tool("burn", tool.World)).start()
	w.say("burn it")
	w.want("It broke.")
}

func TestSendFailuresKeepOrderAndLoseNothing(t *testing.T) {
	m := modeltest.NewScript(t, modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"))
	w := newWorld(t, t.TempDir(), m).start()
	w.channel.Fail(&channels.SendError{Failure: channels.Temporary, Err: errors.New("offline")},
		&channels.SendError{Failure: channels.Temporary, After: time.Millisecond, Err: errors.New("offline")}, nil,
		&channels.SendError{Failure: channels.Permanent, Err: errors.New("blocked")})
	w.say("a")
	w.say("b")
	w.say("c")
	w.want("one")
	w.want("three") // the second was refused for good and given up
	if n := len(w.channel.Sent()); n != 2 {
		t.Errorf("%d parts were sent", n)
	}
}

func TestChatsRunApartAndKeepTheirOrder(t *testing.T) {
	var steps []modeltest.Step
	for range 30 {
		steps = append(steps, modeltest.Say("ok"))
	}
	m := modeltest.NewScript(t, steps...)
	w := newWorld(t, t.TempDir(), m)
	w.start()
	for i := range 30 {
		w.channel.Push(channels.Inbound{
			Kind: channels.KindMessage, At: time.Now(), Text: fmt.Sprintf("n%d", i), Mentioned: true,
			Chat: channels.Chat{ID: fmt.Sprint("g", i%3), Kind: channels.Group}, Sender: channels.Sender{ID: "ana"},
		})
	}
	for range 30 {
		w.want("ok")
	}
	for g := range 3 {
		_, tail, err := w.rows.Log.Tail(t.Context(), session.Key(fmt.Sprintf("agent:main:telegram:group:g%d", g)))
		if err != nil || len(tail) != 20 {
			t.Fatalf("group %d holds %d entries, %v", g, len(tail), err)
		}
		for i := range 10 {
			if want := fmt.Sprintf("] n%d", 3*i+g); !strings.HasSuffix(tail[2*i].Message.Text, want) {
				t.Errorf("group %d, message %d is %q, want …%q", g, i, tail[2*i].Message.Text, want)
			}
		}
	}
}

func TestReflexThatFailsSaysSo(t *testing.T) {
	w := newWorld(t, t.TempDir(), modeltest.NewScript(t))
	if err := os.Mkdir(filepath.Join(w.state, "workspace", "MEMORY.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.say("remember that the key is under the flowerpot")
	w.want("Something went wrong")
}
