// Package topology sorts the servers of a list into one tree by what is publicly known
// about their places:
//
//	list ─▶ country ─▶ origin AS in it ─▶ /16 ─▶ /24 ─▶ address ─▶ servers
//	                                (IPv6 /32   /48)
//
// A [Tree] never changes once it is built, so that any number of rooms, players and
// plans share one. Knowledge about its nodes is kept in columns outside it, indexed by
// [Node].
//
// Nodes are numbered in pre-order: a node comes before all nodes below it, and those
// have the numbers from its own up to its [Tree.End]. One pass up the numbers sees
// every parent first, one pass down every child first.
//
// The /8 (IPv6 /20) of the address replaces an unknown country, and an unknown AS
// within its country: registries gave such blocks to one region or provider each. One
// node for all unknown places would join servers that have nothing in common.
// [Tree.Unknown] reports such nodes.
//
// Two more facts about nodes are not in the tree: the region of the world of a country
// ([Tree.Region]), and which nodes are one block of addresses although their countries
// or ASes differ ([Tree.Block]).
package topology

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
)

// Level is the depth of a node: how much its servers have in common.
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

// Prefix returns the prefix of an address at the levels [Prefix16] and [Prefix24]. At
// all others it returns the one that replaces an unknown country or AS.
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

// Compare orders servers as a [Tree] does: by country, AS and address, so that the
// servers of a node are adjacent. The prefix that replaces an unknown country comes
// before the AS.
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

// unknownPlace returns the prefix that replaces a server's country or AS.
func unknownPlace(s *discovery.Server) netip.Prefix { return Country.Prefix(s.Addr.Addr()) }

// common returns the deepest level at which two servers share a node.
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
	order   []int32 // the servers, those of a node adjacent
	of      []Node  // the address of each server

	level   []Level
	parent  []Node  // -1 for the root
	end     []Node  // the first node after those below
	first   []int32 // where the node's servers begin in order
	unknown []bool

	region  map[Node]int8   // of the countries whose region is known
	reaches map[Node][]int8 // of the same
	block   []Block
	within  []Block // of each block

	origin  []int32 // the AS of a node of level AS among the known ones, or -1
	origins []origin
}

// origin is an AS in all countries.
type origin struct {
	largest Node
	servers int
}

// New builds the topology of a list. The list must not change afterwards.
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

	var open [Levels]Node // the nodes above the current server
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

// List returns the list that the tree was built from.
func (t *Tree) List() []discovery.Server { return t.servers }

// Nodes returns the number of nodes.
func (t *Tree) Nodes() int { return len(t.level) }

// Level returns the level of a node.
func (t *Tree) Level(n Node) Level { return t.level[n] }

// Parent returns the node above another, -1 for the root.
func (t *Tree) Parent(n Node) Node { return t.parent[n] }

// End returns the first number after those of the nodes below n.
func (t *Tree) End(n Node) Node { return t.end[n] }

// Of returns the node of a server's address.
func (t *Tree) Of(server int) Node { return t.of[server] }

// Above returns the node of a level that is above n, or n itself.
func (t *Tree) Above(n Node, l Level) Node {
	for t.level[n] > l {
		n = t.parent[n]
	}
	return n
}

// Servers returns the servers under a node, as indexes of the list, in the order of
// [Compare]. The caller must not change them.
func (t *Tree) Servers(n Node) []int32 {
	from, to := t.span(n)
	return t.order[from:to]
}

// Size returns the number of servers under a node.
func (t *Tree) Size(n Node) int {
	from, to := t.span(n)
	return int(to - from)
}

// span returns the bounds of a node's servers in the order.
func (t *Tree) span(n Node) (from, to int32) {
	if end := t.end[n]; int(end) < len(t.first) {
		return t.first[n], t.first[end]
	}
	return t.first[n], int32(len(t.order))
}

// Children returns the number of a node's children.
func (t *Tree) Children(n Node) int {
	children := 0
	for child := n + 1; child < t.end[n]; child = t.end[child] {
		children++
	}
	return children
}

// Unknown reports whether a node represents an unknown country or AS.
func (t *Tree) Unknown(n Node) bool { return t.unknown[n] }

// Origins returns the number of known ASes, across countries.
func (t *Tree) Origins() int { return len(t.origins) }

// Origin returns the AS of a node of level [AS], counted from 0. It is -1 if the AS is
// unknown or the node is of another level. The nodes of one AS in several countries
// have the same origin.
func (t *Tree) Origin(n Node) int { return int(t.origin[n]) }

