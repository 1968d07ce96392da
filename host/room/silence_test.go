package room_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/room/outage"
	"muster/host/wire"
)

// longestMissed is how long the others wait for one silent player in all.
const longestMissed = time.Minute

// TestSilenceIsBounded checks that players who fall silent, alone or together, once or again and
// again, do not hold the others for ever.
func TestSilenceIsBounded(t *testing.T) {
	t.Parallel()
	everybody := []string{"ann", "bob", "cat", "dan", "eve", "fay", "guy", "hal"}
	tests := []struct {
		name   string
		liars  int
		within time.Duration
		// plays runs each second for each liar.
		plays func(n *session, liar string, second int)
	}{
		{"one says nothing", 1, 21 * time.Second, nil},
		{"two say nothing", 2, 21 * time.Second, nil},
		{"two leave", 2, 31 * time.Second, func(n *session, liar string, _ int) { n.Gone(liar) }},
		{"four of eight say nothing", 4, 21 * time.Second, nil},
		{"five of eight say nothing", 5, outage.LongestPause + 21*time.Second, nil},
		{"five of eight leave and come back", 5, outage.LongestPause + 2*longestMissed, func(n *session, liar string, second int) {
			if second%20 < 19 {
				n.Gone(liar)
			} else {
				n.Join(liar)
			}
		}},
		{"five of eight say something now and then", 5, outage.LongestPause + 10*time.Minute, func(n *session, liar string, second int) {
			if second%16 == 15 {
				n.Measures(liar, 10)
			}
		}},
		{"one leaves and comes back", 1, 2*longestMissed + 10*time.Second, func(n *session, liar string, second int) {
			if second%20 < 19 {
				n.Gone(liar)
			} else {
				n.Join(liar)
			}
		}},
		{"one says something now and then", 1, 10*time.Minute + 2*time.Second, func(n *session, liar string, second int) {
			if second%14 == 13 {
				n.Measures(liar, 10)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := measuring(t, 54_000, everybody...) // a list of this length has ten minutes
			honest, liars := everybody[tt.liars:], everybody[:tt.liars]
			for _, name := range honest {
				n.Measures(name, 10, 20)
				n.Done(name)
			}
			for second := 0; n.Room.Stage() == wire.Measuring && second < 3600; second++ {
				for _, liar := range liars {
					if tt.plays != nil {
						tt.plays(n, liar, second)
					}
				}
				n.Wait(time.Second)
			}
			n.InStage(wire.Chosen)
			if took := n.Now.Sub(eight); took > tt.within {
				t.Errorf("the honest waited for %v, want %v at most; the log:\n%s", took, tt.within, n.Story())
			}
			for _, name := range honest {
				if !slices.Contains(n.Choice().Players, name) {
					t.Errorf("%s has no say", name)
				}
			}
		})
	}
}

// TestSlowLine checks that a player whose long report is on its way is not silent, and that the
// room waits for no line longer than the list takes.
func TestSlowLine(t *testing.T) {
	n := measuring(t, 6000, "ann", "bob", "cat")
	for _, name := range []string{"ann", "cat"} {
		n.Measures(name, 10, 20)
		n.Done(name)
	}
	for range 90 {
		n.Step(room.PartialMessage{Player: "bob"})
		n.Wait(time.Second)
	}
	n.InStage(wire.Measuring)
	if n.IsOut("bob") {
		t.Errorf("bob is left out; the log:\n%s", n.Story())
	}
	for n.Room.Stage() == wire.Measuring && n.Now.Sub(eight) < time.Hour {
		n.Step(room.PartialMessage{Player: "bob"})
		n.Wait(time.Second)
	}
	if took := n.Now.Sub(eight); took > 3*time.Minute {
		t.Errorf("a line that moves and brings nothing holds the others for %v", took)
	}
}

// TestWithoutSlow checks that a player who answers a server a second forgets the queue and is named,
// that the choice comes in seconds, and that the organiser may go without the player meanwhile.
func TestWithoutSlow(t *testing.T) {
	for _, isLeftOut := range []bool{false, true} {
		n := coordinated(t)
		var queue []int
		forgets := false
		answer := func() { // one server
			if len(queue) > 0 {
				n.Says("bob", wire.Report{Round: 1, Results: []discovery.Result{{
					Server: queue[0], State: discovery.Answered, RTT: farRTT(1, queue[0]),
				}}})
				queue = queue[1:]
			}
		}
		for i := 0; n.isSearching(); i++ {
			n.Wait(100 * time.Millisecond)
			n.answers(0, "ann")
			for _, ask := range n.takes("bob") {
				if ask.Only {
					queue, forgets = nil, true
				}
				queue = append(queue, ask.Servers...)
			}
			if i%10 == 2 {
				answer()
			}
			if isLeftOut && i == 30 {
				if err := n.Orders(room.Without{Name: "bob"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		n.InStage(wire.Chosen)
		players := n.View().Choice.Selection.Players
		if waited := n.Now.Sub(eight); waited > 9*time.Second || !forgets || slices.Contains(players, "bob") == isLeftOut {
			t.Errorf("left out %v: chosen for %q after %v, bob forgets the queue: %v; the log:\n%s", isLeftOut, players, waited, forgets, n.Story())
		}
		if named := strings.Contains(n.Story(), "bob answers slowly, 1 server a second"); named == isLeftOut {
			t.Errorf("left out %v, named %v; the log:\n%s", isLeftOut, named, n.Story())
		}
	}
}

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
