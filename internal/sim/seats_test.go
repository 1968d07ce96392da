package sim

import (
	"flag"
	"testing"
	"time"
)

// The tables of launches are for measuring, not for the gate:
//
//	go test ./internal/sim -run TestLaunchSweep -v -timeout 0 -launches 2000
var launchRuns = flag.Int("launches", 3, "launches of each of the ten worlds of a table")

// spare is what a host gives for a seat to spare.
const spare = 2 * time.Millisecond

func TestLaunchSweep(t *testing.T) {
	ways := []Way{
		{}, {Fallbacks: true}, {Again: true}, {Spare: spare}, {Again: true, Spare: spare}, {Again: true, Fallbacks: true, Spare: spare},
	}
	for _, players := range []int{4, 8} {
		for _, wait := range []time.Duration{15 * time.Second, time.Minute, 230 * time.Second} {
			launches := make([]Launches, len(ways))
			for seed := range uint64(10) {
				h := harbour(t, players, 9600+seed)
				for range *launchRuns {
					h.Launch(wait, ways, launches)
					h.pass(10 * time.Minute)
				}
			}
			for i, way := range ways {
				l := launches[i]
				t.Logf("%d players, %4v: %+v failed %.3f %%, %+.3f ms", players, wait, way, 100*float64(l.Failed)/float64(l.N), (l.Score-launches[0].Score)/float64(l.N))
			}
			if all := launches[len(ways)-1]; all.Failed*500 > all.N {
				t.Errorf("%d players, %v: with everything %d of %d launches failed, over 0.2 %%", players, wait, all.Failed, all.N)
			}
		}
	}
}

func harbour(t *testing.T, players int, seed uint64) *Harbour {
	spec, err := NamedSpec("et2007", seed)
	if err != nil {
		t.Fatal(err)
	}
	spec.Places = drawPlaces(players, seed, func(region) bool { return true })
	places := make([]int, players)
	for i := range places {
		places[i] = i
	}
	return NewHarbour(Generate(spec).Group(places...), seed)
}

// TestLaunch: what a room does about seats helps, and together they hardly ever
// fail; who minds no seat to spare pays little.
func TestLaunch(t *testing.T) {
	ways := []Way{{}, {Again: true}, {Spare: spare}, {Again: true, Fallbacks: true, Spare: spare}}
	launches := make([]Launches, len(ways))
	h := harbour(t, 4, 1)
	for range 300 {
		h.Launch(time.Minute, ways, launches)
		h.pass(10 * time.Minute)
	}
	bare, again, spared, all := launches[0], launches[1], launches[2], launches[3]
	if bare.Failed < 6 || again.Failed >= bare.Failed || spared.Failed >= bare.Failed || all.Failed > 0 {
		t.Errorf("of %d launches failed: %d, asked again %d, with a seat to spare %d, all together %d", bare.N, bare.Failed, again.Failed, spared.Failed, all.Failed)
	}
	if cost := (spared.Score - bare.Score) / float64(bare.N); cost < 0 || cost > 0.3 {
		t.Errorf("a seat to spare costs %.2f ms", cost)
	}
}
