package adaptive

import (
	"iter"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// estimator predicts for each node of the topology which share of its servers is under the limit.
// Its columns are indexed by the nodes and the servers of a tree that it shares with others.
type estimator struct {
	tree  *topology.Tree
	limit time.Duration
	// need is how many near servers more the plan can use.
	need float64

	nodes    []node
	outcomes []outcome                  // of the same nodes
	siblings []evidence                 // the evidence of all nodes of one AS, by topology.Tree.Origin
	regions  [topology.Regions]evidence // the evidence of all countries of a region
	blocks   []block
	labels   labels
	servers  []server
	// replies and memories are kept to be counted again under another limit.
	replies  []reply
	memories []memory

	// answered of the tried servers answered.
	tried, answered float64
	// estimated reports that the nodes have shares, and that stretches match them.
	estimated  bool
	stretches  []stretch
	calibrator *calibrator
}

// node is a column entry of one node. Every estimate and every batch looks at all of
// them, and on a long list they must stay in the processor's cache.
type node struct {
	// p is the estimated share of servers under the limit. The stretch has it for
	// addresses, and for all nodes below a /16 without measurements.
	p       float64
	unasked int32
	// known is the deepest level with a measurement, above the node or its own.
	known topology.Level
	// touched reports that a server below was asked, or is remembered. Otherwise the
	// outcome is zero, here and below.
	touched bool
}

// outcome is the result of asking servers of a node.
type outcome struct {
	// children of the node have evidence, each weighing 1 at most, however many of its
	// servers were measured. For an address these are its replies. A /24 may have a
	// memory besides.
	children evidence
	// below are all measurements under the node. A memory weighs less than 1.
	below evidence
	// delayed is the chance that the replies say nothing about the node's share.
	delayed float64
	// stray is the chance that a measured /16 has a wrong label. Its replies then count
	// that much less for its AS and country.
	stray float64
	// silent counts the servers that did not reply, and replies those of the node
	// itself, which is an address.
	silent, replies int32
}

// stretch is a run of addresses with the same expectation: all of a /16 or a /24
// without measurements, or a single one. Some may have been asked.
type stretch struct {
	from, end topology.Node // besides the addresses, the nodes above them
	p         float64
	known     topology.Level // as node.known
	// block is the end of their correlated block.
	block topology.Node
	// unlabelled means that neither country nor AS is known.
	unlabelled bool
}

// block is a column entry of one block of addresses: /16s, whose children are /24s, and
// /8s.
type block struct {
	children, below evidence
	p               float64
}

// server is a column entry of one server.
type server struct {
	asked bool
	// foreseen reports that something was expected of the server when it was asked. The
	// first servers say nothing about expectations.
	foreseen bool
	expected expectation
}

type reply struct {
	server int
	rtt    time.Duration
}

// evidence is a weighted sum of likelihoods.
type evidence struct{ weight, sum float64 }

// minEvidence is more than the weight that rounding errors can leave.
const minEvidence = 1e-9

// capped returns the evidence, with at most the weight of one child.
func (e evidence) capped() evidence {
	if e.weight < minEvidence {
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

// add adds a likelihood. It returns the change in the evidence, counted as that of one
// child at most.
func (e *evidence) add(weight, likely float64) evidence {
	before := e.capped()
	e.join(evidence{weight, weight * likely})
	after := e.capped()
	return evidence{after.weight - before.weight, after.sum - before.sum}
}

func newEstimator(tree *topology.Tree, limit time.Duration) *estimator {
	e := &estimator{
		tree: tree, limit: limit, need: math.Inf(1), calibrator: newCalibrator(),
		nodes: make([]node, tree.Nodes()), outcomes: make([]outcome, tree.Nodes()),
		siblings: make([]evidence, tree.Origins()), servers: make([]server, len(tree.List())),
		blocks: make([]block, tree.Blocks()), labels: newLabels(),
	}
	for n := range e.nodes {
		e.nodes[n].unasked = int32(tree.Size(topology.Node(n)))
	}
	return e
}

// asked returns how many servers under a node were asked.
func (e *estimator) asked(n topology.Node) int32 { return int32(e.tree.Size(n)) - e.nodes[n].unasked }

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

// observe counts the outcome of asking a server.
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

// weigh adds the likelihoods of an RTT to a node and all above it, or subtracts some of
// it.
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

// correct takes a change of the line off the replies, and learns again from all of them.
func (e *estimator) correct(c change) {
	e.calibrator, e.labels = newCalibrator(), newLabels()
	for i := range e.outcomes {
		e.outcomes[i].stray = 0
	}
	for i := range e.replies {
		r, more := &e.replies[i], c.before
		if i >= c.since {
			more = c.after
		}
		r.rtt = max(r.rtt-more, 0)
		if s := &e.servers[r.server]; s.foreseen {
			e.calibrator.note(s.expected, r.rtt < e.limit)
			e.calibrator.fade(1)
		}
	}
	e.relimit(e.limit)
}

// The prior of a node's share is its parent's. It weighs as much as this many children,
// and less if the children of a node differ more.
const (
	priorCountry = 0.3
	priorBelow   = 0.25
	// The networks of a wide country stand far from each other. So many far ones say
	// little about others while a part of the country may be near. Tuned.
	priorWide = 2
	// A prefix that stands for a country or an AS contains distant networks: one part
	// says less about the others.
	priorUnknown = 2
	// A /16 with an unknown AS may belong to many networks. Tuned.
	priorUnlabelled16 = 0.5
	priorRoot         = 1
	// For a region, and for a /8 and a /16 across labels.
	priorRegion  = 0.3
	priorBlock8  = 1
	priorBlock16 = 0.3
	// rootShare is the share of the world before anything is known.
	rootShare = 0.3
)

// estimate works out the share p of every node with unasked servers, and of every
// country and AS, from its children and its parent's share. A country takes its
// region's share instead of the parent's, and a wide one the mean share of the regions
// that it reaches into. For an AS the parent's share is mixed with
// that of the AS in all countries, and for a /16 with that of its addresses across
// labels.
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
	var block topology.Node      // the end of the current correlated block
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
				if reaches := e.tree.Reaches(i); len(reaches) > 0 {
					for _, other := range reaches {
						prior += regions[other]
					}
					prior, weight = prior/float64(1+len(reaches)), priorWide
				}
			}
			if nowhere = e.tree.Unknown(i); nowhere {
				weight = priorUnknown
			}
		case topology.AS:
			if as := e.tree.Origin(i); as >= 0 && e.siblings[as].weight > minEvidence {
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
			if o.below.weight > 1-minEvidence {
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

// inherit returns the share of a node without measurements: that of its parent, as
// rounding changes it.
func inherit(p float64) float64 {
	weight := priorBelow
	return weight * p / weight
}

// stretchOf returns the stretch of an address that had unasked servers at the last
// estimate.
func (e *estimator) stretchOf(at topology.Node) *stretch {
	i, _ := slices.BinarySearchFunc(e.stretches, at, func(s stretch, at topology.Node) int { return int(s.end - 1 - at) })
	return &e.stretches[i]
}

// addresses yields the addresses of a stretch with unasked servers.
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
	// delayedShare is the chance that a far reply came from a near server and was
	// delayed on its way. It is the tail of the round trips and a little more, because
	// an error about a network misses all of it.
	delayedShare = 0.03
	// maxDelayed is the largest number of replies that can all have been delayed.
	maxDelayed = 3
	// nearMost is the least mean likelihood of replies that are not far.
	maxNear = 0.5
)

// delayed returns the chance that all replies of a node of this level were delayed, and
// that its servers are near. The chance is higher in near surroundings, which prior
// describes. A reply is equally doubtful for the node and for the nodes above that know
// nothing else.
func (e evidence) delayed(up *outcome, level topology.Level, prior float64) float64 {
	switch {
	case e.weight <= 1-minEvidence, e.weight > maxDelayed, e.sum >= maxNear*e.weight:
		return 0
	case level > topology.Country && up.below.weight < e.weight+minEvidence:
		return up.delayed
	}
	odds := prior / (1 - prior) * math.Pow(delayedShare, e.weight)
	return odds / (1 + odds)
}

// A server's chance to answer is that of all tried servers. It starts as if
// answersWeight servers had been tried and answersPrior of them had answered. An
// address's own record weighs more than that from the first probe on.
const (
	answersPrior  = 0.85
	answersWeight = 10
	answersOthers = 0.4
)

// alive returns the probability that an address answers.
func (e *estimator) alive(at topology.Node) float64 {
	share := (e.answered + answersPrior*answersWeight) / (e.tried + answersWeight)
	var o outcome
	if e.nodes[at].touched {
		o = e.outcomes[at]
	}
	return (answersOthers*share + float64(o.replies)) / (answersOthers + float64(o.replies+o.silent))
}
