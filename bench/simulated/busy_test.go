package simulated

import (
	"context"
	"flag"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/internal/sim"
)

// Sessions on busy machines are for measuring. The gate runs a few of them:
//
//	go -C bench test ./simulated -run TestBusyMachines -v -timeout 0 -busy-sessions 100 -busy-from 81000
var (
	busySessions = flag.Int("busy-evenings", 0, "evenings of honest players on busy machines")
	busyFrom     = flag.Uint64("busy-from", 81_019, "the first one's seed")
	maxBusy      = flag.Duration("busy-most", 100*time.Millisecond, "by how much a busy machine is late at most")
	busyShare    = flag.Float64("busy-share", 0.5, "share of the replies that a busy machine reads late")
	busyMachines = flag.Float64("busy-machines", 1, "share of the machines that are busy")
	busyTell     = flag.Bool("busy-tell", true, "the programs tell that their machines are busy")
)

// busy returns the vantage from a machine that reads some replies late.
func busy(v *sim.Vantage, seed uint64, share float64, most time.Duration) *sim.Vantage {
	busy := *v
	busy.Sample = func(server int, n uint64) (time.Duration, bool) {
		rtt, lost := v.Sample(server, n)
		draw := rand.New(rand.NewPCG(seed^uint64(server)<<32, n))
		if draw.Float64() < share {
			rtt += time.Duration(draw.Float64() * float64(most))
		}
		return rtt, lost
	}
	return &busy
}

// TestBusyMachines checks that a machine that reads replies late makes no honest server and no
// honest player look like a liar.
func TestBusyMachines(t *testing.T) {
	n := *busySessions
	if n == 0 {
		n = 6
	}
	sessions, accused := make([]Outcome, n), make([]int, n)
	err := sim.Parallel(context.Background(), n, func(i int) (err error) {
		sessions[i], err = busySession(*busyFrom + uint64(i))
		for _, note := range sessions[i].Log {
			if strings.Contains(note.String(), "far apart") {
				accused[i]++
				t.Errorf("seed %d: %s", *busyFrom+uint64(i), note.String())
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	servers, players, lost := 0, 0, 0
	for i, e := range sessions {
		servers, players = servers+accused[i], players+len(e.Wronged)
		if !e.Found {
			lost++
		}
		if e.Wronged != nil {
			t.Errorf("seed %d: wronged %q", *busyFrom+uint64(i), e.Wronged)
		}
	}
	t.Logf("%d evenings: %d servers accused, %d players wronged, %d evenings lost, regret %.1f / %.1f ms",
		n, servers, players, lost, quantileOf(sessions, 0.5, regret), quantileOf(sessions, 0.95, regret))
}

// busySession runs a session of honest players, some of them on busy machines.
func busySession(seed uint64) (Outcome, error) {
	rng := rand.New(rand.NewPCG(seed, 0x62757379))
	d, err := honestWorld(rng, "mean", seed)
	if err != nil {
		return Outcome{}, err
	}
	o := sim.GroupOptions{Criteria: liarCriteria("mean"), Late: map[int]time.Duration{}}
	for i := range d.Vantages {
		d.Homes = append(d.Homes, netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}))
		if rng.Float64() >= *busyMachines {
			continue
		}
		d.Vantages[i] = busy(d.Vantages[i], seed+uint64(i), *busyShare, *maxBusy)
		if *busyTell { // the delay that nine replies of ten stay within
			o.Late[i] = time.Duration((1 - 0.1 / *busyShare) * float64(*maxBusy))
		}
	}
	return Attacked(d.Group, nil, Attack{}, o, seed)
}
