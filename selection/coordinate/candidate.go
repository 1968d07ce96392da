package coordinate

import (
	"cmp"
	"slices"

	"muster/discovery/plan/topology"
	"muster/selection"
)

// candidate is an address and what the players measured of it. All servers of an address are
// equally far.
type candidate struct {
	at topology.Node
	// server is the server that players are asked for, -1 if none suits.
	server int
	// rtts are each player's lowest RTTs, in ms, 0 if not measured. missing counts those.
	rtts    []float64
	missing int
	// waiting counts the questions about the candidate that are not yet answered.
	waiting int
	// explored says that one player was asked, to see whether the address is worth more.
	explored bool
	// isWanted says that everybody should measure the candidate.
	isWanted bool

	// suspects are the players whose RTT a full queue may have made longer.
	suspects []int
	// score is the score of the RTTs, with predictions for missing ones. bound is the optimistic
	// bound, with likely RTTs for suspect ones. luck is the score if these and the predictions are
	// as low as one in six is.
	score, bound, luck float64
	// value is the acquisition value, which says what the RTTs behind the bound mean for the
	// neighbours. worst is the highest of those RTTs. off and worstOff are the deviations of the
	// two.
	value, off, worst, worstOff float64
	// nearer is the smallest gap, over the players, between the address and what would matter to an
	// own best, where a round looks for that. nearerOff is its deviation.
	nearer, nearerOff float64
}

// hasResults reports whether somebody measured the address.
func (c *candidate) hasResults() bool { return c.missing < len(c.rtts) }

// whole reports whether everybody did.
func (c *candidate) whole() bool { return c.missing == 0 }

// candidates are the addresses that somebody was asked for or has measured, and the servers that
// may be chosen.
type candidates struct {
	tree      *topology.Tree
	filter    *selection.Filter
	questions questions
	// barred servers are ruled out by known facts, and failed ones left somebody's query
	// unanswered.
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

// at returns the candidate of an address, and adds it if there is none.
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

// allowance returns how much higher, in ms, the score of a candidate may be than another's because
// its server belongs to the group.
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

// below counts the candidates below a node. They must be in the order of the tree.
func (cs *candidates) below(node topology.Node) int {
	place := func(at topology.Node) int {
		i, _ := slices.BinarySearchFunc(cs.all, at, func(c *candidate, at topology.Node) int { return cmp.Compare(c.at, at) })
		return i
	}
	return place(cs.tree.End(node)) - place(node)
}

// inform judges a server again.
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

// check picks another server for an address if its present one no longer suits.
func (cs *candidates) check(c *candidate) {
	if c.server < 0 || !cs.usable(c.server) {
		cs.represent(c)
	}
}

// represent picks the server that stands for an address. It prefers one that certainly suits, then
// the one that most players have measured. If nobody got an answer from an address, but somebody
// tried and failed, the address counts as dead.
func (cs *candidates) represent(c *candidate) {
	c.server = -1
	most := -1
	for _, s := range cs.tree.Servers(c.at) {
		server := int(s)
		if cs.failed.has(server) && !c.hasResults() {
			c.server = -1
			return
		}
		if !cs.usable(server) {
			continue
		}
		votes := cs.questions.askedCount(server)
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

// usable reports whether the group may play on a server, by what is known.
func (cs *candidates) usable(server int) bool {
	return !cs.barred.has(server) && !cs.failed.has(server)
}

// unknown reports whether a server must first report facts about itself.
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
	if c.server < 0 || c.waiting > 0 || c.isWanted && !c.whole() {
		return false
	}
	return !c.whole() || cs.unknown(c.server) && cs.questions.askedCount(c.server) == 0
}

// guessed reports whether only some players measured a candidate, and the others need not because
// none of its servers is known to suit.
func (cs *candidates) guessed(c *candidate) bool {
	return !c.whole() && !slices.ContainsFunc(cs.tree.Servers(c.at), func(s int32) bool {
		return !cs.barred.has(int(s)) && !cs.unknown(int(s))
	})
}
