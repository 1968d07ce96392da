package adaptive

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
)

// tree holds the servers by what is publicly known of them, and what was
// measured of each branch. A branch comes before its twigs, so that one pass in
// the order of the slice sees every parent first.
//
//	anywhere ─▶ country ─▶ origin AS in it ─▶ /16 ─▶ /24 ─▶ machine ─▶ servers
//
// The share p of a branch's servers that are under the limit is estimated from
// its twigs, each of which counts once however many of its servers were
// measured, and from the branch it belongs to, which counts a little (a Pólya
// tree whose urns take soft evidence).
type tree struct {
	nodes []node
	links []link
	order []int32 // the servers, machine by machine
	leaf  []int32 // the machine of each server
	limit time.Duration
	seen  []observation // to be counted again under another limit
	// recalled is what earlier visits saw.
	recalled []recalled
}

// node is a branch of the tree.
type node struct {
	parent int32
	level  level
	trust  float64 // how much the parent counts, in twigs
	link   int32   // of a cell: its AS
	tie    float64 // of a cell: how far it follows its AS elsewhere

	// twigs of this branch have evidence, which is total in all; of a machine
	// they are its own replies, of a /24 what is remembered of it is one more.
	twigs, total float64
	// count measurements lie below, with the sum of their evidence. What is
	// remembered counts for less than one.
	count, sum float64
	// p is the estimated share of servers under the limit, doubt how likely what
	// was measured says nothing of it.
	p, doubt float64
	// known is the deepest level at which something was measured.
	known level
	// first is the branch's first server in the tree's order. Of its size
	// servers, unprobed were not asked.
	first, size, unprobed int32
	// lost servers were asked in vain.
	lost int32
	// after is the first node that does not belong to the branch.
	after int32
	// replies came from a machine.
	replies int32
}

// twig is what a branch counts for the one it belongs to, and its evidence.
func (n *node) twig() (share, evidence float64) {
	if n.count < leastCount {
		return 0, 0
	}
	share = min(1, n.count)
	return share, share * (n.sum / n.count)
}

// leastCount is more than what errors of the arithmetic leave of nothing.
const leastCount = 1e-9

// link is what is known of an AS in all countries: the evidence of its cells.
type link struct{ cells, total float64 }

type observation struct {
	server int32
	rtt    time.Duration
}

func newTree(servers []discovery.Server, limit time.Duration) *tree {
	t := &tree{leaf: make([]int32, len(servers)), order: make([]int32, len(servers)), limit: limit}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	slices.SortFunc(t.order, func(a, b int32) int { return compareBranch(servers[a], servers[b]) })
	t.nodes = append(t.nodes, node{parent: -1, size: int32(len(servers)), unprobed: int32(len(servers))})
	var open [levels]int32 // the branch of each level that grows
	for at, i := range t.order {
		deepest := anywhere
		if at > 0 {
			deepest = common(servers[t.order[at-1]], servers[i])
		}
		for l := deepest + 1; l < levels; l++ {
			open[l] = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{parent: open[l-1], level: l, trust: trustOf(servers[i], l), first: int32(at)})
		}
		for l := country; l < levels; l++ {
			t.nodes[open[l]].size++
			t.nodes[open[l]].unprobed++
		}
		t.leaf[i] = open[machine]
	}
	t.fence()
	t.tieCells(servers)
	return t
}

// fence finds where each branch ends.
func (t *tree) fence() {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		n.after = max(n.after, int32(i)+1)
		if n.parent >= 0 {
			up := &t.nodes[n.parent]
			up.after = max(up.after, n.after)
		}
	}
}

// open are the branches with servers that were not asked, in the order of the
// tree.
func (t *tree) open() iter.Seq2[int32, *node] {
	return func(yield func(int32, *node) bool) {
		for i := int32(0); int(i) < len(t.nodes); {
			n := &t.nodes[i]
			switch {
			case n.unprobed == 0:
				i = n.after
			case !yield(i, n):
				return
			default:
				i++
			}
		}
	}
}

// above is the branch of a level that one belongs to.
func (t *tree) above(branch int32, l level) int32 {
	for t.nodes[branch].level > l {
		branch = t.nodes[branch].parent
	}
	return branch
}

// asked is how many servers of the branch were.
func (n *node) asked() int32 { return n.size - n.unprobed }

