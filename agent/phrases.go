package agent

import (
	"context"
	"errors"
	"fmt"

	"pinch/agent/model"
	"pinch/agent/session"
	"pinch/channels"
)

// reflexMark ends a reply that no model was asked for.
const reflexMark = " ⚡"

// The fixed sentences that people read.
var (
	sayHelp        = channels.Phrase{EN: "Talk to me in plain words. These also work, without any model:\n“remember that …”, “what did I tell you about …”, “show my notes”, “what time is it”, “how warm is the board”, “status”.\nCommands:", ZH: "直接用平常的话和我说。下面这些不需要模型：\n“记住……”、“我跟你说过关于……的什么”、“我的笔记”、“现在几点”、“板子多少度”、“状态”。\n命令："}
	sayStatus      = channels.Phrase{EN: "Pinch %s, up %s. %d conversations busy, %d messages waiting.", ZH: "Pinch %s，已运行 %s。%d 个会话在处理，%d 条消息等待中。"}
	sayFaults      = channels.Phrase{EN: "unexplained changes of a prompt's beginning: %d", ZH: "提示词开头的意外变化：%d"}
	sayContext     = channels.Phrase{EN: "%d of %d tokens: %d instructions and files, %d tools, %d notes of older messages, %d for %d messages. %d are kept for the answer.", ZH: "%d / %d token：说明和文件 %d，工具 %d，旧消息的笔记 %d，历史 %d（%d 条消息）。为回答保留 %d。"}
	saySpeed       = channels.Phrase{EN: "The model reads %.0f and writes %.0f tokens a second; a short message waits about %.1f s.", ZH: "模型每秒读 %.0f、写 %.0f token；短消息大约等 %.1f 秒。"}
	sayCutFile     = channels.Phrase{EN: "part of %s: %d of %d tokens fit", ZH: "%s 的一部分：只放得下 %d / %d token"}
	sayNearFile    = channels.Phrase{EN: "%s is nearly full: %d of %d tokens. What is over is left out.", ZH: "%s 快满了：%d / %d token。超出的部分会被省略。"}
	sayTightFile   = channels.Phrase{EN: "I see only a part of %s: %d of %d tokens fit. Shorten it, please.", ZH: "%s 我只能看到一部分：只放得下 %d / %d token。请把它缩短。"}
	sayFileLarge   = channels.Phrase{EN: "%s is over 2 MB, so I do not read it. Shorten it, please.", ZH: "%s 超过 2 MB，我不读取它。请把它缩短。"}
	sayFileOutside = channels.Phrase{EN: "I do not read %s: it is no readable file inside the workspace.", ZH: "我不读取 %s：它不是工作区内可读的文件。"}
	sayFileTwice   = channels.Phrase{EN: "There are both %s and %s. I read the first; please merge them.", ZH: "同时有 %s 和 %s。我只读前一个，请把它们合并。"}
	sayNoPart      = channels.Phrase{EN: "left out of the instructions, as the window is small: %s", ZH: "窗口较小，说明里省略了：%s"}
	sayNew         = channels.Phrase{EN: "A fresh start. What we said before is kept, but I do not have it in mind.", ZH: "新的开始。之前的内容还保存着，但不在我的上下文里。"}
	sayInChat      = channels.Phrase{EN: "Send this in the conversation itself: pinch chat, then the command.", ZH: "请在会话里发送这个命令：先运行 pinch chat。"}
	sayDoUsage     = channels.Phrase{EN: "Write /do TOOL and its arguments as JSON. Tools: %s", ZH: "请写 /do 工具名 和 JSON 参数。工具：%s"}
	sayWhyModel    = channels.Phrase{EN: "The model %s answered: %d tokens read, %d written, %d rounds.", ZH: "由模型 %s 回答：读 %d token，写 %d token，%d 轮。"}
	sayWhySentence = channels.Phrase{EN: "No model was asked. It matched: %s", ZH: "没有询问模型。匹配的是：%s"}
	sayWhyNothing  = channels.Phrase{EN: "Nothing was answered here yet.", ZH: "这里还没有回答过消息。"}
	sayForbidden   = channels.Phrase{EN: "Only the owner may do this.", ZH: "只有主人可以这样做。"}
	sayUnknown     = channels.Phrase{EN: "I do not know /%s. /help lists what I know.", ZH: "没有 /%s 这个命令。/help 会列出所有命令。"}
	sayNoRetry     = channels.Phrase{EN: "There is nothing to answer again.", ZH: "没有需要重新回答的消息。"}
	sayRounds      = channels.Phrase{EN: "I stopped after %d steps without a final answer.", ZH: "我做了 %d 步还没有得出答案，先停下了。"}
	sayStopped     = channels.Phrase{EN: "Stopped.", ZH: "已停止。"}
	sayNotRunning  = channels.Phrase{EN: "Nothing is running.", ZH: "现在没有在处理的消息。"}
	sayLeftOut     = channels.Phrase{EN: "%d older messages", ZH: "%d 条较早的消息"}
	sayCutMessage  = channels.Phrase{EN: "the middle of your message: it is too long for the window", ZH: "你这条消息的中间部分：它超过了窗口"}
	sayCutReply    = channels.Phrase{EN: "[My answer was longer than the room for it. Say “go on” for the rest.]", ZH: "[回答太长，放不下了。发“继续”我接着说。]"}
	saySummarised  = channels.Phrase{EN: "%d older messages: I have notes of them", ZH: "%d 条较早的消息：我留有笔记"}
	sayOnlyLast    = channels.Phrase{EN: "everything but your last message: nothing else fitted", ZH: "除你最后一条消息外的全部内容：放不下"}
	sayTidying     = channels.Phrase{EN: "tidying my memory", ZH: "整理记忆"}
	sayTidy        = channels.Phrase{EN: "There is nothing to tidy.", ZH: "没有需要整理的。"}
	sayTidied      = channels.Phrase{EN: "Memory was tidied: %d tokens before, %d now.", ZH: "记忆已整理：之前 %d token，现在 %d。"}
	sayServerCut   = channels.Phrase{EN: "The model's server cut my message in silence: %d tokens were sent, it counted %d. I use a smaller window from now on.", ZH: "模型服务器悄悄截断了内容：发送了 %d token，它只读了 %d。以后我用更小的窗口。"}
	sayMayHave     = channels.Phrase{EN: "I was restarted while `%s` ran: it may have happened. Please check before asking again. It was called with %s.", ZH: "我在运行 `%s` 时被重启了：它可能已经执行。请先检查，再决定是否重复。参数：%s。"}
	saySetAside    = channels.Phrase{EN: "This message ended my process several times, so I set it aside.", ZH: "处理这条消息时我多次崩溃，已把它搁置。"}
	sayAsideOwner  = channels.Phrase{EN: "I set a message aside because it ended my process several times. It came over %s from %s.", ZH: "有一条消息多次使我崩溃，已搁置。来自 %s，发送者 %s。"}
	sayUnavailable = channels.Phrase{EN: "I cannot reach a model, so I kept your message. %s Then send /retry.", ZH: "现在连不上模型，你的消息我留着。%s 之后发送 /retry。"}
	sayOverflow    = channels.Phrase{EN: "This does not fit into the model's window, even with nothing else in it. Please send less at once.", ZH: "内容超过了模型的窗口，请分成几条发送。"}
	sayDiskFull    = channels.Phrase{EN: "The disk is full, so I cannot keep my answer. Free some space and start me again: I answer then.", ZH: "磁盘满了，我的回答存不下来。请腾出一些空间再重新启动，我会接着回答。"}
	sayBadOutput   = channels.Phrase{EN: "The model's answer was not usable. /retry asks again.", ZH: "模型的回答无法使用。发送 /retry 再试一次。"}
	sayFault       = channels.Phrase{EN: "Something went wrong here (turn %d). The log has the cause. /retry tries again.", ZH: "这里出了点问题（编号 %d），原因在日志里。发送 /retry 再试一次。"}
)

