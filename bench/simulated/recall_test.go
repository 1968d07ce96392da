package simulated

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/networks"
	"muster/internal/sim"
	"muster/selection"
	"muster/selection/memory"
)

// How much a group's memory is worth:
//
//	go -C bench test ./simulated -run TestRecall -v -timeout 0 -recall-worlds 30 -sweep-of matrix -sweep-matrix rtt.txt.gz -sweep-from 12000
var (
	recallWorlds = flag.Int("recall-worlds", 0, "how many worlds of a kind")
	recallMatrix = flag.String("recall-matrix", "", "earlier round trips between the hosts of -sweep-matrix, for the kind matrix")
	recallKinds  = flag.String("recall-kinds", "none,same,drift,old,wrong", "what the second session remembers; drift-none is without, on the same world")
)

// way changes the RTTs to a part of the list, in ms.
type way func(ms float64) float64

// times and plus return ways of another length.
func times(factor float64) way { return func(ms float64) float64 { return factor * ms } }
func plus(more float64) way    { return func(ms float64) float64 { return max(1, ms+more) } }

// later returns the group at a later session, when a share of the ASes have other ways, for each
// player their own.
func later(g *sim.Group, seed uint64, rerouted float64) *sim.Group {
	return changed(g, seed, func(rng *rand.Rand) way { return times(sim.NewDetour(rng, rerouted)) })
}

// changed returns the group with other ways to each AS.
func changed(g *sim.Group, seed uint64, draw func(rng *rand.Rand) way) *sim.Group {
	return changedBy(func(s discovery.Server) any { return sim.CellOf(s) }, g, seed, draw)
}

// changedBy returns the group with other ways to each part of the list.
func changedBy(part func(s discovery.Server) any, g *sim.Group, seed uint64, draw func(rng *rand.Rand) way) *sim.Group {
	later := &sim.Group{Players: g.Players}
	order := make([]int, len(g.Vantages[0].Servers))
	for i := range order {
		order[i] = i
	}
	for player, v := range g.Vantages {
		rng := rand.New(rand.NewPCG(seed, uint64(player)))
		of := map[any]way{}
		same := v.Part(order, func(server int) float64 {
			key := part(v.Servers[server])
			if of[key] == nil {
				of[key] = draw(rng)
			}
			ms := float64(v.RTT[server]) / 1e6
			return of[key](ms) / ms
		})
		same.Tree = v.Tree
		later.Vantages = append(later.Vantages, same)
	}
	return later
}

// drifted returns the group after a change of ways: "drift" and "old" reroute a twentieth and half of the
// ASes, up to twice as long or a third shorter. "drift30" makes a twentieth longer or shorter by 30 ms.
// After "cable" the ways to a fifth of the countries are 10 to 60 ms longer or shorter. It returns the
// group itself for other names.
func drifted(g *sim.Group, seed uint64, change string) *sim.Group {
	either := func(rng *rand.Rand, ms float64) way { return plus(ms * float64(1-2*rng.IntN(2))) }
	switch change {
	case "drift":
		return later(g, seed, sim.ReroutedShare)
	case "old":
		return later(g, seed, .5)
	case "drift30":
		return changed(g, seed, func(rng *rand.Rand) way {
			if rng.Float64() < .05 {
				return either(rng, 30)
			}
			return times(1)
		})
	case "cable":
		return changedBy(func(s discovery.Server) any { return s.Country }, g, seed, func(rng *rand.Rand) way {
			if rng.Float64() < .2 {
				return either(rng, 10+50*rng.Float64())
			}
			return times(1)
		})
	}
	return g
}