// maxMisplaced is the chance that a tiny part of an AS is really where the rest of it
// is: the database is as likely wrong as right.
const maxMisplaced = 0.5

// Sibling returns the largest node of the same AS in any country, or n itself if there
// is none. A node with few of its AS's servers may only be an error of the database:
// misplaced is the chance of that.
func (t *Tree) Sibling(n Node) (largest Node, misplaced float64) {
	at := t.origin[n]
	if at < 0 {
		return n, 0
	}
	o := t.origins[at]
	return o.largest, maxMisplaced * (1 - float64(t.Size(n))/float64(o.servers))
}

// Block is a range of addresses across countries and ASes: a /16 (IPv6 /32), or a /8
// (/20) with /16s in it. The blocks of a tree count from 0, each /8 before its /16s.
type Block int32

// NoBlock is the block of a node that is not of level [Prefix16], and what a /8 is
// within.
const NoBlock Block = -1

// findBlocks joins the nodes of each /16 across countries and ASes.
func (t *Tree) findBlocks() {
	index := make(map[netip.Prefix]Block)
	find := func(p netip.Prefix, within Block) Block {
		b, known := index[p]
		if !known {
			b = Block(len(t.within))
			index[p], t.within = b, append(t.within, within)
		}
		return b
	}
	t.block = make([]Block, len(t.level))
	for n, l := range t.level {
		t.block[n] = NoBlock
		if l == Prefix16 {
			addr := t.servers[t.order[t.first[n]]].Addr.Addr()
			t.block[n] = find(l.Prefix(addr), find(Country.Prefix(addr), NoBlock))
		}
	}
}

// Blocks returns the number of blocks.
func (t *Tree) Blocks() int { return len(t.within) }

// Block returns the /16 of a node of level [Prefix16], or [NoBlock] for another level.
// Other nodes may share the /16.
func (t *Tree) Block(n Node) Block { return t.block[n] }

// Within returns the /8 of a /16, or [NoBlock] for a /8.
func (t *Tree) Within(b Block) Block { return t.within[b] }

// regions are parts of the world whose countries are close to each other, by their
// codes (ISO 3166-1). They are those of the United Nations (M49), with two changes.
// Asia and America are split, because they are too large. North Africa joins western
// Asia, which is nearer than the rest of Africa. Small letters are of wide countries of
// another region that reach into this one.
var regions = [...]string{
	"AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME " +
		"MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK",
	"AE AM AZ BH CY DZ EG EH GE IL IQ IR JO KW LB LY MA OM PS QA SA SD SY TN TR YE",
	"ru KG KZ TJ TM UZ AF BD BT IN LK MV NP PK IO",
	"ru us CN HK JP KP KR MN MO TW",
	"au BN ID KH LA MM MY PH SG TH TL VN CC CX",
	"us AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS",
	"BM CA GL PM US",
	"us AG AI AW BB BL BQ BS BZ CR CU CW DM DO GD GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PR SV SX TC TT VC VG VI",
	"AR BO BR CL CO EC FK GF GY PE PY SR UY VE GS",
	"AO BF BI BJ BW CD CF CG CI CM CV DJ ER ET GA GH GM GN GQ GW KE KM LR LS MG ML MR MU MW MZ NA NE NG RE RW " +
		"SC SH SL SN SO SS ST SZ TD TF TG TZ UG YT ZA ZM ZW",
}

// Regions is the number of regions.
const Regions = len(regions)

// findRegions notes the region of each country, and those that it reaches into.
func (t *Tree) findRegions() {
	of, reaches := make(map[string]int8), make(map[string][]int8)
	for r, codes := range regions {
		for code := range strings.FieldsSeq(codes) {
			if wide := strings.ToUpper(code); wide != code {
				reaches[wide] = append(reaches[wide], int8(r))
			} else {
				of[code] = int8(r)
			}
		}
	}
	t.region, t.reaches = make(map[Node]int8), make(map[Node][]int8)
	for c := Root + 1; int(c) < len(t.level); c = t.end[c] {
		country := t.servers[t.order[t.first[c]]].Country
		if r, ok := of[country]; ok {
			t.region[c], t.reaches[c] = r, reaches[country]
		}
	}
}

// Region returns the region of a node of level [Country], from 0 up to [Regions]. It is
// -1 if the region is unknown or the node is of another level.
func (t *Tree) Region(n Node) int {
	if t.level[n] != Country {
		return -1
	}
	if r, ok := t.region[n]; ok {
		return int(r)
	}
	return -1
}

// Reaches returns the other regions that a wide country reaches into.
func (t *Tree) Reaches(country Node) []int8 { return t.reaches[country] }
