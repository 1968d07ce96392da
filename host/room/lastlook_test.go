package room_test

import (
	"testing"
	"time"

	"muster/host/wire"
)

// TestLookBeforeLaunch: minutes after the second look there is another while the
// countdownTime runs, and what it finds counts.
func TestLookBeforeLaunch(t *testing.T) {
	tests := []struct {
		name  string
		voted time.Duration // how long people take to vote
		full  []int         // what fills up meanwhile
		looks int           // how often ann looks in all
		to    int
		note  string
	}{
		{"at once", time.Second, nil, 1, 0, "the launch is in 5s"},
		{"nothing changed", time.Minute, nil, 2, 0, "the launch is in 5s"},
		{"the favourite filled up", time.Minute, []int{0}, 2, 1,
			"server 0 (192.0.2.0:27960) turned out to be full: server 1 (192.0.2.1:27960) takes its place"},
		{"the next, too", time.Minute, []int{0, 1}, 2, 2,
			"server 0 (192.0.2.0:27960) turned out to be full: server 2 (192.0.2.2:27960) takes its place"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := inVoting(t)
			n.wait(tt.voted)
			n.goes()
			n.wait(time.Second)
			if tt.looks > 1 {
				n.verifies("ann", tt.full...)
				n.verifies("bob", tt.full...)
			}
			n.wait(countdownTime)
			n.goesTo(tt.to)
			if tt.full != nil {
				n.noted(tt.note)
			}
			looks := 0
			for _, m := range n.sent["ann"] {
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

// TestLateLook: what belongs to the look before people agreed is no longer
// listened to, and a look that nobody answers holds up no launch.
func TestLateLook(t *testing.T) {
	n := inVoting(t)
	n.verifies("ann", 0)
	n.wait(time.Minute)
	n.goes()
	n.wait(countdownTime + time.Second)
	n.goesTo(0)
}