// TestRecall checks that the second session of a group asks for fewer servers than the first one, and
// finds as good a server, also on a host that knows the players' networks from other groups, with
// liars among them or not. With a memory that is wrong everywhere the choice is hardly worse.
func TestRecall(t *testing.T) {
	if *recallWorlds == 0 {
		t.Parallel()
		// A session asks for this share of the servers that one without memories asks for.
		type kind struct {
			name  string
			share float64
		}
		for group, kinds := range map[string][]kind{
			"world-4": {{"none", 1}, {"same", 0.3}, {"host", 0.26}, {"poisoned", 0.25}, {"all-wrong", 1}},
			"world-8": {{"none", 1}, {"same", 0.3}}, // only some are asked about a server in one round
		} {
			var trials []Trial
			for _, kind := range kinds {
				trials = append(trials, recallTrial(kind.name, selection.Mean, nil))
			}
			all, err := Sweep(func(seed uint64) (*sim.Group, error) { return sim.GroupWorld("css2007", group, seed) }, 31, 1, trials)
			if err != nil {
				t.Fatal(err)
			}
			none := all[0][0]
			for i, kind := range kinds {
				if r := all[i][0]; !r.Found || r.Search.Probes > kind.share*none.Search.Probes || r.Regret > none.Regret+2 {
					t.Errorf("%s, %s: found %t, %.0f servers, misses by %.1f ms; without a memory %.0f and %.1f", group, kind.name, r.Found,
						r.Search.Probes, r.Regret, none.Search.Probes, none.Regret)
				}
			}
		}
		return
	}
	for _, group := range strings.Split(*sweepGroups, ",") {
		make, earlier := sweepGroup(t, *sweepOf, group), sweepGroup(t, *sweepOf, group)
		if *recallMatrix != "" {
			m, then, list := sweepRoundTrips(t), readMatrix(t, *recallMatrix), sweepList(t)
			earlier = func(seed uint64) (*sim.Group, error) { return m.OnMatrixWith(then, list(seed), group, seed) }
		}
		for _, rule := range strings.Split(*sweepRules, ",") {
			kinds := strings.Split(*recallKinds, ",")
			var trials []Trial
			for _, kind := range kinds {
				trials = append(trials, recallTrial(kind, selection.Rule(rule), earlier))
			}
			all, err := Sweep(make, *sweepFrom, *recallWorlds, trials)
			if err != nil {
				t.Fatal(err)
			}
			for i, kind := range kinds {
				t.Logf("%-8s %-14s %-12s %s", group, rule, kind, recallReport(all[i]))
				for world, r := range all[i] {
					if *sweepEach > 0 && (r.Regret >= *sweepEach || !r.claims()) {
						t.Logf("  seed %d: missed by %.1f ms, found %.1f, claimed %.0f, within %v; %.0f asked, %d rounds",
							*sweepFrom+uint64(world), r.Regret, r.FoundRegret, r.claim(), r.Search.Reach, r.Search.Probes, r.Rounds)
					}
				}
			}
		}
	}
}

// recallReport returns a line of figures, p50 / p95 unless it says otherwise. A claim counts from the
// round on in which people see it. A limit is missed if a server keeps it and the chosen one does not.
func recallReport(all []trialRun) string {
	get := func(share float64, of func(trialRun) float64) float64 { return sim.Quantile(all, share, of) }
	probes := func(r trialRun) float64 { return r.Search.Probes }
	seconds := func(r trialRun) float64 { return r.Searched }
	regret := func(r trialRun) float64 { return r.Regret }
	var shown []trialRun
	broken, none, missed, average := 0, 0, 0, 0.0
	for _, r := range all {
		average += r.Regret / float64(len(all))
		if !r.Found {
			none++
		}
		if !r.Kept {
			missed++
		}
		if r.Rounds >= claimAfter {
			if shown = append(shown, r); !r.claims() {
				broken++
			}
		}
	}
	return fmt.Sprintf("regret %5.2f / %5.2f, mean %.2f, most %.2f; asked %3.0f / %3.0f; %2.0f rounds, %3.1f / %3.1f s; "+
		"claims %.0f %%, %.0f ms, false %d of %d; limit missed %d; none found %d",
		get(.5, regret), get(.95, regret), average, get(1, regret), get(.5, probes), get(.95, probes),
		get(.5, func(r trialRun) float64 { return float64(r.Rounds) }), get(.5, seconds), get(.95, seconds),
		100*float64(len(shown))/float64(len(all)), sim.Quantile(shown, .5, trialRun.claim), broken, len(shown), missed, none)
}

// claimAfter is the round after which people see a search's claim.
const claimAfter = 5

