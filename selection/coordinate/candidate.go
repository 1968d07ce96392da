package coordinate

import (
	"cmp"
	"slices"

	"muster/discovery/plan/topology"
	"muster/selection"
)

// candidate is an address and what the players measured of it: all servers of one
// are equally far.
type candidate struct {
	at topology.Node
	// server is the one that is asked for, -1 if none suits.
	server int
	// rtts are the lowest that each player measured, in ms; 0 is none. missing is
	// how many of these there are.
	rtts    []float64
	missing int
	// waiting counts questions under way.
	waiting int
	// explored: one player was asked, to see whether the address is worth it.
	explored bool
	// wanted: everybody is to measure it.
	wanted bool

	// suspects are the players whose RTT may be that of a full queue.
	suspects []int
	// score is that of the RTTs, predicted where there are none, and bound the
	// optimistic bound: that of what is likely in place of suspect ones. luck is that if
	// these, and predictions, are as low as one in six is.
	score, bound, luck float64
	// value is the acquisition value: what the RTTs behind the bound say of the
	// neighbours. worst is the highest of those RTTs. off and worstOff are how far off
	// the two may be.
	value, off, worst, worstOff float64
	// nearer is by how much it is no nearer to anybody than what would matter to an own
	// best, where a round looks for that, and nearerOff how far off that may be.
	nearer, nearerOff float64
}

// heard reports whether somebody measured the address.
func (c *candidate) heard() bool { return c.missing < len(c.rtts) }

// whole reports whether everybody did.
func (c *candidate) whole() bool { return c.missing == 0 }

// candidates are the addresses that somebody was asked for or has measured, and
// which servers may be chosen.
type candidates struct {
	tree      *topology.Tree
	filter    *selection.Filter
	questions questions
	// barred servers are ruled out by what is known of them, failed ones did not
	// answer somebody.
	barred, failed bitset
	of             map[topology.Node]*candidate
	all            []*candidate
}

func newCandidates(tree *topology.Tree, filter *selection.Filter, q questions) *candidates {
	n := len(tree.List())
	c := &candidates{tree: tree, filter: filter, questions: q, barred: newBitset(n), failed: newBitset(n), of: map[topology.Node]*candidate{}}
	for server := range n {
		if barred, _ := filter.Bars(server); barred {
			c.barred.add(server)
		}
	}
	return c
}

// at is the candidate of an address, made if need be.
func (cs *candidates) at(node topology.Node) *candidate {
	c := cs.of[node]
	if c == nil {
		players := len(cs.questions)
		c = &candidate{at: node, rtts: make([]float64, players), missing: players}
		cs.of[node], cs.all = c, append(cs.all, c)
		cs.represent(c)
	}
	return c
}

// allowance is by how much the score of a candidate may be higher than another's, in ms,
// as its server is one of the group's own.
func (cs *candidates) allowance(c *candidate) float64 {
	if c.server < 0 {
		return 0
	}
	return milliseconds(cs.filter.Allowance(c.server))
}

// sort puts the candidates in the order of the tree.
func (cs *candidates) sort() {
	slices.SortFunc(cs.all, func(a, b *candidate) int { return cmp.Compare(a.at, b.at) })
}

// below is how many of the candidates, which are in the order of the tree, are below a
// node.
func (cs *candidates) below(node topology.Node) int {
	place := func(at topology.Node) int {
		i, _ := slices.BinarySearchFunc(cs.all, at, func(c *candidate, at topology.Node) int { return cmp.Compare(c.at, at) })
		return i
	}
	return place(cs.tree.End(node)) - place(node)
}

// inform judges a server anew.
func (cs *candidates) inform(server int) {
	cs.filter.Update(server)
	if barred, _ := cs.filter.Bars(server); barred {
		cs.barred.add(server)
	} else {
		cs.barred.remove(server)
	}
	if c := cs.of[cs.tree.Of(server)]; c != nil {
		cs.check(c)
	}
}

// check picks another server for an address if its own does not suit any more.
func (cs *candidates) check(c *candidate) {
	if c.server < 0 || !cs.usable(c.server) {
		cs.represent(c)
	}
}

// represent picks the server that stands for an address: rather one that suits for
// certain, then the one that most players have measured. An address of which
// nobody heard but somebody heard nothing is taken to be dead.
func (cs *candidates) represent(c *candidate) {
	c.server = -1
	most := -1
	for _, s := range cs.tree.Servers(c.at) {
		server := int(s)
		if cs.failed.has(server) && !c.heard() {
			c.server = -1
			return
		}
		if !cs.usable(server) {
			continue
		}
		votes := cs.questions.by(server)
		if !cs.unknown(server) {
			votes += len(c.rtts)
		}
		if cs.filter.Allowance(server) > 0 {
			votes += 2 * len(c.rtts) // before all others
		}
		if votes > most {
			most, c.server = votes, server
		}
	}
}

// usable reports whether a server may be the group's, as far as is known.
func (cs *candidates) usable(server int) bool {
	return !cs.barred.has(server) && !cs.failed.has(server)
}

// unknown reports whether a server has to say something of itself first.
func (cs *candidates) unknown(server int) bool {
	_, unknown := cs.filter.Bars(server)
	return unknown
}

// suits reports whether everybody measured a candidate and could play on it.
func (cs *candidates) suits(c *candidate) bool {
	return c.whole() && c.server >= 0 && cs.usable(c.server) && !cs.unknown(c.server)
}

// open reports whether there is still something to ask about an address.
func (cs *candidates) open(at topology.Node) bool {
	c := cs.of[at]
	if c == nil {
		return slices.ContainsFunc(cs.tree.Servers(at), func(s int32) bool { return cs.usable(int(s)) })
	}
	if c.server < 0 || c.waiting > 0 || c.wanted && !c.whole() {
		return false
	}
	return !c.whole() || cs.unknown(c.server) && cs.questions.by(c.server) == 0
}

// guessed reports whether only some measured a candidate, and the others need not,
// as none of its servers is known to suit.
func (cs *candidates) guessed(c *candidate) bool {
	return !c.whole() && !slices.ContainsFunc(cs.tree.Servers(c.at), func(s int32) bool {
		return !cs.barred.has(int(s)) && !cs.unknown(int(s))
	})
}
