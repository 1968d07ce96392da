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
		n.Gone("dan")
		n.Join("dan")
	}
	for name, does := range map[string]func(n *session, second int){
		"a server outside the list, and back": func(n *session, _ int) {
			if n.Step(room.Hear{
				Player:  "dan",
				Message: wire.Report{Round: 1, Results: []discovery.Result{{Server: 50_000, State: discovery.Lost}}},
			}) == nil {
				n.Error("that makes sense")
			}
			comesBack(n)
		},
		"a second look that nobody asked for, and back": func(n *session, _ int) {
			n.Says("dan", wire.Verified{Round: 1, Attempt: 1})
			comesBack(n)
		},
		"a message of the host's, and back": func(n *session, _ int) {
			n.Step(room.Hear{Player: "dan", Message: wire.Measure{Round: 1}})
			comesBack(n)
		},
		"a frame that cannot be read, and back": func(n *session, _ int) { comesBack(n) },
		"away for a while, and back": func(n *session, second int) {
			switch second % 25 {
			case 0:
				n.Gone("dan")
			case 20:
				n.Join("dan")
			}
		},
		"the same again and again": func(n *session, _ int) { n.Measures("dan", 10) },
		"an empty report":          func(n *session, _ int) { n.Says("dan", wire.Report{Round: 1}) },
		"what a server says": func(n *session, _ int) {
			n.Says("dan", wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 1, Info: discovery.Info{Map: "oa_dm1", MaxPlayers: 16}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := measuring(t, 12_000, "ann", "bob", "cat", "dan") // a list of this length has three minutes
			for _, name := range []string{"ann", "bob", "cat"} {
				n.Measures(name, 10, 20, 30)
				n.Done(name)
			}
			second := 0
			for ; n.Room.Stage() == wire.Measuring; second++ {
				n.Wait(time.Second)
				does(n, second)
			}
			if most := longestMissed + attendance.GoneAfter; time.Duration(second)*time.Second > most {
				t.Errorf("it takes %d s, want %v at most; the log:\n%s", second, most, n.Story())
			}
			n.InStage(wire.Chosen)
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
		n.Measures("ann", 10, 20, 30)
		n.Done("ann")
		n.Measures("bob", tt.results...)
		n.Wait(time.Second)
		n.InStage(wire.Measuring)
		n.Wait(time.Second)
		n.InStage(tt.want)
	}
}

// TestStallingLooks checks that the next look does not wait for a player who missed one, or who
// sends nonsense again and again.
func TestStallingLooks(t *testing.T) {
	n := choosing(t, 12)
	n.Verifies("ann", n.Looks["ann"].Servers...) // all have filled up
	n.Wait(lookTime + tick)
	n.InStage(wire.Chosen)
	began := n.Now
	for n.Room.Stage() == wire.Chosen && n.Now.Sub(began) < time.Minute {
		n.Verifies("ann")
		n.Wait(tick)
	}
	n.InStage(wire.Launching)
	if waited := n.Now.Sub(began); waited > time.Second {
		t.Errorf("bob, who did not look, is waited for another %v", waited)
	}

	n = choosing(t, 12)
	n.Verifies("ann")
	for range 3 {
		n.InStage(wire.Chosen)
		if n.Step(room.Hear{
			Player:  "bob",
			Message: wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 11, State: discovery.Lost}}},
		}) == nil {
			t.Error("that makes sense")
		}
		n.Gone("bob")
		n.Join("bob")
	}
	n.InStage(wire.Launching)
}
