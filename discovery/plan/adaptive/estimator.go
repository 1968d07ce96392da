package adaptive

import (
	"iter"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// estimator expects of each node of the topology a share of servers under the
// limit. Its columns are over the nodes and the servers of a tree that it shares
// with others.
type estimator struct {
	tree  *topology.Tree
	limit time.Duration

	nodes    []node
	outcomes []outcome                  // of the same nodes
	siblings []evidence                 // what the nodes of one AS say together, by topology.Tree.Origin
	regions  [topology.Regions]evidence // what the countries of a region say together
	blocks   []block
	labels   labels
	servers  []server
	// replies are to be counted again under another limit, and so are memories.
	replies  []reply
	memories []memory

	// Of the tried servers, so many answered.
	tried, answered float64
	// estimated: the nodes have shares, and stretches are as they were then.
	estimated  bool
	stretches  []stretch
	calibrator *calibrator
}

// node is a column entry of one node: what every estimate and every batch looks at, which
// on a long list is to stay in the processor's cache.
type node struct {
	// p is the estimated share of servers under the limit. That of addresses, and of all
	// below a /16 in which nothing was measured, is the stretch's.
	p       float64
	unasked int32
	// known is the deepest level above, or the node's own, at which something was
	// measured.
	known topology.Level
	// touched: something came of asking below, or is remembered. Else the outcome is
	// zero, and so are those below.
	touched bool
}

// outcome is what came of asking servers of a node.
type outcome struct {
	// children of the node have evidence, each weighing 1 however many of its
	// servers were measured. An address has its replies in their place; a /24 may
	// have a memory besides.
	children evidence
	// below are all measurements under the node. A memory weighs less than 1.
	below evidence
	// delayed is how likely the replies say nothing of the node's share.
	delayed float64
	// stray is how likely a measured /16 is not where its label says: what it has
	// says so much less of its AS and country.
	stray float64
	// silent servers were asked in vain, and replies came from the node itself, an
	// address.
	silent, replies int32
}

// stretch are addresses of which the same is expected, side by side: all of a /16 or a
// /24 in which nothing was measured, or a single one. Some may have been asked.
type stretch struct {
	from, end topology.Node // besides the addresses, what they are below
	p         float64
	known     topology.Level // as node.known
	// block is where the correlated block ends that they lie in.
	block topology.Node
	// unlabelled: neither country nor AS is known.
	unlabelled bool
}

// block is a column entry of one block of addresses: /16s, whose children are /24s,
// and /8s.
type block struct {
	children, below evidence
	p               float64
}

// server is a column entry of one server.
type server struct {
	asked bool
	// foreseen servers were asked when something was expected of them. What came of the
	// first ones, of which nothing was, says nothing of expectations.
	foreseen bool
	expected expectation
}

type reply struct {
	server int
	rtt    time.Duration
}

// evidence is a weighted sum of likelihoods.
type evidence struct{ weight, sum float64 }

// nothing is more weight than rounding errors leave of none.
const nothing = 1e-9

// once is the evidence as that of one child at most.
func (e evidence) once() evidence {
	if e.weight < nothing {
		return evidence{}
	}
	weight := min(1, e.weight)
	return evidence{weight, weight * (e.sum / e.weight)}
}

// join adds other evidence.
func (e *evidence) join(o evidence) {
	e.weight += o.weight
	e.sum += o.sum
}

// add adds a likelihood, and returns what that changes in the evidence as that of one
// child at most.
func (e *evidence) add(weight, likely float64) evidence {
	before := e.once()
	e.join(evidence{weight, weight * likely})
	after := e.once()
	return evidence{after.weight - before.weight, after.sum - before.sum}
}

func newEstimator(tree *topology.Tree, limit time.Duration) *estimator {
	e := &estimator{
		tree: tree, limit: limit, calibrator: newCalibrator(),
		nodes: make([]node, tree.Nodes()), outcomes: make([]outcome, tree.Nodes()),
		siblings: make([]evidence, tree.Origins()), servers: make([]server, len(tree.List())),
		blocks: make([]block, tree.Blocks()), labels: newLabels(),
	}
	for n := range e.nodes {
		e.nodes[n].unasked = int32(tree.Size(topology.Node(n)))
	}
	return e
}

// asked is how many servers under a node were.
func (e *estimator) asked(n topology.Node) int32 { return int32(e.tree.Size(n)) - e.nodes[n].unasked }

// above is the node of a level over a server.
func (e *estimator) above(server int, l topology.Level) topology.Node {
	return e.tree.Above(e.tree.Of(server), l)
}

// ask notes that a server is asked, and what is expected of it.
func (e *estimator) ask(server int) {
	at := e.tree.Of(server)
	s := &e.servers[server]
	if s.asked, s.foreseen = true, e.estimated; s.foreseen {
		s.expected = e.stretchOf(at).expectation()
	}
	for n := at; n >= 0; n = e.tree.Parent(n) {
		e.nodes[n].unasked--
	}
}

// observe counts what came of asking a server.
func (e *estimator) observe(server int, state discovery.State, rtt time.Duration) {
	at := e.tree.Of(server)
	e.tried++
	if state != discovery.Answered {
		for n := at; n >= 0; n = e.tree.Parent(n) {
			e.nodes[n].touched = true
			e.outcomes[n].silent++
		}
		return
	}
	e.answered++
	e.outcomes[at].replies++
	e.replies = append(e.replies, reply{server, rtt})
	e.judge(e.tree.Above(at, topology.Prefix16), rtt < e.limit)
	e.weigh(at, rtt, 1)
	if s := &e.servers[server]; s.foreseen {
		e.calibrator.note(s.expected, rtt < e.limit)
	}
}

// weigh adds the likelihoods of an RTT to a node and all above it, or takes some
// of it away.
func (e *estimator) weigh(at topology.Node, rtt time.Duration, weight float64) {
	likely := likelihood(rtt, e.limit)
	own := &e.outcomes[at].children
	own.weight += weight
	own.sum += weight * likely[e.tree.Level(at)]
	for i := at; i >= 0; i = e.tree.Parent(i) {
		n, up := &e.outcomes[i], e.tree.Parent(i)
		e.nodes[i].touched = true
		change := n.below.add(weight, likely[e.tree.Level(i)])
		switch e.tree.Level(i) {
		case topology.Prefix24:
			e.blocks[e.tree.Block(up)].children.join(change)
		case topology.Prefix16:
			b := e.tree.Block(i)
			e.blocks[e.tree.Within(b)].children.join(e.blocks[b].below.add(weight, likely[topology.Prefix16]))
			weight *= 1 - n.stray
			change = evidence{change.weight * (1 - n.stray), change.sum * (1 - n.stray)}
		case topology.AS:
			if as := e.tree.Origin(i); as >= 0 {
				e.siblings[as].join(change)
			}
		case topology.Country:
			if r := e.tree.Region(i); r >= 0 {
				e.regions[r].join(change)
			}
		}
		if up >= 0 {
			e.outcomes[up].children.join(change)
		}
	}
}

// judge learns from the first reply of a /16 whether to believe its label or its
// neighbours.
func (e *estimator) judge(network topology.Node, near bool) {
	n, as := &e.outcomes[network], &e.nodes[e.tree.Parent(network)]
	if n.below.weight == 0 && as.p > 0 {
		n.stray = e.labels.judge(as.p, e.blocks[e.tree.Block(network)].p, near)
	}
}

// relimit counts everything again under another limit.
func (e *estimator) relimit(limit time.Duration) {
	e.limit = limit
	for i := range e.nodes {
		if e.nodes[i].touched {
			e.outcomes[i].children, e.outcomes[i].below = evidence{}, evidence{}
		}
	}
	clear(e.siblings)
	clear(e.regions[:])
	clear(e.blocks)
	for _, r := range e.replies {
		e.weigh(e.tree.Of(r.server), r.rtt, 1)
	}
	for _, m := range e.memories {
		e.weigh(m.network, m.rtt, m.weight)
	}
}

// correct takes so much off the replies since one of them, and learns anew from all.
func (e *estimator) correct(since int, more time.Duration) {
	e.calibrator, e.labels = newCalibrator(), newLabels()
	for i := range e.outcomes {
		e.outcomes[i].stray = 0
	}
	for i := range e.replies {
		r := &e.replies[i]
		if i >= since {
			r.rtt = max(r.rtt-more, 0)
		}
		if s := &e.servers[r.server]; s.foreseen {
			e.calibrator.note(s.expected, r.rtt < e.limit)
			e.calibrator.fade(1)
		}
	}
	e.relimit(e.limit)
}

// The prior of a node's share is its parent's. It weighs as much as so many
// children, the less the more the children of a node differ.
const (
	priorCountry = 0.3
	priorBelow   = 0.2
	// A prefix that stands for a country or an AS holds much that lies apart: what
	// is known of one part says less of the others.
	priorUnknown = 2
	// A /16 whose AS is not known may be many networks'. Tuned.
	priorUnlabelled16 = 0.5
	priorRoot         = 1
	// Of a region, and of a /8 and a /16 whatever they are said to be.
	priorRegion  = 0.3
	priorBlock8  = 1
	priorBlock16 = 0.3
	// rootShare is what the world is taken for before anything is known.
	rootShare = 0.3
)

// estimate works out the share p of every node that has unasked servers, and of every
// country and AS: from its children and the share of its parent, in whose place a country
// has that of its region; for an AS it is mixed with that of the AS in all countries, and
// for a /16 with what its addresses say whatever their labels.
func (e *estimator) estimate() {
	e.estimated = true
	e.stretches = e.stretches[:0]
	root, world := &e.nodes[topology.Root], e.outcomes[topology.Root].children
	root.p = (priorRoot*rootShare + world.sum) / (priorRoot + world.weight)
	var regions [topology.Regions]float64
	for i, r := range e.regions {
		regions[i] = (priorRegion*root.p + r.sum) / (priorRegion + r.weight)
	}
	for i := range e.blocks {
		b, prior, weight := &e.blocks[i], root.p, float64(priorBlock8)
		if up := e.tree.Within(topology.Block(i)); up != topology.NoBlock {
			prior, weight = e.blocks[up].p, priorBlock16
		}
		b.p = (weight*prior + b.children.sum) / (weight + b.children.weight)
	}
	var block topology.Node      // the end of the correlated block at hand
	var nowhere, unlabelled bool // the country is not known, nor is the AS
	for i := topology.Root + 1; int(i) < len(e.nodes); {
		n, at := &e.nodes[i], e.tree.Parent(i)
		up, level := &e.nodes[at], e.tree.Level(i)
		prior, weight := up.p, priorBelow
		switch level {
		case topology.Country:
			weight = priorCountry
			if r := e.tree.Region(i); r >= 0 {
				prior = regions[r]
			}
			if nowhere = e.tree.Unknown(i); nowhere {
				weight = priorUnknown
			}
		case topology.AS:
			if as := e.tree.Origin(i); as >= 0 && e.siblings[as].weight > nothing {
				_, misplaced := e.tree.Sibling(i)
				prior += misplaced * (e.siblings[as].sum/e.siblings[as].weight - prior)
			}
			unknown := e.tree.Unknown(i)
			if unlabelled = nowhere && unknown; unknown {
				weight = priorUnknown
			}
		case topology.Prefix16:
			prior += e.labels.wrong * (e.blocks[e.tree.Block(i)].p - prior)
			if e.tree.Unknown(at) {
				weight = priorUnlabelled16
			}
		}
		n.p, n.known = weight*prior/weight, up.known
		if n.touched {
			o := &e.outcomes[i]
			o.delayed = o.below.delayed(&e.outcomes[at], level, prior)
			n.p = o.delayed + (1-o.delayed)*(weight*prior+o.children.sum)/(weight+o.children.weight)
			if o.below.weight > 1-nothing {
				n.known = level
			}
		}
		if i >= block && (n.known < level || level == topology.Address) {
			block = e.tree.End(i)
		}
		switch {
		case n.unasked == 0 && level >= topology.AS:
			i = e.tree.End(i)
		case level == topology.Address || level >= topology.Prefix16 && !n.touched:
			s := stretch{from: i, end: e.tree.End(i), p: n.p, known: n.known, block: block, unlabelled: unlabelled}
			for range topology.Address - level { // every level below has its parent's share
				s.p = inherit(s.p)
			}
			e.stretches = append(e.stretches, s)
			i = s.end
		default:
			i++
		}
	}
}

// inherit is the share of a node in which nothing was measured: that of its parent, as
// rounding has it.
func inherit(p float64) float64 {
	weight := priorBelow
	return weight * p / weight
}

// stretchOf is the stretch with an address that had unasked servers at the last estimate.
func (e *estimator) stretchOf(at topology.Node) *stretch {
	i, _ := slices.BinarySearchFunc(e.stretches, at, func(s stretch, at topology.Node) int { return int(s.end - 1 - at) })
	return &e.stretches[i]
}

// addresses are those of a stretch with servers that were not asked.
func (e *estimator) addresses(s *stretch) iter.Seq[topology.Node] {
	return func(yield func(topology.Node) bool) {
		for i := s.from; i < s.end; i++ {
			if e.tree.Level(i) == topology.Address && e.nodes[i].unasked > 0 && !yield(i) {
				return
			}
		}
	}
}

const (
	// delayedShare is how likely a far reply is taken to be one from a near server
	// that was held up on its way: the tail of the round trips, and a little more,
	// since who is wrong about a network misses all of it.
	delayedShare = 0.03
	// mostDelayed is how many replies can have been held up all of them.
	mostDelayed = 3
	// nearMost is the mean likelihood from which on replies are not far.
	nearMost = 0.5
)

// delayed is how likely all replies of a node of this level were held up, and its
// servers are near after all. The nearer its surroundings are, which are what
// prior says, the likelier. A reply is as doubtful for the nodes that it came
// through as for the one they are all that is known of.
func (e evidence) delayed(up *outcome, level topology.Level, prior float64) float64 {
	switch {
	case e.weight <= 1-nothing, e.weight > mostDelayed, e.sum >= nearMost*e.weight:
		return 0
	case level > topology.Country && up.below.weight < e.weight+nothing:
		return up.delayed
	}
	odds := prior / (1 - prior) * math.Pow(delayedShare, e.weight)
	return odds / (1 + odds)
}

// A server's chance to answer is that of all tried ones, answersPrior of which
// are taken to answer before any was, as if answersWeight were tried; its
// address's own record weighs more than that from the first probe on.
const (
	answersPrior  = 0.85
	answersWeight = 10
	answersOthers = 0.4
)

// alive is the probability that an address answers.
func (e *estimator) alive(at topology.Node) float64 {
	share := (e.answered + answersPrior*answersWeight) / (e.tried + answersWeight)
	var o outcome
	if e.nodes[at].touched {
		o = e.outcomes[at]
	}
	return (answersOthers*share + float64(o.replies)) / (answersOthers + float64(o.replies+o.silent))
}
