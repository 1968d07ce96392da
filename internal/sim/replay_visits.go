package sim

import (
	"math/rand/v2"
	"time"

	"muster/discovery"
	"muster/discovery/plan/history"
)

// These numbers describe the changes between two visits.
const (
	// replacedShare is the share of servers in a list that the earlier list lacked.
	replacedShare = 0.10
	// ReroutedShare is the share of networks with a new way. For one half it is longer, up to twice
	// as long. For the other half it is shorter, by at most the factor 1.5.
	ReroutedShare = 0.05
	maxLonger     = 2.0
	maxShorter    = 1.5
	// betweenVisits is the time from the first visit to the second.
	betweenVisits = 24 * time.Hour
)

// Visits returns a player's views at two visits to the vantage's network. Each list lacks some
// servers of the other, and at the second visit some networks have a new way.
func (v *Vantage) Visits(seed uint64) (first, second *Vantage) {
	rng := rand.New(rand.NewPCG(seed, 0x76697369))
	const missing = replacedShare / (1 + replacedShare)
	var firstList, secondList []int
	for i := range v.Servers {
		switch at := rng.Float64(); {
		case at < missing:
			firstList = append(firstList, i)
		case at < 2*missing:
			secondList = append(secondList, i)
		default:
			firstList, secondList = append(firstList, i), append(secondList, i)
		}
	}
	detours := make(map[any]float64)
	second = v.Part(secondList, func(server int) float64 {
		key := routeOf(v.Servers[server])
		detour, known := detours[key]
		if !known {
			detour = NewDetour(rng, ReroutedShare)
			detours[key] = detour
		}
		return detour
	})
	return v.Part(firstList, func(int) float64 { return 1 }), second
}

// NewDetour returns the factor by which the way to a network changed, where a share has.
func NewDetour(rng *rand.Rand, share float64) float64 {
	longer, rerouted, much := rng.IntN(2) == 0, rng.Float64() < share, rng.Float64()
	switch {
	case !rerouted:
		return 1
	case longer:
		return 1 + much*(maxLonger-1)
	}
	return 1 / (1 + much*(maxShorter-1))
}

// routeOf returns a key for the networks that move together when a route changes.
func routeOf(s discovery.Server) any {
	if s.ASN != 0 {
		return s.ASN
	}
	return Network(s, 16)
}

// Part returns the vantage with some of its servers, each so many times as far.
func (v *Vantage) Part(servers []int, detour func(server int) float64) *Vantage {
	p := &Vantage{Name: v.Name}
	longer := make([]time.Duration, len(servers))
	for i, server := range servers {
		rtt := v.RTT[server]
		if rtt >= 0 {
			longer[i] = time.Duration(float64(rtt)*detour(server)) - rtt
		}
		p.Servers = append(p.Servers, v.Servers[server])
		p.RTT = append(p.RTT, rtt+longer[i])
		if v.Infos != nil {
			p.Infos = append(p.Infos, v.Infos[server])
		}
	}
	p.Sample = func(server int, n uint64) (time.Duration, bool) {
		rtt, lost := v.Pair(servers[server], n)
		return rtt + longer[server], lost
	}
	return p
}

// Start is the begin of a simulated second visit, each time with other changes since the first.
type Start string

// A cold start knows nothing. A warm start knows what the same strategy learnt at the earlier
// visit.
const (
	Cold Start = "cold"
	Warm Start = "warm"
)

// Leave returns what the next visit can know of this one.
func (v *Vantage) Leave(strategy discovery.Strategy, plan discovery.PlanOptions, o ReplayOptions) ([]discovery.Prior, error) {
	plan.Seed ^= earlier
	results, _, err := v.Run(strategy, plan, o)
	var then time.Time
	return history.Memory{}.After(v.Servers, results, then).Priors(then.Add(betweenVisits)), err
}

// earlier gives the first visit a seed and packet pairs of its own.
const earlier = 1 << 40
