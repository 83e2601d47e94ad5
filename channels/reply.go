package channels

// Reply is what a turn says, whole, as Markdown.
type Reply struct {
	Address Address
	ReplyTo string // platform message id, "" = not a reply
	Text    string
}

// Part is one piece of a reply as the outbox keeps it: committed, then delivered.
type Part struct {
	ID      int64    `json:"-"`
	Turn    int64    `json:"-"`
	Tries   int      `json:"-"`
	Address Address  `json:"-"`
	ReplyTo string   `json:"reply_to,omitempty"`
	Text    string   `json:"text"`
	Last    bool     `json:"last,omitempty"`    // of its turn
	Answers []string `json:"answers,omitempty"` // message ids that the turn answers
	About   *About   `json:"about,omitempty"`   // on the last part of a turn
}

// About says how a reply came to be.
type About struct {
	Model   string   `json:"model,omitempty"` // "" when no model was asked
	Prompt  int      `json:"prompt,omitempty"`
	Cached  int      `json:"cached,omitempty"`
	Reply   int      `json:"reply,omitempty"`
	Rounds  int      `json:"rounds,omitempty"`
	LeftOut []string `json:"left_out,omitempty"`
	Why     string   `json:"why,omitempty"` // which sentence or command answered
}

// Phrase is a fixed sentence that people read.
type Phrase struct{ EN, ZH string }

// In returns the phrase in a language, English where there is no other.
func (p Phrase) In(language string) string {
	if language == "zh" && p.ZH != "" {
		return p.ZH
	}
	return p.EN
}

// Language guesses the language of a text for fixed sentences: "zh" where it has a Han rune, else "en".
func Language(text string) string {
	for _, r := range text {
		if r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF {
			return "zh"
		}
	}
	return "en"
}
