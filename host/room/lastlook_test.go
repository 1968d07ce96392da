package room_test

import (
	"testing"
	"time"

	"muster/host/wire"
)

// TestLookBeforeLaunch checks that everyone looks again during the countdown, after the reveal, if
// minutes have passed since the second look, and that its results count.
func TestLookBeforeLaunch(t *testing.T) {
	tests := []struct {
		name  string
		voted time.Duration // the time that people take to vote
		full  []int         // the servers that fill up meanwhile
		looks int           // ann's looks in all
		to    int
		note  string
	}{
		{"at once", time.Second, nil, 1, 0, ""},
		{"nothing changed", time.Minute, nil, 2, 0, ""},
		{"the favourite filled up", time.Minute, []int{0}, 2, 1,
			"server 0 (192.0.2.0:27960) turned out to be full: server 1 (192.0.2.1:27960) takes its place"},
		{"the next, too", time.Minute, []int{0, 1}, 2, 2,
			"server 0 (192.0.2.0:27960) turned out to be full: server 2 (192.0.2.2:27960) takes its place"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := inVoting(t)
			n.Wait(tt.voted)
			n.Goes()
			n.Wait(revealTime + time.Second)
			if tt.looks > 1 {
				n.Verifies("ann", tt.full...)
				n.Verifies("bob", tt.full...)
			}
			n.Wait(countdownTime)
			n.GoesTo(tt.to)
			if tt.full != nil {
				n.Noted(tt.note)
			}
			looks := 0
			for _, m := range n.Sent["ann"] {
				if _, ok := m.(wire.Finalists); ok {
					looks++
				}
			}
			if looks != tt.looks {
				t.Errorf("ann was asked to look %d times, want %d", looks, tt.looks)
			}
		})
	}
}

// TestLateLook checks that answers to the look before people agreed no longer count, and that a
// look without answers holds up no launch.
func TestLateLook(t *testing.T) {
	n := inVoting(t)
	n.Verifies("ann", 0)
	n.Wait(time.Minute)
	n.Goes()
	n.Wait(countdownTime + time.Second)
	n.GoesTo(0)
}
