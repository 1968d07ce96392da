// Package topology sorts the servers of a list into one tree of what is publicly
// known of their places:
//
//	list ─▶ country ─▶ origin AS in it ─▶ /16 ─▶ /24 ─▶ address ─▶ servers
//	                                (IPv6 /32   /48)
//
// A [Tree] never changes once it is built, so that any number of rooms, players
// and plans share one. What is learnt about its nodes stands in columns that
// belong to whoever learns it, indexed by [Node].
//
// Nodes are numbered in pre-order: a node comes before all nodes below it, and
// those have the numbers from its own up to its [Tree.End]. One pass up the
// numbers sees every parent first, one pass down every child first.
//
// Where the country is not known the /8 (IPv6 /20) of the address stands for it,
// and where the AS is not known it does so within the country: registries handed
// such blocks to one region or provider each, while all places that nobody knows
// have nothing in common. [Tree.Unknown] reports such nodes.
//
// Two more things are known of nodes that the tree does not show: the region of the
// world that a country lies in ([Tree.Region]), and which nodes are one block of
// addresses although their countries or ASes are said to differ ([Tree.Block]).
package topology

import (
	"cmp"
	"net/netip"
	"slices"

	"muster/discovery"
)

// Level is how deep a node lies: how much its servers have in common.
type Level uint8

// The levels, from the whole list to one machine.
const (
	List     Level = iota // nothing
	Country               // the country
	AS                    // and the origin AS
	Prefix16              // and the /16, of IPv6 the /32
	Prefix24              // and the /24, of IPv6 the /48
	Address               // and the address: all servers of one machine
	Levels                // how many levels there are
)

// Prefix is the prefix of an address at the levels [Prefix16] and [Prefix24]; at
// all others it is the one that stands for an unknown country or AS.
func (l Level) Prefix(addr netip.Addr) netip.Prefix {
	bits := discovery.Bits{V4: 8, V6: 20}
	switch l {
	case Prefix16:
		bits = discovery.Bits{V4: 16, V6: 32}
	case Prefix24:
		bits = discovery.Bits{V4: 24, V6: 48}
	}
	return bits.Of(addr)
}

// Compare orders servers as a [Tree] does: by country, AS and address, so that
// the servers of a node stand together. Where the country is not known the
// prefix that stands for it comes before the AS.
func Compare(a, b discovery.Server) int { return compare(&a, &b) }

