// Package agent is the loop: it accepts inbounds, gives each conversation a lane, runs turns, commits and delivers.
//
// A turn has one owner, its lane's goroutine, and holds its state in local variables. The steps of a message, in
// the order of the code: accept (accept.go), lane (lane.go), turn (turn.go), rounds (rounds.go), commit and deliver
// (deliver.go).
package agent
