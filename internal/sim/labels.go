package sim

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// Labels changes what plans are told of servers' places. It returns the list with other countries
// and origin ASes, and does not change its argument.
type Labels func(list []discovery.Server, seed uint64) []discovery.Server

// Labelled returns the same worlds, but plans see other labels than those that the worlds were made
// with.
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
				other.Servers, other.Tree = relabelled[i-1].Servers, relabelled[i-1].Tree
			} else {
				list := labels(v.Servers, seed)
				other.Servers, other.Tree = list, sync.OnceValue(func() *topology.Tree { return topology.New(list) })
			}
			relabelled[i] = &other
		}
		return relabelled, nil
	}
}

// Unlabelled returns servers without country and AS.
func Unlabelled(list []discovery.Server, _ uint64) []discovery.Server {
	list = slices.Clone(list)
	for i := range list {
		list[i].Country, list[i].ASN = "", 0
	}
	return list
}

// LabelledLike labels the servers of a list with the country and AS that these servers have at the same
// address. A server whose address is not among them gets neither.
func LabelledLike(servers []discovery.Server) Labels {
	like := make(map[netip.Addr]cell)
	for _, s := range servers {
		like[s.Addr.Addr()] = CellOf(s)
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

// Mislabelled gives a share of the networks the country and AS of another server of the list, which
// differ from those of the network's first server. A network is a prefix of so many bits, or of
// twice as many for IPv6. A table that is out of date shows networks that were sold or moved in
// this way. The prefix and the seed alone decide which networks these are: a larger share includes
// those of a smaller one.
func Mislabelled(share float64, bits int) Labels {
	return func(list []discovery.Server, seed uint64) []discovery.Server {
		wrong := slices.Clone(list)
		given := make(map[netip.Prefix]*cell) // nil: keeps its own
		for i, s := range list {
			prefix := Network(s, bits)
			label, ok := given[prefix]
			if !ok {
				rng := rand.New(rand.NewPCG(seed, hash(prefix.String())))
				if rng.Float64() < share {
					label = another(list, CellOf(s), rng)
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

// another returns the label of a random server that differs from this one, or nil.
func another(list []discovery.Server, label cell, rng *rand.Rand) *cell {
	for range labelDraws {
		if drawn := CellOf(pick(list, rng)); drawn != label {
			return &drawn
		}
	}
	return nil
}
