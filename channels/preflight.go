package channels

// Verdict is what preflight decides.
type Verdict string

// The verdicts. All but Ignore become durable rows.
const (
	Admit  Verdict = "admit"  // a turn runs
	Ignore Verdict = "ignore" // nothing is written
)

// Decision is preflight's answer for one inbound.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	Owner   bool    `json:"owner,omitempty"` // the sender is the owner
}

// Facts is what must be known about an inbound to decide; gathered before, so that Preflight stays pure.
type Facts struct {
	Seen    bool // this event was accepted before
	Owner   bool // the sender is the owner
	Allowed bool // the sender may talk to us
}

// Admitted is an inbound with its decision, as the journal keeps it.
type Admitted struct {
	Inbound  Inbound
	Decision Decision
}

// Preflight decides what happens with an inbound. It is pure: the same inbound and facts give the same decision.
func Preflight(in Inbound, f Facts) Decision {
	ignore := func(reason string) Decision { return Decision{Verdict: Ignore, Reason: reason} }
	switch {
	case f.Seen:
		return ignore("duplicate")
	case in.Sender.Bot:
		return ignore("bot")
	case in.Kind != KindMessage:
		return ignore("kind " + string(in.Kind))
	case in.Text == "" && len(in.Files) == 0:
		return ignore("empty")
	case in.Chat.Kind == Broadcast:
		return ignore("broadcast channel")
	case !f.Allowed && !f.Owner:
		return ignore("not allowed")
	case in.Chat.Kind == Group && !in.Mentioned:
		return ignore("not mentioned")
	}
	return Decision{Verdict: Admit, Reason: "allowed", Owner: f.Owner}
}
