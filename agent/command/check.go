package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pinch/channels"
)

// Level is how a check came out.
type Level string

// The levels. A failed check makes `pinch doctor` exit with 1.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// Finding is what a check found, and what to do about it.
type Finding struct {
	Name   string `json:"name"`
	Level  Level  `json:"level"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// Check is one thing that status and doctor look at. Run takes no longer than its context allows.
type Check struct {
	Name string
	Run  func(context.Context) Finding
}

const checkTime = 6 * time.Second

// Examine runs checks, one after the other, each with a deadline.
func Examine(ctx context.Context, checks []Check) []Finding {
	findings := make([]Finding, len(checks))
	for i, c := range checks {
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		findings[i] = c.Run(ctx)
		findings[i].Name = c.Name
		cancel()
	}
	return findings
}

// Doctor is the operation that looks for what is wrong, worst first.
func Doctor(checks []Check) Op {
	return Op{
		Name: "doctor", Who: Owner,
		Doc: channels.Phrase{EN: "look for what is wrong", ZH: "检查哪里有问题"},
		Run: func(ctx context.Context, _ Call) (Result, error) { return Diagnose(Examine(ctx, checks)), nil },
	}
}

// Diagnose makes the report of findings.
func Diagnose(findings []Finding) Result {
	var b strings.Builder
	count := map[Level]int{}
	for _, level := range []Level{Fail, Warn, OK} {
		for _, f := range findings {
			if f.Level != level {
				continue
			}
			count[level]++
			fmt.Fprintf(&b, "%-4s  %s: %s\n", f.Level, f.Name, f.Text)
			if f.Remedy != "" {
				fmt.Fprintf(&b, "      → %s\n", f.Remedy)
			}
		}
	}
	fmt.Fprintf(&b, "%d ok, %d warnings, %d failed", count[OK], count[Warn], count[Fail])
	return Result{Text: b.String(), Data: findings, Failed: count[Fail] > 0}
}
