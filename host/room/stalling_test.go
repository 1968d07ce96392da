package room_test

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/wire"
)

// TestStalling checks that a player who sends nonsense, reconnects again and again, or repeats old
// results holds the others no longer than a silent one, however long the list is.
func TestStalling(t *testing.T) {
	comesBack := func(n *session) {
		n.gone("dan")
		n.join("dan")
	}
	for name, does := range map[string]func(n *session, second int){
		"a server outside the list, and back": func(n *session, _ int) {
			if n.step(room.Hear{
				Player:  "dan",
				Message: wire.Report{Round: 1, Results: []discovery.Result{{Server: 50_000, State: discovery.Lost}}},
			}) == nil {
				n.Error("that makes sense")
			}
			comesBack(n)
		},
		"a second look that nobody asked for, and back": func(n *session, _ int) {
			n.says("dan", wire.Verified{Round: 1, Attempt: 1})
			comesBack(n)
		},
		"a message of the host's, and back": func(n *session, _ int) {
			n.step(room.Hear{Player: "dan", Message: wire.Measure{Round: 1}})
			comesBack(n)
		},
		"a frame that cannot be read, and back": func(n *session, _ int) { comesBack(n) },
		"away for a while, and back": func(n *session, second int) {
			switch second % 25 {
			case 0:
				n.gone("dan")
			case 20:
				n.join("dan")
			}
		},
		"the same again and again": func(n *session, _ int) { n.measures("dan", 10) },
		"an empty report":          func(n *session, _ int) { n.says("dan", wire.Report{Round: 1}) },
		"what a server says": func(n *session, _ int) {
			n.says("dan", wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 1, Info: discovery.Info{Map: "oa_dm1", MaxPlayers: 16}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := measuring(t, 12_000, "ann", "bob", "cat", "dan") // a list of this length has three minutes
			for _, name := range []string{"ann", "bob", "cat"} {
				n.measures(name, 10, 20, 30)
				n.done(name)
			}
			second := 0
			for ; n.room.Stage() == wire.Measuring; second++ {
				n.wait(time.Second)
				does(n, second)
			}
			if most := longestMissed + attendance.GoneAfter; time.Duration(second)*time.Second > most {
				t.Errorf("it takes %d s, want %v at most; the log:\n%s", second, most, n.log())
			}
			n.inStage(wire.Chosen)
		})
	}
}

// TestNoDone checks that the others do not wait for a player who has told all results and forgets
// to say done, and that they wait for one who lacks a result.
func TestNoDone(t *testing.T) {
	for _, tt := range []struct {
		results []int
		want    wire.Stage
	}{{[]int{10, lost, 30}, wire.Chosen}, {[]int{10, 20}, wire.Measuring}} {
		n := measuring(t, 3, "ann", "bob")
		n.measures("ann", 10, 20, 30)
		n.done("ann")
		n.measures("bob", tt.results...)
		n.wait(time.Second)
		n.inStage(wire.Measuring)
		n.wait(time.Second)
		n.inStage(tt.want)
	}
}

// TestStallingLooks checks that the next look does not wait for a player who missed one, or who
// sends nonsense again and again.
func TestStallingLooks(t *testing.T) {
	n := choosing(t, 12)
	n.verifies("ann", n.looks["ann"].Servers...) // all have filled up
	n.wait(lookTime + tick)
	n.inStage(wire.Chosen)
	began := n.now
	for n.room.Stage() == wire.Chosen && n.now.Sub(began) < time.Minute {
		n.verifies("ann")
		n.wait(tick)
	}
	n.inStage(wire.Launching)
	if waited := n.now.Sub(began); waited > time.Second {
		t.Errorf("bob, who did not look, is waited for another %v", waited)
	}

	n = choosing(t, 12)
	n.verifies("ann")
	for range 3 {
		n.inStage(wire.Chosen)
		if n.step(room.Hear{
			Player:  "bob",
			Message: wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 11, State: discovery.Lost}}},
		}) == nil {
			t.Error("that makes sense")
		}
		n.gone("bob")
		n.join("bob")
	}
	n.inStage(wire.Launching)
}
