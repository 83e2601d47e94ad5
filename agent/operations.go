package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pinch/agent/command"
	"pinch/agent/session"
	"pinch/channels"
)

// The operations that are turns: they run in a lane, not by themselves.
const (
	opRetry   = "retry"
	opDo      = "do"
	opNew     = "new"
	opCompact = "compact"
)

// Operations of the loop itself. help lists the table that it is part of, so it reads it when called.
func (a *Agent) Operations() []command.Op {
	return []command.Op{
		{Name: "help", Aliases: []string{"commands", "帮助"}, Doc: channels.Phrase{EN: "what I can do", ZH: "我会做什么"}, Run: a.help},
		{Name: "time", Aliases: []string{"时间"}, Doc: channels.Phrase{EN: "date and time", ZH: "日期和时间"}, Run: now},
		{Name: "stop", Aliases: []string{"停"}, Doc: channels.Phrase{EN: "stop the running turn", ZH: "停止正在处理的消息"}, Now: true, Run: a.stop},
		{Name: opNew, Aliases: []string{"reset", "新会话"}, Doc: channels.Phrase{EN: "start with an empty context", ZH: "从空的上下文开始"}, Run: inChat},
		{Name: opCompact, Usage: "[WHAT MATTERS]", Aliases: []string{"压缩"}, Doc: channels.Phrase{EN: "tidy the context now", ZH: "现在整理上下文"}, Run: inChat},
		{Name: opRetry, Aliases: []string{"重试"}, Doc: channels.Phrase{EN: "answer again what failed", ZH: "重新回答失败的消息"}, Run: inChat},
		{Name: "why", Doc: channels.Phrase{EN: "what answered the last message", ZH: "上一条回答来自哪里"}, Run: a.why},
		{Name: opDo, Usage: "TOOL [JSON]", Doc: channels.Phrase{EN: "run a tool without a model", ZH: "不经模型直接运行工具"}, Who: command.Owner, Run: inChat},
		{Name: "context", Doc: channels.Phrase{EN: "what I have in mind, in tokens", ZH: "上下文占用的 token"}, Run: a.context},
	}
}

func (a *Agent) help(_ context.Context, c command.Call) (command.Result, error) {
	var b strings.Builder
	b.WriteString(sayHelp.In(c.Language))
	for _, op := range a.table {
		if op.Who == command.Owner && !c.Owner {
			continue
		}
		name := "/" + op.Name
		if op.Usage != "" {
			name += " " + op.Usage
		}
		fmt.Fprintf(&b, "\n%s – %s", name, op.Doc.In(c.Language))
	}
	return command.Result{Text: b.String()}, nil
}

func now(_ context.Context, c command.Call) (command.Result, error) {
	t := time.Now()
	text := t.Format("Monday, 2 January 2006, 15:04 MST")
	if c.Language == "zh" {
		text = t.Format("2006年1月2日 星期") + []string{"日", "一", "二", "三", "四", "五", "六"}[t.Weekday()] + t.Format(" 15:04")
	}
	return command.Result{Text: text, Data: t}, nil
}

func (a *Agent) stop(_ context.Context, c command.Call) (command.Result, error) {
	say := sayNotRunning
	if a.Stop(session.Key(c.Conversation)) {
		say = sayStopped
	}
	return command.Result{Text: say.In(c.Language)}, nil
}

func inChat(_ context.Context, c command.Call) (command.Result, error) {
	return command.Result{Text: sayInChat.In(c.Language), Failed: true}, nil
}

func (a *Agent) why(ctx context.Context, c command.Call) (command.Result, error) {
	conv, err := a.store.Conversations.Get(ctx, session.Key(c.Conversation))
	if err != nil {
		return command.Result{}, err
	}
	about := conv.About
	switch {
	case about.Model != "":
		return command.Result{Text: fmt.Sprintf(sayWhyModel.In(c.Language), about.Model, about.Prompt, about.Reply, about.Rounds), Data: about}, nil
	case about.Why != "":
		return command.Result{Text: fmt.Sprintf(sayWhySentence.In(c.Language), about.Why), Data: about}, nil
	}
	return command.Result{Text: sayWhyNothing.In(c.Language), Data: about}, nil
}

// Status is the operation that tells on one screen how things are: the loop's own figures, then the checks.
func (a *Agent) Status(checks []command.Check) command.Op {
	return command.Op{
		Name: "status", Aliases: []string{"状态"},
		Doc: channels.Phrase{EN: "how things are", ZH: "运行状态"},
		Run: func(ctx context.Context, c command.Call) (command.Result, error) { return a.status(ctx, c, checks) },
	}
}

// Health is what /status and pinch status show.
type Health struct {
	Version string            `json:"version"`
	Up      string            `json:"up"`
	Lanes   int               `json:"lanes"`   // conversations with a turn running or waiting
	Waiting int               `json:"waiting"` // messages behind running turns
	Window  int               `json:"window"`  // 0 = no model has told yet
	Faults  int               `json:"faults"`  // unexplained prefix changes
	Checks  []command.Finding `json:"checks"`
}

func (a *Agent) status(ctx context.Context, c command.Call, checks []command.Check) (command.Result, error) {
	a.mu.Lock()
	h := Health{Version: a.persona.Version, Lanes: len(a.lanes)}
	for _, l := range a.lanes {
		h.Waiting += len(l.queue)
	}
	a.mu.Unlock()
	h.Up = time.Since(a.started).Round(time.Second).String()
	h.Faults, h.Window = a.prefixes.count(), a.persona.known()
	var b strings.Builder
	fmt.Fprintf(&b, sayStatus.In(c.Language), h.Version, h.Up, h.Lanes, h.Waiting)
	if !c.Owner { // what the board has and lacks is the owner's business
		return command.Result{Text: b.String()}, nil
	}
	h.Checks = command.Examine(ctx, checks)
	for _, f := range h.Checks {
		fmt.Fprintf(&b, "\n%s: %s", f.Name, f.Text)
	}
	if h.Faults > 0 {
		fmt.Fprintf(&b, "\n"+sayFaults.In(c.Language), h.Faults)
	}
	return command.Result{Text: b.String(), Data: h}, nil
}