func compare(a, b *discovery.Server) int {
	if c := cmp.Compare(a.Country, b.Country); c != 0 {
		return c
	}
	if a.Country == "" {
		if c := unknownPlace(a).Addr().Compare(unknownPlace(b).Addr()); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(a.ASN, b.ASN); c != 0 {
		return c
	}
	return discovery.CompareAddr(*a, *b)
}

// unknownPlace is the prefix that stands for a server's country or AS.
func unknownPlace(s *discovery.Server) netip.Prefix { return Country.Prefix(s.Addr.Addr()) }

// common is the deepest level at which two servers share a node.
func common(a, b *discovery.Server) Level {
	x, y := a.Addr.Addr(), b.Addr.Addr()
	switch {
	case a.Country != b.Country, a.Country == "" && unknownPlace(a) != unknownPlace(b):
		return List
	case a.ASN != b.ASN, a.ASN == 0 && unknownPlace(a) != unknownPlace(b):
		return Country
	case Prefix16.Prefix(x) != Prefix16.Prefix(y):
		return AS
	case Prefix24.Prefix(x) != Prefix24.Prefix(y):
		return Prefix16
	case x != y:
		return Prefix24
	}
	return Address
}

// Node is the number of a node of a [Tree].
type Node int32

// Root is the node of the whole list.
const Root Node = 0

// Tree is the topology of one list. It may be used from several goroutines.
type Tree struct {
	servers []discovery.Server
	order   []int32 // the servers, so that those of a node stand together
	of      []Node  // the address of each server

	level   []Level
	parent  []Node  // of the root -1
	end     []Node  // the first node after those below
	first   []int32 // where the node's servers begin in order
	unknown []bool

	region map[Node]int8 // of the countries whose region is known
	block  []Block
	within []Block // of each block

	origin  []int32 // the AS of a node of level AS among the known ones, or -1
	origins []origin
}

// origin is an AS in all countries.
type origin struct {
	largest Node
	servers int
}

// New builds the topology of a list, which must not change afterwards.
func New(servers []discovery.Server) *Tree {
	t := &Tree{servers: servers, order: make([]int32, len(servers)), of: make([]Node, len(servers))}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	slices.SortFunc(t.order, func(i, j int32) int {
		if c := compare(&servers[i], &servers[j]); c != 0 {
			return c
		}
		return cmp.Compare(i, j)
	})
	shared := make([]Level, len(servers)) // with the server before
	nodes := 1
	for at := range t.order {
		if at > 0 {
			shared[at] = common(&servers[t.order[at-1]], &servers[t.order[at]])
		}
		nodes += int(Address - shared[at])
	}
	t.level, t.parent, t.end = make([]Level, nodes), make([]Node, nodes), make([]Node, nodes)
	t.first, t.unknown, t.origin = make([]int32, nodes), make([]bool, nodes), make([]int32, nodes)
	t.parent[Root] = -1

	var open [Levels]Node // the nodes above the server at hand
	next := Root + 1
	for at, i := range t.order {
		for l := shared[at] + 1; l < Levels; l++ {
			t.level[next], t.parent[next], t.first[next] = l, open[l-1], int32(at)
			t.unknown[next] = l == Country && servers[i].Country == "" || l == AS && servers[i].ASN == 0
			open[l] = next
			next++
		}
		t.of[i] = open[Address]
	}
	for n := next - 1; n > Root; n-- {
		t.end[n] = max(t.end[n], n+1)
		t.end[t.parent[n]] = max(t.end[t.parent[n]], t.end[n])
	}
	t.end[Root] = next
	t.findOrigins()
	t.findRegions()
	t.findBlocks()
	return t
}

// findOrigins joins the nodes of each AS across countries.
func (t *Tree) findOrigins() {
	index := make(map[uint32]int32)
	for n := range t.level {
		n := Node(n)
		t.origin[n] = -1
		if t.level[n] != AS || t.unknown[n] {
			continue
		}
		asn := t.servers[t.order[t.first[n]]].ASN
		at, known := index[asn]
		if !known {
			at = int32(len(t.origins))
			index[asn] = at
			t.origins = append(t.origins, origin{largest: n})
		}
		t.origin[n] = at
		o := &t.origins[at]
		o.servers += t.Size(n)
		if t.Size(n) > t.Size(o.largest) {
			o.largest = n
		}
	}
}

// List is the list that the tree was built from.
func (t *Tree) List() []discovery.Server { return t.servers }

// Nodes is how many nodes there are.
func (t *Tree) Nodes() int { return len(t.level) }

// Level is the level of a node.
func (t *Tree) Level(n Node) Level { return t.level[n] }

// Parent is the node above another, of the root -1.
func (t *Tree) Parent(n Node) Node { return t.parent[n] }

// End is the first number after those of the nodes below n.
func (t *Tree) End(n Node) Node { return t.end[n] }

// Of is the node of a server's address.
func (t *Tree) Of(server int) Node { return t.of[server] }

// Above is the node of a level that n lies under, or is.
func (t *Tree) Above(n Node, l Level) Node {
	for t.level[n] > l {
		n = t.parent[n]
	}
	return n
}

// Servers are the servers under a node, as indexes of the list, in the order of
// [Compare]. The caller must not change them.
func (t *Tree) Servers(n Node) []int32 {
	from, to := t.span(n)
	return t.order[from:to]
}

// Size is how many servers are under a node.
func (t *Tree) Size(n Node) int {
	from, to := t.span(n)
	return int(to - from)
}

// span is where the servers of a node stand in the order.
func (t *Tree) span(n Node) (from, to int32) {
	if end := t.end[n]; int(end) < len(t.first) {
		return t.first[n], t.first[end]
	}
	return t.first[n], int32(len(t.order))
}

// Children is how many children a node has.
func (t *Tree) Children(n Node) int {
	children := 0
	for child := n + 1; child < t.end[n]; child = t.end[child] {
		children++
	}
	return children
}

// Unknown reports whether a node stands for a country or an AS that is not known.
func (t *Tree) Unknown(n Node) bool { return t.unknown[n] }

// Origins is how many known ASes there are, whatever the country.
func (t *Tree) Origins() int { return len(t.origins) }

// Origin is the AS of a node of level [AS], counted from 0, or -1 if it is not
// known or the node is of another level. The nodes of one AS, each in another
// country, have the same origin.
func (t *Tree) Origin(n Node) int { return int(t.origin[n]) }

// mostMisplaced is how likely the servers of a tiny part of an AS stand where
// the rest of it does: as likely as where the database says.
const mostMisplaced = 0.5

// Sibling is the largest node of the same AS in any country, which is n itself if
// nothing more is known. A node that holds few of its AS's servers may be no more
// than a country that the database got wrong: misplaced is how likely that is.
func (t *Tree) Sibling(n Node) (largest Node, misplaced float64) {
	at := t.origin[n]
	if at < 0 {
		return n, 0
	}
	o := t.origins[at]
	return o.largest, mostMisplaced * (1 - float64(t.Size(n))/float64(o.servers))
}