// compareBranch sorts servers so that those of a branch lie together.
func compareBranch(a, b discovery.Server) int {
	if c := cmp.Compare(a.Country, b.Country); c != 0 {
		return c
	}
	if a.Country == "" {
		if c := clusterOf(a).Addr().Compare(clusterOf(b).Addr()); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(a.ASN, b.ASN); c != 0 {
		return c
	}
	return discovery.CompareAddr(a, b)
}

// clusterOf stands for a country or an AS that is not known.
func clusterOf(s discovery.Server) netip.Prefix { return topology.Country.Prefix(s.Addr.Addr()) }

// common is the deepest level at which two servers share a branch.
func common(a, b discovery.Server) level {
	x, y := a.Addr.Addr(), b.Addr.Addr()
	switch {
	case a.Country != b.Country, a.Country == "" && clusterOf(a) != clusterOf(b):
		return anywhere
	case a.ASN != b.ASN, a.ASN == 0 && clusterOf(a) != clusterOf(b):
		return country
	case topology.Prefix16.Prefix(x) != topology.Prefix16.Prefix(y):
		return cell
	case topology.Prefix24.Prefix(x) != topology.Prefix24.Prefix(y):
		return block
	case x != y:
		return site
	}
	return machine
}

// tieCells lets the cells of an AS learn from each other. One that holds most of
// the AS's servers has nothing to learn; a small one may be no more than a
// country that the database got wrong.
func (t *tree) tieCells(servers []discovery.Server) {
	index, sizes := make(map[uint32]int32), []float64(nil)
	for i := range t.nodes {
		n := &t.nodes[i]
		n.link = -1
		if n.level != cell {
			continue
		}
		asn := servers[t.order[n.first]].ASN
		if asn == 0 {
			continue
		}
		at, ok := index[asn]
		if !ok {
			at = int32(len(sizes))
			index[asn] = at
			sizes = append(sizes, 0)
		}
		n.link = at
		sizes[at] += float64(n.size)
	}
	t.links = make([]link, len(sizes))
	for i := range t.nodes {
		if n := &t.nodes[i]; n.link >= 0 {
			n.tie = tieMost * (1 - float64(n.size)/sizes[n.link])
		}
	}
}

// tieMost is how far the smallest cell follows its AS rather than its country.
const tieMost = 0.5

// take notes that a server was asked.
func (t *tree) take(server int) {
	for i := t.leaf[server]; i >= 0; i = t.nodes[i].parent {
		t.nodes[i].unprobed--
	}
}

// observe counts what came of asking a server.
func (t *tree) observe(server int, state discovery.State, rtt time.Duration) {
	m := &t.nodes[t.leaf[server]]
	if state != discovery.Answered {
		for i := t.leaf[server]; i >= 0; i = t.nodes[i].parent {
			t.nodes[i].lost++
		}
		return
	}
	m.replies++
	t.seen = append(t.seen, observation{int32(server), rtt})
	t.count(t.seen[len(t.seen)-1])
}

// count adds one RTT's evidence to all branches above its server.
func (t *tree) count(o observation) { t.weigh(t.leaf[o.server], o.rtt, 1) }

// weigh adds the evidence of an RTT to a branch and all above it, or takes some
// of it away.
func (t *tree) weigh(branch int32, rtt time.Duration, weight float64) {
	e := evidence(rtt, t.limit)
	own := &t.nodes[branch]
	own.twigs += weight
	own.total += weight * e[own.level]
	for i := branch; i >= 0; i = t.nodes[i].parent {
		n := &t.nodes[i]
		share, before := n.twig()
		n.count += weight
		n.sum += weight * e[n.level]
		grown, after := n.twig()
		t.pass(n, grown-share, after-before)
	}
}

// pass hands the change of what a branch counts, and of its evidence, up to its
// parent and its AS.
func (t *tree) pass(n *node, share, evidence float64) {
	if n.parent >= 0 {
		t.nodes[n.parent].twigs += share
		t.nodes[n.parent].total += evidence
	}
	if n.link >= 0 {
		t.links[n.link].cells += share
		t.links[n.link].total += evidence
	}
}

// relimit counts everything again under another limit.
func (t *tree) relimit(limit time.Duration) {
	t.limit = limit
	for i := range t.nodes {
		n := &t.nodes[i]
		n.twigs, n.total, n.count, n.sum = 0, 0, 0, 0
	}
	clear(t.links)
	for _, o := range t.seen {
		t.count(o)
	}
	for _, r := range t.recalled {
		t.weigh(r.site, r.rtt, r.weight)
	}
}

// How much the parent counts, in twigs.
const (
	trustCountry = 0.3
	trustBelow   = 0.2
	// A /8 that stands for a country or an AS holds much that lies apart.
	trustUnknown = 2
	rootTrust    = 1
	rootShare    = 0.3 // what the world is taken for before anything is known
)

// trustOf is how much the parent of a server's branch of this level counts.
func trustOf(s discovery.Server, l level) float64 {
	switch {
	case l == country && s.Country == "", l == cell && s.ASN == 0:
		return trustUnknown
	case l == country:
		return trustCountry
	}
	return trustBelow
}

// estimate works out p of all branches.
func (t *tree) estimate() {
	root := &t.nodes[0]
	root.p = (rootTrust*rootShare + root.total) / (rootTrust + root.twigs)
	for i := 1; i < len(t.nodes); i++ {
		n := &t.nodes[i]
		prior := t.nodes[n.parent].p
		if n.link >= 0 {
			if as := t.links[n.link]; as.cells > leastCount {
				prior += n.tie * (as.total/as.cells - prior)
			}
		}
		n.doubt = t.doubtOf(n, prior)
		n.p = n.doubt + (1-n.doubt)*(n.trust*prior+n.total)/(n.trust+n.twigs)
		if n.known = t.nodes[n.parent].known; n.count > 1-leastCount {
			n.known = n.level
		}
	}
}
