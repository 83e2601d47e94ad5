package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pinch/agent/command"
	"pinch/channels"
)

// How many notes are found, and how many stand on a page.
const (
	mostFound = 5
	pageSize  = 20
)

// Operations returns what the owner can do with the notes: remember, recall, notes, note and forget.
func (m *Memory) Operations() []command.Op {
	return []command.Op{
		{
			Name: "remember", Usage: "TEXT", Who: command.Owner, Run: m.remember,
			Doc: channels.Phrase{EN: "keep a note", ZH: "记下一条笔记"},
		},
		{
			Name: "recall", Usage: "WORDS", Who: command.Owner, Run: m.recall,
			Doc: channels.Phrase{EN: "find what you told me", ZH: "查找你告诉过我的事"},
		},
		{
			Name: "notes", Usage: "[PAGE]", Who: command.Owner, Run: m.list,
			Doc: channels.Phrase{EN: "list the notes", ZH: "列出笔记"},
		},
		{
			Name: "note", Usage: "NUMBER", Who: command.Owner, Run: m.show,
			Doc: channels.Phrase{EN: "show one note", ZH: "显示一条笔记"},
		},
		{
			Name: "forget", Usage: "NUMBER", Who: command.Owner, Run: m.forget,
			Doc: channels.Phrase{EN: "delete a note", ZH: "删除一条笔记"},
		},
	}
}

func say(c command.Call, data any, p channels.Phrase, args ...any) command.Result {
	return command.Result{Text: fmt.Sprintf(p.In(c.Language), args...), Data: data}
}

func refuse(c command.Call, p channels.Phrase, args ...any) (command.Result, error) {
	r := say(c, nil, p, args...)
	r.Failed = true
	return r, nil
}

func (m *Memory) remember(_ context.Context, c command.Call) (command.Result, error) {
	number, added, err := m.Remember(c.Args)
	note := Numbered{Number: number, Text: strings.TrimSpace(c.Args)}
	switch {
	case errors.Is(err, ErrEmpty):
		return command.Result{}, command.UsageError{Text: "/remember TEXT"}
	case errors.Is(err, ErrTooLong):
		return refuse(c, channels.Phrase{EN: "That is too long: a note has at most %d characters. I did not keep it.",
			ZH: "太长了：一条笔记最多 %d 个字。没有记下。"}, MostNote)
	case errors.Is(err, ErrFull):
		return refuse(c, channels.Phrase{EN: "My notes are full. Delete some with /forget, then tell me again. I did not keep this one.",
			ZH: "笔记满了。请先用 /forget 删除一些再告诉我。这条没有记下。"})
	case err != nil:
		return command.Result{}, fmt.Errorf("remember: %w", err)
	case !added:
		return say(c, note, channels.Phrase{EN: "I know that already (note %d).", ZH: "这我已经记过了（第 %d 条）。"}, number), nil
	}
	return say(c, note, channels.Phrase{EN: "Remembered. (note %d)", ZH: "记住了。（第 %d 条）"}, number), nil
}

func (m *Memory) recall(ctx context.Context, c command.Call) (command.Result, error) {
	query := strings.TrimSpace(c.Args)
	if query == "" {
		return command.Result{}, command.UsageError{Text: "/recall WORDS"}
	}
	found, err := m.Recall(ctx, query, mostFound)
	if err != nil {
		return command.Result{}, fmt.Errorf("recall: %w", err)
	}
	if len(found) == 0 {
		return say(c, []Numbered{}, channels.Phrase{EN: "Nothing about %s.", ZH: "没有关于%s的笔记。"}, query), nil
	}
	return say(c, found, channels.Phrase{EN: "You told me:\n%s", ZH: "你告诉过我：\n%s"}, lines(found)), nil
}

func lines(notes []Numbered) string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = fmt.Sprintf("%d. %s", n.Number, n.Text)
	}
	return strings.Join(out, "\n")
}

func (m *Memory) list(_ context.Context, c command.Call) (command.Result, error) {
	all, err := m.All()
	if err != nil {
		return command.Result{}, fmt.Errorf("list the notes: %w", err)
	}
	if len(all) == 0 {
		return say(c, []Numbered{}, channels.Phrase{EN: "I have no notes. Tell me one with /remember TEXT.",
			ZH: "还没有笔记。用 /remember 内容 告诉我一条。"}), nil
	}
	page, pages := 1, (len(all)+pageSize-1)/pageSize
	if text := strings.TrimSpace(c.Args); text != "" {
		if page, err = strconv.Atoi(text); err != nil {
			return command.Result{}, command.UsageError{Text: "/notes [PAGE]"}
		}
	}
	page = min(max(page, 1), pages)
	text := lines(all[(page-1)*pageSize : min(page*pageSize, len(all))])
	switch {
	case page < pages:
		text += fmt.Sprintf(channels.Phrase{EN: "\n(page %d of %d; /notes %d shows the next)",
			ZH: "\n（第 %d 页，共 %d 页；/notes %d 看下一页）"}.In(c.Language), page, pages, page+1)
	case pages > 1:
		text += fmt.Sprintf(channels.Phrase{EN: "\n(page %d of %d)", ZH: "\n（第 %d 页，共 %d 页）"}.In(c.Language), page, pages)
	}
	return command.Result{Text: text, Data: all}, nil
}

// number reads the number of a note.
func number(c command.Call) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(c.Args), "#"))
	if err != nil {
		return 0, command.UsageError{Text: "/" + c.Name + " NUMBER"}
	}
	return n, nil
}

func noNote(c command.Call, n int) (command.Result, error) {
	return refuse(c, channels.Phrase{EN: "There is no note %d. /notes lists them.", ZH: "没有第 %d 条笔记。用 /notes 查看全部。"}, n)
}

func (m *Memory) show(_ context.Context, c command.Call) (command.Result, error) {
	n, err := number(c)
	if err != nil {
		return command.Result{}, err
	}
	all, err := m.All()
	if err != nil {
		return command.Result{}, fmt.Errorf("show note %d: %w", n, err)
	}
	if n < 1 || n > len(all) {
		return noNote(c, n)
	}
	return command.Result{Text: lines(all[n-1 : n]), Data: all[n-1]}, nil
}

func (m *Memory) forget(_ context.Context, c command.Call) (command.Result, error) {
	n, err := number(c)
	if err != nil {
		return command.Result{}, err
	}
	text, err := m.Forget(n)
	switch {
	case errors.Is(err, ErrNoNote):
		return noNote(c, n)
	case err != nil:
		return command.Result{}, fmt.Errorf("forget note %d: %w", n, err)
	}
	return say(c, Numbered{Number: n, Text: text}, channels.Phrase{EN: "Forgotten: %s", ZH: "忘掉了：%s"}, text), nil
}
