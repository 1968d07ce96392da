// Package rivals finds servers for groups with the methods of other published work, on the
// simulator's worlds, to compare them with Muster's own search.
//
//	             players ask          servers ask           then
//	random       a sample             -                     the best that all have asked
//	Vivaldi      a sample             - or 32 each          coordinates, the best 32 asked by all
//	DMFSGD       a sample             - or 32 each          factors, the best 32 asked by all
//	Meridian     nothing              their rings' members  the players, from server to server
//
// Game servers do not probe each other. A method's need for that is counted apart.
package rivals

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"muster/internal/sim"
	"muster/selection"
)

// Scene is a group before its list, and the measurements that cooperating servers would make. All
// round trips are in ms.
type Scene struct {
	*sim.Group
	// sites are places all over the world with known round trips. siteOf is the site nearest to
	// each server, and access is the server's distance from it.
	sites  []*sim.Vantage
	siteOf []int
	access []float64
	// regret returns how much worse each server is than the best.
	regret func() func(server int) float64
}

// NewScene returns the group of the first so many vantages. The servers' measurements come from the
// other vantages, which must be at places where servers stand.
func NewScene(vantages []*sim.Vantage, players int) (*Scene, error) {
	g, err := sim.NewGroup(vantages...)
	if err != nil {
		return nil, err
	}
	s := &Scene{Group: &sim.Group{Players: g.Players[:players], Vantages: g.Vantages[:players]}, sites: g.Vantages[players:]}
	s.regret = sync.OnceValue(func() func(int) float64 { return s.Group.Regret(selection.Criteria{By: selection.Mean}) })
	list := s.Vantages[0].Servers
	s.siteOf, s.access = make([]int, len(list)), make([]float64, len(list))
	for server := range list {
		s.access[server] = math.Inf(1)
		for site, v := range s.sites {
			if ms := milliseconds(v.RTT[server]); ms >= 0 && ms < s.access[server] {
				s.siteOf[server], s.access[server] = site, ms
			}
		}
	}
	return s, nil
}

// between returns the round trip from one server to another, negative without an answer.
func (s *Scene) between(a, b int) float64 {
	ms := milliseconds(s.sites[s.siteOf[a]].RTT[b])
	if ms < 0 || math.IsInf(s.access[a], 1) {
		return -1
	}
	return ms + s.access[a]
}

// answers reports whether a server is there.
func (s *Scene) answers(server int) bool { return s.Vantages[0].RTT[server] >= 0 }

// Found is the result of a method.
type Found struct {
	// Server is the chosen one, negative without any.
	Server int
	// Probes is how many servers each player probed, or in Meridian was probed by.
	Probes float64
	// Cooperation is how many round trips the servers measured among themselves.
	Cooperation int
}

// Method finds a server for a group, by a budget of probes for each player.
type Method func(s *Scene, budget int, seed uint64) Found

// Methods returns all methods, by name, in the order of the package's table.
func Methods() []struct {
	Name string
	Run  Method
} {
	return []struct {
		Name string
		Run  Method
	}{
		{"random", Random},
		{"vivaldi", byEstimate(0, vivaldi)},
		{"vivaldi, servers too", byEstimate(neighbours, vivaldi)},
		{"dmfsgd", byEstimate(0, dmfsgd)},
		{"dmfsgd, servers too", byEstimate(neighbours, dmfsgd)},
		{"meridian, random rings", meridian(false, 0.5)},
		{"meridian, spread rings", meridian(true, 0.5)},
		{"meridian, any step", meridian(true, 1)},
	}
}

// Random lets all players probe the same random servers.
func Random(s *Scene, budget int, seed uint64) Found {
	rng := rand.New(rand.NewPCG(seed, 0x72616e64))
	list := len(s.Vantages[0].Servers)
	drawn := rng.Perm(list)[:min(budget, list)]
	return Found{Server: s.best(drawn), Probes: float64(len(drawn))}
}

// finalists is how many of the servers with the best estimates everybody probes.
const finalists = 32

// neighbours is how many others a server measures, as in Vivaldi's evaluation and DMFSGD's (k =
// 32).
const neighbours = 32

// edge is a measured round trip between two nodes: players come first, then servers.
type edge struct {
	a, b int
	ms   float64
}

// estimator fills in the missing round trips between nodes, in ms.
type estimator func(nodes int, measured []edge, rng *rand.Rand) func(a, b int) float64

// byEstimate lets each player probe a sample of its own, and everybody the best by the estimate.
// Servers that cooperate measure so many others each.
func byEstimate(others int, estimate estimator) Method {
	return func(s *Scene, budget int, seed uint64) Found {
		rng := rand.New(rand.NewPCG(seed, 0x65737469))
		players, list := len(s.Vantages), len(s.Vantages[0].Servers)
		var measured []edge
		known := make([]bool, list) // an estimate of the others would be a guess
		for player, v := range s.Vantages {
			for _, server := range rng.Perm(list)[:max(0, min(budget-finalists, list))] {
				rtt, lost := v.Pair(server, 0)
				if lost {
					continue
				}
				known[server] = true
				measured = append(measured, edge{player, players + server, milliseconds(rtt)})
			}
		}
		cooperation := 0
		for server := range list {
			for n := 0; n < others && s.answers(server); {
				known[server] = true
				other := rng.IntN(list)
				if ms := s.between(server, other); ms >= 0 && other != server {
					measured = append(measured, edge{players + server, players + other, ms})
					cooperation++
					n++
				}
			}
		}
		of := estimate(players+list, measured, rng)
		order := make([]int, 0, list)
		score := make([]float64, list)
		for server := range list {
			for player := range players {
				score[server] += of(player, players+server)
			}
			if known[server] {
				order = append(order, server)
			}
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[a], score[b]) })
		order = order[:min(finalists, len(order))]
		return Found{Server: s.best(order), Probes: float64(min(budget, list)), Cooperation: cooperation}
	}
}

// best returns the server of some with the lowest mean ping of all players, as they measure it. It
// is negative if none answers everybody.
func (s *Scene) best(servers []int) int {
	best, least := -1, math.Inf(1)
	for _, server := range servers {
		if ms := s.mean(server); ms < least {
			best, least = server, ms
		}
	}
	return best
}

// mean returns the mean of a packet pair of each player to a server, in ms. It is infinite if one
// is lost.
func (s *Scene) mean(server int) (ms float64) {
	for _, v := range s.Vantages {
		rtt, lost := v.Pair(server, 1)
		if lost {
			return math.Inf(1)
		}
		ms += milliseconds(rtt) / float64(len(s.Vantages))
	}
	return ms
}

// Regret returns how much worse a method's server truly is than the best, in ms of the mean ping.
// It is infinite without a server.
func (s *Scene) Regret(server int) float64 {
	if server < 0 {
		return math.Inf(1)
	}
	return s.regret()(server)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
