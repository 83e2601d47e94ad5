// Package console is the terminal side of a local chat: a line editor with streamed replies on a terminal, and one
// message a line where the input comes from a pipe. It talks to a Talker and does not know whether the agent is in
// this process or behind a socket.
package console

import (
	"context"
	"io"
	"os"
	"os/user"
	"slices"

	"golang.org/x/term"

	"pinch/agent/command"
	"pinch/channels"
)

// Talker takes a message and shows what happens in its conversation until the turn that answers it is over.
type Talker interface {
	Say(ctx context.Context, m channels.Message, show func(channels.Event)) error
}

// Caller runs an operation by its name.
type Caller interface {
	Call(ctx context.Context, call command.Call) (command.Result, error)
}

// Options is how a chat runs.
type Options struct {
	In           io.Reader // read where Terminal is false
	Out          io.Writer // replies; the terminal itself where Terminal is true
	Err          io.Writer // everything else
	Terminal     bool      // standard input and output are a terminal: see Interactive
	JSON         bool      // one JSON object a reply; without Terminal only
	Conversation string    // its name, such as "main"
	Key          string    // its key, for operations; "" = the owner's main one
	History      string    // file of typed lines; "" = none
}

// Interactive tells whether a person sits at both ends: standard input and output are a terminal.
func Interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// Run chats until the input ends. With a terminal it ignores Ctrl-C outside of turns, so ctx should end for other
// signals only; when ctx ends, a turn ends at once, and a wait for a line when that line (or the end) comes: a
// caller in a hurry leaves without waiting. Without a terminal the first failure ends it.
func Run(ctx context.Context, o Options, t Talker, c Caller) error {
	if o.Terminal {
		return interact(ctx, o, t, c)
	}
	return pipe(ctx, o, t)
}

// login is what to call the person who started us.
func login() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// mine tells whether a turn with these answers is the one of message id. An unmarked one is.
func mine(answers []string, id string) bool {
	return len(answers) == 0 || slices.Contains(answers, id)
}
