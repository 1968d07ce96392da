package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection/anomaly"
)

// Lie is a crude way to make up numbers: what a player reports of a server in
// place of what was measured; lost is that it did not answer.
type Lie struct {
	Name string
	tell func(server int, honest time.Duration) (rtt time.Duration, lost bool)
}

// Lies are those of ALGORITHMS: constants, noise, forcing one of the world's
// servers by praising or reporting it alone, and exaggeration. Honest is none.
func Lies(servers int, seed uint64) []Lie {
	rng := rand.New(rand.NewPCG(seed, 0x6c6965))
	favourite := rng.IntN(servers)
	constant := func(rtt time.Duration) func(int, time.Duration) (time.Duration, bool) {
		return func(int, time.Duration) (time.Duration, bool) { return rtt, false }
	}
	const never = 9999 * time.Millisecond
	return []Lie{
		{"honest", nil},
		{"all 0", constant(0)},
		{"all 9999", constant(never)},
		{"random", func(server int, _ time.Duration) (time.Duration, bool) {
			return time.Duration(rand.New(rand.NewPCG(seed, uint64(server))).Float64() * float64(500*time.Millisecond)), false
		}},
		{"force one", func(server int, _ time.Duration) (time.Duration, bool) {
			if server == favourite {
				return time.Millisecond, false
			}
			return never, false
		}},
		{"report one", func(server int, honest time.Duration) (time.Duration, bool) { return honest, server != favourite }},
		{"exaggerate", func(_ int, honest time.Duration) (time.Duration, bool) {
			if honest > 50*time.Millisecond {
				honest *= 3
			}
			return honest, false
		}},
	}
}

// told is what the player says of a server that answered.
func (v *Vantage) told(server int, rtt time.Duration) (discovery.State, time.Duration) {
	if v.tell == nil {
		return discovery.Answered, rtt
	}
	rtt, lost := v.tell(server, rtt)
	if lost {
		return discovery.Lost, 0
	}
	return discovery.Answered, rtt
}

// LiarRun is what came of a search with one liar among the players.
type LiarRun struct {
	// Regret is the honest players', in ms.
	Regret float64
	// Caught are the doubts about the liar, Wronged those about honest players.
	Caught, Wronged []anomaly.Anomaly
}

// RunLiar has a group search while one player lies.
func (g *Group) RunLiar(player int, lie Lie, o GroupOptions, run uint64) (r LiarRun, err error) {
	lying, honest := &Group{Players: g.Players, Vantages: slices.Clone(g.Vantages)}, g
	if lie.tell != nil {
		liar := *g.Vantages[player]
		liar.tell = lie.tell
		lying.Vantages[player] = &liar
		honest = &Group{Players: slices.Delete(slices.Clone(g.Players), player, player+1), Vantages: slices.Delete(slices.Clone(g.Vantages), player, player+1)}
	}
	found, err := lying.Run(Coordinated, o, run)
	if err == nil && !found.Found {
		err = fmt.Errorf("sim: no server found in run %d", run)
	}
	if err != nil {
		return r, err
	}
	_, r.Regret = honest.truth(o.Criteria).regret(found.Server)
	for _, d := range found.Doubts {
		if lie.tell != nil && d.Player == g.Players[player] {
			r.Caught = append(r.Caught, d)
		} else {
			r.Wronged = append(r.Wronged, d)
		}
	}
	return r, nil
}
