package rivals

import (
	"math"
	"math/rand/v2"
	"slices"
)

// These are Meridian's constants, as in its evaluation (section 5), and how many others a server
// has heard of.
const (
	rings      = 9
	ringSize   = 16  // k
	innermost  = 1.0 // ms, α
	ringGrowth = 2.0 // s
	gossip     = 400
)

// meridian is the central leader election of Wong, Slivkins, Sirer, "Meridian: A Lightweight
// Network Location Service without Virtual Coordinates", SIGCOMM 2005, section 3.2. For one player
// it is the closest node (3.1). It goes from server to server towards the lowest mean round trip to
// all players, as long as the next server is nearer by the factor acceptance. That is the paper's
// β, half in its evaluation. Each server keeps rings of others by round trip. Their members are
// random, or as far apart as possible, which stands for the paper's largest hypervolume.
func meridian(spread bool, acceptance float64) Method {
	return func(s *Scene, budget int, seed uint64) Found {
		rng := rand.New(rand.NewPCG(seed, 0x6d657269))
		list := len(s.Vantages[0].Servers)
		var nodes []int
		for server := range list {
			if s.answers(server) {
				nodes = append(nodes, server)
			}
		}
		found := Found{Server: -1}
		if len(nodes) == 0 {
			return found
		}
		mean := make(map[int]float64) // of those that have probed the players
		ask := func(server int) float64 {
			if _, asked := mean[server]; !asked {
				mean[server] = s.mean(server)
			}
			return mean[server]
		}
		at := nodes[rng.IntN(len(nodes))]
		for best := ask(at); ; {
			next, least := -1, math.Inf(1)
			for _, member := range s.members(at, nodes, spread, rng, &found.Cooperation) {
				if d := s.between(at, member); d < (1-acceptance)*best || d > (1+acceptance)*best {
					continue
				}
				if ms := ask(member); ms < least {
					next, least = member, ms
				}
			}
			if least >= acceptance*best {
				break
			}
			at, best = next, least
		}
		found.Server = at
		for server, ms := range mean {
			if ms < mean[found.Server] || ms == mean[found.Server] && server < found.Server {
				found.Server = server
			}
		}
		found.Probes = float64(len(mean))
		return found
	}
}

// members returns the rings of a server, made from a sample of the others as gossip brings them. It
// counts the measurements.
func (s *Scene) members(at int, nodes []int, spread bool, rng *rand.Rand, asked *int) (members []int) {
	var ring [rings][]int
	for range min(gossip, len(nodes)) {
		other := nodes[rng.IntN(len(nodes))]
		ms := s.between(at, other)
		if other == at || ms < 0 {
			continue
		}
		*asked++
		i := 0
		if ms > innermost {
			i = min(rings-1, 1+int(math.Log(ms/innermost)/math.Log(ringGrowth)))
		}
		if !slices.Contains(ring[i], other) {
			ring[i] = append(ring[i], other)
		}
	}
	for _, all := range ring {
		if len(all) > ringSize && spread {
			all = s.farApart(all, asked)
		}
		members = append(members, all[:min(ringSize, len(all))]...)
	}
	return members
}

// farApart puts first those that are farthest from all before them.
func (s *Scene) farApart(all []int, asked *int) []int {
	gap := make([]float64, len(all))
	for i := range gap {
		gap[i] = math.Inf(1)
	}
	for n := range ringSize {
		far := n
		for i := n; i < len(all); i++ {
			if n > 0 {
				gap[i] = min(gap[i], max(0, s.between(all[n-1], all[i])))
				*asked++
			}
			if gap[i] > gap[far] {
				far = i
			}
		}
		all[n], all[far], gap[n], gap[far] = all[far], all[n], gap[far], gap[n]
	}
	return all
}
