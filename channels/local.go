package channels

// Message is what a person types in a local chat: a terminal or the panel, in this process or over the socket.
type Message struct {
	ID           string `json:"id,omitempty"`   // the same id is the same message and taken once; "" = one is made
	Conversation string `json:"conversation"`   // its name, such as "main"
	Name         string `json:"name,omitempty"` // what to call the person: the login name
	Text         string `json:"text"`
}

// Event is what a local chat hears of its conversation. Exactly one field is set. A Part may belong to an earlier
// turn: its Answers tell.
type Event struct {
	Progress *Progress `json:"progress,omitempty"`
	Part     *Part     `json:"part,omitempty"`
}
