package coordinate

import (
	"cmp"
	"net/netip"
	"slices"

	"muster/discovery"
)

// level is how deep a node of the tree lies.
type level uint8

const (
	everything level = iota
	country
	network // one AS within a country
	block   // /16, of IPv6 /32
	site    // /24, of IPv6 /48
	machine // an address; its servers are all equally far
	levels
)

// tree puts the servers of a list under their machine, site, block, network and
// country, as far as public data tells. A node's number is its place in a walk
// that visits parents first, so that what lies below a node has the numbers from
// its own up to its end.
type tree struct {
	parent []int32 // of the root -1
	level  []level
	end    []int32
	// order has the servers in the order of the walk: those of a node are
	// order[from:to].
	order    []int32
	from, to []int32
	// children counts those of a node.
	children []int32
	// of is the machine of each server.
	of []int32
	// kin is the largest network of the same AS, for one in another country,
	// where it may really stand: databases err. It is 0 where there is none.
	kin []int32
	// strange is how likely that is.
	strange []float64
}

func newTree(servers []discovery.Server) *tree {
	t := &tree{of: make([]int32, len(servers))}
	for i := range servers {
		t.order = append(t.order, int32(i))
	}
	slices.SortFunc(t.order, func(i, j int32) int {
		a, b := servers[i], servers[j]
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN), discovery.CompareAddr(a, b), cmp.Compare(i, j))
	})
	var open [levels]int32 // the nodes above the server at hand
	for at, i := range t.order {
		fresh := everything
		if at > 0 {
			fresh = parting(servers[t.order[at-1]], servers[i])
			t.close(open[:], fresh, at)
		}
		for l := fresh; l < levels; l++ {
			open[l] = t.add(open[:], l, at)
		}
		t.of[i] = open[machine]
	}
	if len(servers) > 0 {
		t.close(open[:], everything, len(t.order))
	}
	t.link(servers)
	return t
}

// parting is the level from which on two servers part.
func parting(a, b discovery.Server) level {
	x, y := a.Addr.Addr(), b.Addr.Addr()
	switch {
	case a.Country != b.Country:
		return country
	case a.ASN != b.ASN:
		return network
	case !together(x, y, 16, 32):
		return block
	case !together(x, y, 24, 48):
		return site
	case x != y:
		return machine
	}
	return levels
}

// together tells two addresses with the same prefix.
func together(x, y netip.Addr, bits4, bits6 int) bool {
	bits := bits6
	if x.Is4() {
		bits = bits4
	}
	p, err := x.Prefix(bits)
	return err == nil && p.Contains(y)
}

func (t *tree) add(open []int32, l level, at int) int32 {
	parent := int32(-1)
	if l > everything {
		parent = open[l-1]
		t.children[parent]++
	}
	t.parent = append(t.parent, parent)
	t.level = append(t.level, l)
	t.end = append(t.end, 0)
	t.from = append(t.from, int32(at))
	t.children = append(t.children, 0)
	t.to = append(t.to, 0)
	return int32(len(t.parent) - 1)
}

func (t *tree) close(open []int32, from level, at int) {
	for l := from; l < levels; l++ {
		t.end[open[l]], t.to[open[l]] = int32(len(t.parent)), int32(at)
	}
}

// nodes is how many there are.
func (t *tree) nodes() int { return len(t.parent) }

// size is how many servers lie below a node.
func (t *tree) size(node int32) int { return int(t.to[node] - t.from[node]) }

// servers are those below a node, by address.
func (t *tree) servers(node int32) []int32 { return t.order[t.from[node]:t.to[node]] }

// above is the node of a level over another.
func (t *tree) above(node int32, l level) int32 {
	for t.level[node] > l {
		node = t.parent[node]
	}
	return node
}

// link finds the networks that are a small part of an AS which mostly stands in
// another country.
func (t *tree) link(servers []discovery.Server) {
	t.kin, t.strange = make([]int32, t.nodes()), make([]float64, t.nodes())
	total, largest := make(map[uint32]int), make(map[uint32]int32)
	networks := func(visit func(node int32, asn uint32)) {
		for node := range int32(t.nodes()) {
			if t.level[node] == network {
				if asn := servers[t.order[t.from[node]]].ASN; asn != 0 {
					visit(node, asn)
				}
			}
		}
	}
	networks(func(node int32, asn uint32) {
		total[asn] += t.size(node)
		if l, ok := largest[asn]; !ok || t.size(node) > t.size(l) {
			largest[asn] = node
		}
	})
	networks(func(node int32, asn uint32) {
		if largest[asn] != node {
			t.kin[node] = largest[asn]
			t.strange[node] = (1 - float64(t.size(node))/float64(total[asn])) / 2
		}
	})
}
