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
