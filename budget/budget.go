// Package budget does the sums: how many tokens a text is, how a window is shared, what a turn may use.
package budget

// DefaultWindow is the window where neither the config nor the server tells one, in tokens.
const DefaultWindow = 4096

// Plan is the budget of one turn, in tokens.
type Plan struct {
	Window int // of the model
	Reply  int // reserve for the answer
	Head   int // most of head and tools
	Fresh  int // most of this turn's text and tool results
	High   int // prompt size from which history is shortened
	Low    int // prompt size that shortening aims at
	Rounds int // most model calls

	New  int  // most tokens that are new to the model, for the reply to start in time; 0 = its speed is not known
	Late bool // even the smallest question starts too late
}

// Split shares a window: head with tools 25 %, reply 15 % but at least 384 (or a quarter of a tiny window),
// fresh input 20 %, high water 85 % and low water 45 % of what the reply leaves.
func Split(window, rounds int) Plan {
	window = min(max(window, 512), 1<<24)
	reply := min(max(window*15/100, 384), window/4)
	room := window - reply
	return Plan{
		Window: window, Reply: reply, Head: window / 4, Fresh: window / 5,
		High: room * 85 / 100, Low: room * 45 / 100, Rounds: rounds,
	}
}
