package room_test

import (
	"slices"
	"testing"
	"time"

	"muster/host/room"
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
