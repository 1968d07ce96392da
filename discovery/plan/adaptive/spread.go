package adaptive

import (
	"math"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// spread sums up how the networks of a country differ: the number of its ASes that have replied,
// and their mean RTTs in ms. The networks of a wide country, such as Russia, are reached by
// different routes. The likelihood table ignores countries, so a few far replies from a country say
// less than the table assumes.
type spread struct{ networks, sum, squares float64 }

const (
	// While few networks have replied, their deviation is hardly known. It is estimated
	// as if usualNetworks more deviated by usualSpread of the mean. Tuned.
	usualNetworks = 2
	usualSpread   = 0.1
)

func (s *spread) add(ms float64) {
	s.networks++
	s.sum += ms
	s.squares += ms * ms
}

// chanceUnder returns the chance that the RTT to one more network is under a limit in ms. It
// is Student's t distribution with four degrees of freedom. More replies do not make it
// a normal one, because RTTs have heavier tails.
func (s *spread) chanceUnder(limit float64) float64 {
	mean := s.sum / s.networks
	usual := usualSpread * mean
	variance := (max(0, s.squares-s.sum*mean) + usualNetworks*usual*usual) / (s.networks - 1 + usualNetworks)
	t := (limit - mean) / math.Sqrt(variance*(1+1/s.networks))
	x := 1 + t*t/4
	return 0.5 + 0.375*t/math.Sqrt(x)*(1-t*t/x/12)
}

// distances returns the RTTs of each AS that has replied.
func (e *estimator) distances() map[topology.Node]*spread {
	ases := make(map[topology.Node]*spread)
	for _, r := range e.replies {
		as := e.above(r.server, topology.AS)
		if ases[as] == nil {
			ases[as] = new(spread)
		}
		ases[as].add(discovery.MS(r.rtt))
	}
	return ases
}

// hidden returns how many networks of a country have replied, how many were not asked,
// and how many near servers the latter may hide.
func (e *estimator) hidden(country topology.Node, ases map[topology.Node]*spread) (replied, unasked int, near float64) {
	var s spread
	servers := 0
	for as := country + 1; as < e.tree.End(country); as = e.tree.End(as) {
		if known := ases[as]; known != nil {
			s.add(known.sum / known.networks)
		} else if e.asked(as) == 0 {
			unasked++
			servers += e.tree.Size(as)
		}
	}
	if s.networks > 0 {
		near = float64(servers) * s.chanceUnder(discovery.MS(e.limit))
	}
	return int(s.networks), unasked, near
}
