package sim

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/selection"
)

// The evenings of honest players are for measuring; the gate has a taste of them:
//
//	go test ./internal/sim -run TestHonestEvenings -v -timeout 0 -honest-evenings 1000
var (
	honestEvenings = flag.Int("honest-evenings", 0, "evenings of honest players")
	honestMisses   = flag.Uint("honest-misses", 15, "how many networks of a hundred do not answer some of them")
	honestFrom     = flag.Uint64("honest-from", 70_000, "the first one's seed")
)

// TestHonestEvenings: nobody honest is left out, or said to report what fits nobody
// else, whatever the players' lines are like.
func TestHonestEvenings(t *testing.T) {
	n := *honestEvenings
	if n == 0 {
		n = 12
	}
	all := make([]Evening, n)
	traits := make([][]string, n)
	err := Parallel(context.Background(), n, func(i int) (err error) {
		all[i], traits[i], err = honestEvening(*honestFrom + uint64(i))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wronged, lost, count := 0, 0, map[string]int{}
	for i, e := range all {
		for _, trait := range traits[i] {
			count[strings.SplitN(trait, ": ", 2)[0]]++
		}
		if e.Wronged == nil && e.Found {
			continue
		}
		wronged += len(e.Wronged)
		if !e.Found {
			lost++
		}
		var log strings.Builder
		for _, note := range e.Log {
			log.WriteString(note.At.Format("\n  04:05.0 ") + note.Text)
		}
		t.Errorf("seed %d, found %v, wronged %q, %q%s", *honestFrom+uint64(i), e.Found, e.Wronged, traits[i], &log)
	}
	t.Logf("%d evenings: %d honest players wronged, %d evenings lost, regret %.1f / %.1f / %.1f ms, %.0f / %.0f s; %v", n, wronged, lost,
		quantileOf(all, 0.5, regret), quantileOf(all, 0.95, regret), quantileOf(all, 1, regret),
		quantileOf(all, 0.5, func(e Evening) float64 { return e.Seconds }), quantileOf(all, 1, func(e Evening) float64 { return e.Seconds }), count)
}

// honestEvening is one of all kinds: two to twelve players, near each other or over
// the world, on a short list or a long one, on lines of all kinds.
func honestEvening(seed uint64) (Evening, []string, error) {
	rng := rand.New(rand.NewPCG(seed, 0x686f6e657374))
	spec, err := night2005([]int{300, 1000, nightServers}[rng.IntN(3)], seed), error(nil)
	if rng.IntN(4) == 0 {
		spec, err = NamedSpec("et2007", seed)
	}
	if err != nil {
		return Evening{}, nil, err
	}
	traits := []string{fmt.Sprintf("list of %d", spec.Servers)}
	players := 2 + rng.IntN(11)
	spec.Places = drawPlaces(players, seed, func(region) bool { return true })
	if rng.IntN(2) == 0 {
		spec.Places = drawPlaces(players, seed, func(r region) bool { return r == europe })
		if rng.IntN(3) == 0 {
			far, err := NamedPlaces("AU")
			if err != nil {
				return Evening{}, nil, err
			}
			spec.Places[rng.IntN(players)] = far[0]
			traits = append(traits, "one far away")
		}
	}
	for i := range spec.Places {
		if rng.IntN(20) == 0 {
			spec.Places[i].Access = 550 * time.Millisecond
			traits = append(traits, fmt.Sprintf("satellite: %d", i))
		}
	}
	// mate is in whose home a player is, with a line in common.
	mate := map[int]int{}
	for i := 1; i < players; i++ {
		if rng.IntN(8) == 0 {
			mate[i] = rng.IntN(i)
			spec.Places[i] = spec.Places[mate[i]]
		}
	}
	g, err := Generate(spec).everybody()
	if err != nil {
		return Evening{}, nil, err
	}
	o := GroupOptions{Criteria: selection.Criteria{By: selection.Mean, Seats: 1, NoPassword: true}}
	o.rates = map[int]float64{}
	for i, v := range g.Vantages {
		if rng.IntN(12) == 0 {
			traits = append(traits, fmt.Sprintf("slow: %d", i))
			o.rates[i] = 25
		}
		if m, shares := mate[i]; shares {
			traits = append(traits, fmt.Sprintf("household: %d", i))
			g.Homes, g.Vantages[i] = append(g.Homes, g.Homes[m]), g.Vantages[m]
			continue
		}
		g.Homes = append(g.Homes, netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}))
		if rng.IntN(4) == 0 {
			traits = append(traits, fmt.Sprintf("loses 2 %%: %d", i))
			g.Vantages[i] = v.lossy(seed+uint64(i), 0.02)
		}
		if rng.IntN(25) == 0 {
			traits = append(traits, fmt.Sprintf("misses networks: %d", i))
			g.Vantages[i] = g.Vantages[i].missing(*honestMisses)
		}
	}
	e, err := g.Attacked(nil, Attack{}, o, seed)
	return e, traits, err
}

// lossy is the vantage over a line that loses a share of what it carries.
func (v *Vantage) lossy(seed uint64, share float64) *Vantage {
	lossy := *v
	lossy.pair = func(server int, n uint64) (time.Duration, bool) {
		rtt, lost := v.pair(server, n)
		draw := rand.New(rand.NewPCG(seed^uint64(server)<<32, n))
		return rtt, lost || draw.Float64() < share
	}
	return &lossy
}

// missing is the vantage over a line that some networks do not answer: n in a hundred.
func (v *Vantage) missing(n uint) *Vantage {
	few := *v
	few.RTT = slices.Clone(v.RTT)
	for server, s := range v.Servers {
		if uint(s.ASN%100) < n {
			few.RTT[server] = silent
		}
	}
	return &few
}
