// Package session has the words of conversations: their keys, entries, epochs, turns, and what a store keeps of
// them. It does no I/O.
package session

import (
	"errors"
	"time"

	"pinch/agent/model"
	"pinch/channels"
)

// ErrDiskFull is what a store answers when there is no room for what should be stored.
var ErrDiskFull = errors.New("the disk is full")

// Entry is one stored message of a conversation, exactly as it was sent to a model.
type Entry struct {
	ID      int64
	Turn    int64
	Message model.Message
	Tokens  int // estimated when it was made
	At      time.Time
}

// Epoch is a span of turns in which nothing already sent is changed. A restart sends the stored bytes.
type Epoch struct {
	ID      int64
	Key     Key
	Head    string // the system message
	Tools   string // canonical JSON of the tools block
	Summary string // the message after the head that stands for what First leaves out, "" = none
	First   int64  // the first entry id that its prompts hold
	Stub    int64  // tool results of entries below this id are shown as one line
	Hash    string // of all these
	Source  string // identifies the settings and files that Head and Tools were made of
	Reason  string // why it began
	Began   time.Time
}

// Conversation is what is known of one conversation beside its entries.
type Conversation struct {
	Key     Key
	Address channels.Address // where it was last heard
	Turns   int
	About   channels.About // of the last turn
	Updated time.Time
}

// Pending is an accepted inbound that is not answered yet.
type Pending struct {
	ID    int64
	Turn  int64 // the turn that began with it; 0 = none yet
	Left  bool  // by an earlier process
	Tries int   // restarts that took it up before this one
	channels.Admitted
}

// Turn is what one turn leaves behind, committed in one transaction.
type Turn struct {
	ID       int64 // the id of its first inbox row
	Key      Key
	Inbox    []int64         // rows that it answers
	Entries  []Entry         // those that no intent recorded before
	Costs    []Cost          // one a round
	Parts    []channels.Part // the reply, already split
	Error    string          // "" = answered, else answered with this error
	Source   string          // new Epoch.Source, when the turn itself changed workspace files; "" = as it was
	Address  channels.Address
	Audience Audience // who may be told what was said
	About    channels.About
	At       time.Time
}

// Progress is what of a running turn must be durable before a tool with an effect runs.
type Progress struct {
	Turn    int64
	Key     Key
	Inbox   []int64
	Entries []Entry // those not recorded yet
	Intent  ToolRecord
}

// Cost is what one round cost.
type Cost struct {
	Model string
	Cause string
	Usage model.Usage
}

// ToolRecord is the intent and, once Done, the result of one tool call that has an effect.
type ToolRecord struct {
	Turn      int64
	Call      string // the call's id, unique in its turn
	Name      string
	Arguments string
	Done      bool
	Result    string
	At        time.Time
}

// Passage is one thing that was said, as a search finds it.
type Passage struct {
	Entry Entry
	Key   Key
	Score float64 // the higher the better
}

// Note is one remembered sentence of MEMORY.md.
type Note struct {
	Line int // in MEMORY.md, from 1
	Text string
}