// recallTrial runs a session, and another one with what that left. Before the fourth, it runs three.
func recallTrial(kind string, rule selection.Rule, earlier func(seed uint64) (*sim.Group, error)) Trial {
	return func(g *sim.Group, seed uint64) (trialRun, error) {
		o := sim.GroupOptions{Criteria: sweepCriteria(rule), Replay: sim.ReplayOptions{Rate: 140}}
		second, before := o, g
		second.Replay.Run = 1
		change, alone := strings.CutSuffix(kind, "-none")
		if g = drifted(g, seed, change); alone || kind == "none" {
			return runTrial(g, sim.Coordinated, second, seed+1<<20)
		}
		switch kind {
		case "matrix":
			var err error
			if before, err = earlier(seed); err != nil {
				return trialRun{}, err
			}
		case "wrong":
			before = changed(g, seed, func(rng *rand.Rand) way {
				if rng.Float64() < .1 {
					return times(.3 + 2*rng.Float64())
				}
				return times(1)
			})
		case "all-wrong":
			before = changed(g, seed, func(rng *rand.Rand) way { return times(.3 + 2*rng.Float64()) })
		}
		if kind == "host" || kind == "poisoned" {
			var err error
			if second.Memories, err = hostMemories(g, o, seed, kind == "poisoned"); err != nil {
				return trialRun{}, err
			}
			return runTrial(g, sim.Coordinated, second, seed+1<<20)
		}
		ago, sessions := 7*24*time.Hour, 1
		switch kind {
		case "old", "cable":
			ago = 600 * 24 * time.Hour
		case "fourth":
			sessions = 3
		}
		for i := range sessions {
			o.Memories, o.Replay.Run = second.Memories, uint64(2*i) // the last session is run 1
			s, err := before.NewSession(sim.Coordinated, o.WithDefaults(len(g.Players)), seed+o.Replay.Run<<20)
			if err == nil {
				err = s.Run()
			}
			if err != nil {
				return trialRun{}, err
			}
			second.Memories = nil
			for _, p := range s.Peers {
				cells := slices.Clone(p.Memory)
				for i := range cells {
					cells[i].Seen = cells[i].Seen.Add(-ago)
				}
				second.Memories = append(second.Memories, cells)
			}
		}
		if kind == "newcomer" {
			second.Memories[0] = nil
		}
		return runTrial(g, sim.Coordinated, second, seed+1<<20)
	}
}

// hostMemories returns what a host knows of the players' networks after sessions of three other groups
// from them. Their ways to an AS are up to a tenth longer or shorter. All players are of one country, so
// what they know of the country is wrong for most. If the memory is poisoned, a group with one network
// in each AS, and so four in the country, has come before, between and after them, with made-up RTTs.
func hostMemories(g *sim.Group, o sim.GroupOptions, seed uint64, isPoisoned bool) (known [][]memory.Cell, err error) {
	host := networks.New([32]byte{byte(seed)})
	of := make([]networks.Network, len(g.Players))
	for player := range of {
		of[player] = networks.Network{Country: "XA", ASN: uint32(player + 1)}
	}
	teach := func(room int, network byte, other *sim.Group) error {
		s, err := other.NewSession(sim.Coordinated, o.WithDefaults(len(g.Players)), seed+uint64(room)<<32)
		if err == nil {
			err = s.Run()
		}
		if err != nil {
			return err
		}
		for player, p := range s.Peers {
			from := netip.AddrFrom4([4]byte{203, byte(player), network, byte(room)})
			host.Learn(fmt.Sprint(room), from, of[player], p.Memory, sim.Epoch)
		}
		return nil
	}
	for room := range 7 {
		other, network := changed(g, seed+uint64(room), func(rng *rand.Rand) way { return times(.9 + .2*rng.Float64()) }), byte(room)
		if room%2 == 0 {
			if !isPoisoned {
				continue
			}
			other, network = changed(g, seed+uint64(room), func(rng *rand.Rand) way { return times(.3 + 2*rng.Float64()) }), 99
		}
		if err := teach(room, network, other); err != nil {
			return nil, err
		}
	}
	return host.Known(of, g.Vantages[0].Topology(), sim.Epoch.Add(7*24*time.Hour)), nil
}
