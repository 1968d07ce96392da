package simulated

import (
	"flag"
	"testing"
	"time"
)

// The tables of launches are for measuring. The gate runs a small part of them:
//
//	go -C bench test ./simulated -run TestLaunchSweep -v -timeout 0 -launches 1000 -launch-worlds 10
var (
	launchRuns   = flag.Int("launches", 1, "launches of each world of a table")
	launchWorlds = flag.Uint64("launch-worlds", 2, "how many worlds a table has")
)

func TestLaunchSweep(t *testing.T) {
	t.Parallel()
	for _, players := range []int{4, 8} {
		for _, wait := range []time.Duration{15 * time.Second, time.Minute, 230 * time.Second} {
			var spare, none Ways
			for seed := range *launchWorlds {
				launches(t, populated(t, players, mostPopulated, 9600+seed), *launchRuns, wait, &spare, &none)
			}
			for _, row := range []struct {
				way string
				Launches
			}{
				{"the best only", none.Best}, {"fallbacks", none.BestOf}, {"asked again", none.Again}, {"a seat to spare", spare.Best},
				{"asked again, a seat to spare", spare.Again}, {"all of it", spare.AgainOf},
			} {
				t.Logf("%d players, %4v: %-28s failed %.3f %%, %+.3f ms", players, wait, row.way,
					100*float64(row.Failed)/float64(row.N), (row.Score-none.Best.Score)/float64(row.N))
			}
			if all := spare.AgainOf; all.Failed*500 > all.N {
				t.Errorf("%d players, %v: with everything %d of %d launches failed, over 0.2 %%", players, wait, all.Failed, all.N)
			}
		}
	}
}

func launches(t *testing.T, h *Populated, n int, wait time.Duration, spare, none *Ways) {
	for range n {
		if err := h.Launch(wait, spare, none); err != nil {
			t.Fatal(err)
		}
		h.Pass(10 * time.Minute)
	}
}

func populated(t *testing.T, players, servers int, seed uint64) *Populated {
	h, err := NewPopulated(drawnGroup(t, "et2007", players, seed), servers, seed)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestLaunch checks that each of a room's measures about seats helps, and that together they hardly
// ever fail. A group that ignores spare seats pays little.
func TestLaunch(t *testing.T) {
	t.Parallel()
	var spare, none Ways
	launches(t, populated(t, 4, 50, 1), 300, time.Minute, &spare, &none)
	if none.Best.Failed < 6 || none.Again.Failed >= none.Best.Failed || spare.Best.Failed >= none.Best.Failed || spare.AgainOf.Failed > 0 {
		t.Errorf("of %d launches failed: %d, asked again %d, with a seat to spare %d, all together %d",
			none.Best.N, none.Best.Failed, none.Again.Failed, spare.Best.Failed, spare.AgainOf.Failed)
	}
	if cost := (spare.Best.Score - none.Best.Score) / float64(none.Best.N); cost < 0 || cost > 0.3 {
		t.Errorf("a seat to spare costs %.2f ms", cost)
	}
}
