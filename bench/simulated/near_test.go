package simulated

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/sim"
	"muster/selection"
	"muster/selection/anomaly"
)

// tableOf returns one measurement of every server by each player of a group.
func tableOf(g *sim.Group) *selection.Table {
	t := selection.NewTable(g.Players, len(g.Vantages[0].Servers))
	for player, v := range g.Vantages {
		for server, rtt := range v.RTT {
			state := discovery.Answered
			if rtt < 0 {
				state, rtt = discovery.Lost, 0
			} else if v.Sample != nil {
				if sample, lost := v.Sample(server, 1); !lost {
					rtt = sample
				}
			}
			t.Set(player, server, state, rtt)
		}
	}
	return t
}

// TestTooNear checks that a server that answers everybody at once is accused, and no honest one
// with it, whatever the group.
func TestTooNear(t *testing.T) {
	t.Parallel()
	wronged, judged := 0, 0
	for _, world := range []string{"et2007", "night2000"} {
		for _, group := range []string{"musst", "au-jp", "au-de-usw", "europe-8", "world-16", "world-64"} {
			g, err := sim.GroupWorld(world, group, 9700)
			if err != nil {
				t.Fatal(err)
			}
			list, table := g.Vantages[0].Servers, tableOf(g)
			honest := anomaly.TooNear(list, table)
			wronged += len(honest)
			judged += len(list)
			liar := slices.IndexFunc(g.Vantages[0].RTT, func(rtt time.Duration) bool { return rtt > 0 })
			for player := range g.Vantages {
				table.Set(player, liar, discovery.Answered, 400*time.Microsecond)
			}
			found := anomaly.TooNear(list, table)
			if group != "europe-8" && !slices.Contains(found, liar) { // players near each other cannot tell
				t.Errorf("%s, %s: the server that is near to all is not found", world, group)
			}
			if doubts := anomaly.Find(list, table); len(doubts) > 0 {
				t.Errorf("%s, %s: honest players are doubted for it: %v", world, group, doubts)
			}
			t.Logf("%s, %s: %d honest servers judged of %d", world, group, len(honest), len(list))
		}
	}
	if wronged*1000 > judged {
		t.Errorf("%d of %d honest servers are judged", wronged, judged)
	}
}