// Excuse is an error with the sentence that the person is told.
type Excuse struct {
	Say channels.Phrase
	Err error
}

func (e *Excuse) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Excuse) Unwrap() error { return e.Err }

// excuse is the sentence for the person when a turn failed.
func (a *Agent) excuse(t *turn, err error) string {
	say := func(p channels.Phrase, args ...any) string {
		if len(args) == 0 {
			return p.In(t.language)
		}
		return fmt.Sprintf(p.In(t.language), args...)
	}
	var e *Excuse
	switch {
	case errors.As(err, &e):
		return say(e.Say)
	case errors.Is(err, errStopped), errors.Is(err, context.Canceled):
		return say(sayStopped)
	case errors.Is(err, session.ErrDiskFull):
		return say(sayDiskFull)
	case errors.Is(err, model.ErrOverflow):
		return say(sayOverflow)
	case errors.Is(err, model.ErrBadOutput):
		return say(sayBadOutput)
	case errors.Is(err, model.ErrUnavailable), errors.Is(err, model.ErrNotFound), errors.Is(err, model.ErrStalled),
		errors.Is(err, model.ErrRefused), errors.Is(err, model.ErrNoTools):
		return say(sayUnavailable, a.persona.Model.Remedy(err).In(t.language))
	}
	return say(sayFault, t.row.ID)
}
