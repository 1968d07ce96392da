package sim

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// Labels says what plans are told of where servers are: it returns the list with
// other countries and origin ASes, and leaves the one it got as it is.
type Labels func(list []discovery.Server, seed uint64) []discovery.Server

// Labelled is the same worlds, whose plans are told other labels than those by
// which the worlds were made.
func (s Scene) Labelled(labels Labels) Scene {
	return func(seed uint64) ([]*Vantage, error) {
		vantages, err := s(seed)
		if err != nil {
			return nil, err
		}
		relabelled := make([]*Vantage, len(vantages))
		for i, v := range vantages {
			other := *v
			if i > 0 && len(v.Servers) > 0 && len(vantages[i-1].Servers) > 0 && &v.Servers[0] == &vantages[i-1].Servers[0] {
				other.Servers, other.tree = relabelled[i-1].Servers, relabelled[i-1].tree
			} else {
				list := labels(v.Servers, seed)
				other.Servers, other.tree = list, sync.OnceValue(func() *topology.Tree { return topology.New(list) })
			}
			relabelled[i] = &other
		}
		return relabelled, nil
	}
}

// Unlabelled are servers of which neither country nor AS is known.
func Unlabelled(list []discovery.Server, _ uint64) []discovery.Server {
	list = slices.Clone(list)
	for i := range list {
		list[i].Country, list[i].ASN = "", 0
	}
	return list
}

// LabelledLike gives servers the country and AS that those at their address have in
// another list, and none if it does not have the address.
func LabelledLike(servers []discovery.Server) Labels {
	like := make(map[netip.Addr]cell)
	for _, s := range servers {
		like[s.Addr.Addr()] = cellOf(s)
	}
	return func(list []discovery.Server, _ uint64) []discovery.Server {
		list = slices.Clone(list)
		for i := range list {
			label := like[list[i].Addr.Addr()]
			list[i].Country, list[i].ASN = label.country, label.asn
		}
		return list
	}
}

// Mislabelled gives a share of the networks, prefixes of so many bits (of twice as
// many for IPv6), the country and AS of another server of the list, with which the
// first of the network differs. So a network that was sold or moved looks in a table
// that does not know it yet. Which ones these are depends on their prefix and the
// seed alone: a larger share has those of a smaller one among them.
func Mislabelled(share float64, bits int) Labels {
	return func(list []discovery.Server, seed uint64) []discovery.Server {
		wrong := slices.Clone(list)
		given := make(map[netip.Prefix]*cell) // nil: keeps its own
		for i, s := range list {
			prefix := network(s, bits)
			label, ok := given[prefix]
			if !ok {
				rng := rand.New(rand.NewPCG(seed, hash(prefix.String())))
				if rng.Float64() < share {
					label = another(list, cellOf(s), rng)
				}
				given[prefix] = label
			}
			if label != nil {
				wrong[i].Country, wrong[i].ASN = label.country, label.asn
			}
		}
		return wrong
	}
}

// labelDraws bounds the search for another label in a list where nearly all servers
// have the same.
const labelDraws = 1000

// another is the label of a server drawn at random that has another one than this,
// or nil.
func another(list []discovery.Server, label cell, rng *rand.Rand) *cell {
	for range labelDraws {
		if drawn := cellOf(pick(list, rng)); drawn != label {
			return &drawn
		}
	}
	return nil
}
