package adaptive

import (
	"iter"
	"math"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
)

// estimator expects of each node of the topology a share of servers under the
// limit. Its columns are over the nodes and the servers of a tree that it shares
// with others.
type estimator struct {
	tree  *topology.Tree
	limit time.Duration

	nodes    []node
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
	// estimated: the nodes have shares.
	estimated  bool
	calibrator *calibrator
}

// node is a column entry of one node.
type node struct {
	// children of the node have evidence, each weighing 1 however many of its
	// servers were measured. An address has its replies in their place; a /24 may
	// have a memory besides.
	children evidence
	// below are all measurements under the node. A memory weighs less than 1.
	below evidence
	// p is the estimated share of servers under the limit, delayed how likely the
	// replies say nothing of it.
	p, delayed float64
	// stray is how likely a measured /16 is not where its label says: what it has
	// says so much less of its AS and country.
	stray float64
	// unasked servers were not asked, silent ones in vain, and replies came from
	// the node itself, an address.
	unasked, silent, replies int32
	// known is the deepest level above, or the node's own, at which something was
	// measured.
	known topology.Level
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
		nodes: make([]node, tree.Nodes()), siblings: make([]evidence, tree.Origins()), servers: make([]server, len(tree.List())),
		blocks: make([]block, tree.Blocks()), labels: newLabels(),
	}
	for n := range e.nodes {
		e.nodes[n].unasked = int32(tree.Size(topology.Node(n)))
	}
	return e
}

// open are the nodes with servers that were not asked, and their columns.
func (e *estimator) open() iter.Seq2[topology.Node, *node] {
	return func(yield func(topology.Node, *node) bool) {
		for i := topology.Root; int(i) < len(e.nodes); {
			n := &e.nodes[i]
			switch {
			case n.unasked == 0:
				i = e.tree.End(i)
			case !yield(i, n):
				return
			default:
				i++
			}
		}
	}
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
		s.expected = e.expectation(at)
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
			e.nodes[n].silent++
		}
		return
	}
	e.answered++
	e.nodes[at].replies++
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
	own := &e.nodes[at].children
	own.weight += weight
	own.sum += weight * likely[e.tree.Level(at)]
	for i := at; i >= 0; i = e.tree.Parent(i) {
		n, up := &e.nodes[i], e.tree.Parent(i)
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
			e.nodes[up].children.join(change)
		}
	}
}

// judge learns from the first reply of a /16 whether to believe its label or its
// neighbours.
func (e *estimator) judge(network topology.Node, near bool) {
	n, as := &e.nodes[network], &e.nodes[e.tree.Parent(network)]
	if n.below.weight == 0 && as.p > 0 {
		n.stray = e.labels.judge(as.p, e.blocks[e.tree.Block(network)].p, near)
	}
}

// relimit counts everything again under another limit.
func (e *estimator) relimit(limit time.Duration) {
	e.limit = limit
	for i := range e.nodes {
		e.nodes[i].children, e.nodes[i].below = evidence{}, evidence{}
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
	for i := range e.nodes {
		e.nodes[i].stray = 0
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

// estimate works out the share p of every node: from its children and the share
// of its parent, in whose place a country has that of its region; for an AS it is
// mixed with that of the AS in all countries, and for a /16 with what its addresses
// say whatever their labels.
func (e *estimator) estimate() {
	e.estimated = true
	root := &e.nodes[topology.Root]
	root.p = (priorRoot*rootShare + root.children.sum) / (priorRoot + root.children.weight)
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
	for i := topology.Root + 1; int(i) < len(e.nodes); i++ {
		n, up := &e.nodes[i], &e.nodes[e.tree.Parent(i)]
		level, prior := e.tree.Level(i), up.p
		switch level {
		case topology.Country:
			if r := e.tree.Region(i); r >= 0 {
				prior = regions[r]
			}
		case topology.AS:
			if as := e.tree.Origin(i); as >= 0 && e.siblings[as].weight > nothing {
				_, misplaced := e.tree.Sibling(i)
				prior += misplaced * (e.siblings[as].sum/e.siblings[as].weight - prior)
			}
		case topology.Prefix16:
			prior += e.labels.wrong * (e.blocks[e.tree.Block(i)].p - prior)
		}
		weight := priorBelow
		switch {
		case e.tree.Unknown(i):
			weight = priorUnknown
		case level == topology.Country:
			weight = priorCountry
		case level == topology.Prefix16 && e.tree.Unknown(e.tree.Parent(i)):
			weight = priorUnlabelled16
		}
		n.delayed = n.below.delayed(up, level, prior)
		n.p = n.delayed + (1-n.delayed)*(weight*prior+n.children.sum)/(weight+n.children.weight)
		if n.known = up.known; n.below.weight > 1-nothing {
			n.known = level
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
func (e evidence) delayed(up *node, level topology.Level, prior float64) float64 {
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
func (e *estimator) alive(n *node) float64 {
	share := (e.answered + answersPrior*answersWeight) / (e.tried + answersWeight)
	return (answersOthers*share + float64(n.replies)) / (answersOthers + float64(n.replies+n.silent))
}
