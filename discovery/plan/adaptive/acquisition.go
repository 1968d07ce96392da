package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// acquisition picks the servers to ask next by what the estimator expects.
type acquisition struct {
	estimator *estimator
	shift     *shift
	rng       *rand.Rand
	// wanted is how many more servers the plan can use.
	wanted float64
	// missing is the share of the near servers that may be missed.
	missing float64
}

// stream keeps the random numbers apart from other plans' numbers with the same seed.
const stream = 0x61646170

func newAcquisition(e *estimator, seed uint64) *acquisition {
	return &acquisition{estimator: e, shift: newShift(), rng: rand.New(rand.NewPCG(seed, stream)), wanted: math.Inf(1)}
}

// These are the parts of a batch. They were tuned: probes spent against near servers found, on
// synthetic worlds with seeds that no benchmark uses.
const (
	// likely is the least share that deserves a probe of its own.
	likely = 0.25
	// drawShare of the probes are Thompson draws: servers that could turn out to be
	// likely.
	drawShare = 0.36
	// exploreShare of the probes go where nothing is likely, to find out more.
	exploreShare = 0.02
	// witnessShare of the probes go to networks that were known early, to see whether
	// the player's own line has changed.
	witnessShare = 0.04
	// hopeless is the largest probability at which a candidate is never drawn.
	hopeless = 0.01
	// drawWeight is added to the number of known children of a /24. Its share varies as
	// if that many more were known.
	drawWeight = 1.7
	// silentWorth is the worth of an address that is surely silent, as a share of one
	// that surely answers: it may answer yet.
	silentWorth = 0.5
	// explorePerNode probes of a node, and one of a /16, are enough before the replies
	// are in. The search looks at exploreSpare times as many nodes for them.
	explorePerNode = 2
	exploreSpare   = 4
	// rounding is more than two equal shares differ by after rounding.
	rounding = 1e-9
)

// batch takes up to n servers by the last estimate: the likely ones, some that might
// be, and explorers where little is known. Without likely ones all are explorers,
// unless the plan goes through the whole list anyway.
func (a *acquisition) batch(n int, whole bool) []discovery.Probe {
	probes := make([]discovery.Probe, 0, n)
	explorers, drawn := a.roll(exploreShare*float64(n)), a.roll(drawShare*float64(n))
	if math.IsInf(a.wanted, 1) { // a search for a few ends before much can change
		probes = a.witnesses(probes, a.roll(witnessShare*float64(n)))
	}
	ripe := a.best(n, likely)
	switch {
	case len(ripe) > 0:
		probes = a.takeBest(probes, ripe, n-explorers-drawn)
		probes = a.takeBest(probes, a.thompson(2*n), n-explorers)
	case whole:
		probes = a.takeBest(probes, a.best(n, 0), n-explorers)
	}
	probes = a.explore(probes, n)
	if len(probes) == 0 {
		probes = a.takeBest(probes, a.best(n, 0), n)
	}
	return probes
}

// witnesses asks servers of known networks. The networks take turns.
func (a *acquisition) witnesses(probes []discovery.Probe, n int) []discovery.Probe {
	e := a.estimator
	for len(probes) < n {
		network, ok := a.shift.next(len(e.replies), func(n topology.Node, share float64) bool {
			return e.nodes[n].unasked > 0 && e.nodes[n].p >= share
		})
		if !ok {
			break
		}
		probes = append(probes, a.take(network, discovery.Ordered))
	}
	return probes
}

// roll rounds up or down at random, so that the mean stays the same.
func (a *acquisition) roll(x float64) int { return int(x + a.rng.Float64()) }

// best returns the addresses whose servers are likeliest to answer within the limit, if
// their share reaches the given one.
func (a *acquisition) best(n int, share float64) []candidate {
	e, best := a.estimator, newTop(n)
	for i := range e.stretches {
		s := &e.stretches[i]
		if s.p < share {
			continue
		}
		for at := range e.addresses(s) {
			best.offer(candidate{at, s.p * (silentWorth + (1-silentWorth)*e.alive(at))})
		}
	}
	return best.sorted()
}

// thompson draws a score for each address from what its share could turn out to be. The
// fewer children of its /24 are known, the more the draws vary.
func (a *acquisition) thompson(n int) []candidate {
	e, best := a.estimator, newTop(n)
	for i := range e.stretches {
		s := &e.stretches[i]
		if s.p <= hopeless {
			continue
		}
		network := e.outcomes[e.tree.Above(s.end-1, topology.Prefix24)]
		sigma := math.Sqrt(s.p * (1 - s.p) / (network.children.weight + drawWeight))
		for at := range e.addresses(s) {
			best.offer(candidate{at, s.p + sigma*a.rng.NormFloat64()})
		}
	}
	return best.sorted()
}

// takeBest takes servers of the best addresses until there are n probes. An address
// that has not replied gives one, so that the next batch knows more.
func (a *acquisition) takeBest(probes []discovery.Probe, from []candidate, n int) []discovery.Probe {
	for _, c := range from {
		at := &a.estimator.nodes[c.node]
		most := a.estimator.tree.Size(c.node)
		if a.estimator.outcomes[c.node].replies == 0 {
			most = 1
		}
		for ; most > 0 && at.unasked > 0 && len(probes) < n; most-- {
			probes = append(probes, a.take(c.node, discovery.Ordered))
		}
	}
	return probes
}

// take asks a random server of a node that has one.
func (a *acquisition) take(node topology.Node, phase discovery.Phase) discovery.Probe {
	servers := a.estimator.tree.Servers(node)
	at := 0
	for skip := a.rng.IntN(int(a.estimator.nodes[node].unasked)); ; at++ {
		if !a.estimator.servers[servers[at]].asked {
			if skip--; skip < 0 {
				return a.ask(int(servers[at]), phase)
			}
		}
	}
}

func (a *acquisition) ask(server int, phase discovery.Phase) discovery.Probe {
	a.estimator.ask(server)
	return discovery.Probe{Server: server, Phase: phase}
}

// explore fills up to n probes with servers of nodes that could hide the most near
// ones: many servers, few of them asked.
func (a *acquisition) explore(probes []discovery.Probe, n int) []discovery.Probe {
	e := a.estimator
	if len(probes) >= n {
		return probes
	}
	best := newTop(exploreSpare * (n - len(probes)))
	worth := func(at topology.Node, p float64) float64 {
		return min(float64(e.nodes[at].unasked), a.wanted) * p / (float64(e.asked(at)) + 1 + priorBelow)
	}
	for i := topology.Root + 1; int(i) < len(e.nodes); {
		at, level, end := &e.nodes[i], e.tree.Level(i), e.tree.End(i)
		if at.unasked == 0 {
			i = end
			continue
		}
		score := worth(i, at.p)
		if at.p < likely {
			best.offer(candidate{i, score})
		}
		switch {
		case level == topology.Prefix16 && !at.touched:
			// Its /24s have its share and no more servers, so they are worth no more.
			p := inherit(at.p)
			if p < likely && (e.asked(i) > 0 || best.wants(score*(1+rounding))) {
				for network := i + 1; network < end; network = e.tree.End(network) {
					if e.nodes[network].unasked > 0 {
						best.offer(candidate{network, worth(network, p)})
					}
				}
			}
			i = end
		case level == topology.Prefix24:
			i = end
		default:
			i++
		}
	}
	used := make(map[topology.Node]bool)
	for _, c := range best.sorted() {
		for range explorePerNode {
			server, ok := a.fromUnknown(c.node)
			if !ok || len(probes) >= n {
				break
			}
			if at := e.above(server, topology.Prefix16); !used[at] {
				used[at] = true
				probes = append(probes, a.ask(server, discovery.Calibration))
			}
		}
	}
	return probes
}

// fromUnknown returns a random server from the children of a node without any asked
// server.
func (a *acquisition) fromUnknown(node topology.Node) (server int, ok bool) {
	e := a.estimator
	total := 0
	for i := node + 1; i < e.tree.End(node); i = e.tree.End(i) {
		if e.asked(i) == 0 {
			total += e.tree.Size(i)
		}
	}
	if total == 0 {
		return 0, false
	}
	skip, child := int(a.rng.Int32N(int32(total))), node+1
	for ; e.asked(child) > 0 || skip >= e.tree.Size(child); child = e.tree.End(child) {
		if e.asked(child) == 0 {
			skip -= e.tree.Size(child)
		}
	}
	return int(e.tree.Servers(child)[skip]), true
}

// candidate is a node and the worth of a probe there.
type candidate struct {
	node  topology.Node
	score float64
}

// better reports whether a candidate comes before another.
func (c candidate) better(o candidate) bool {
	return c.score > o.score || c.score == o.score && c.node < o.node
}

// top keeps the best of many candidates in a heap. The candidate at i is worse than
// those at 2i+1 and 2i+2, and the first is the worst of all.
type top struct {
	keep int
	all  []candidate
}

func newTop(keep int) *top {
	return &top{keep: max(1, keep), all: make([]candidate, 0, max(1, keep))}
}

// wants reports whether a score may be among the best so far.
func (t *top) wants(score float64) bool { return len(t.all) < t.keep || score >= t.all[0].score }

func (t *top) offer(c candidate) {
	if t.wants(c.score) {
		t.insert(c)
	}
}

// insert puts a candidate into a free place, or replaces the worst if it is better.
func (t *top) insert(c candidate) {
	at := 0
	switch {
	case len(t.all) < t.keep:
		at = len(t.all)
		for t.all = append(t.all, c); at > 0 && t.all[(at-1)/2].better(c); at = (at - 1) / 2 {
			t.all[at] = t.all[(at-1)/2]
		}
	case c.better(t.all[0]):
		for {
			worse := 2*at + 1
			if other := worse + 1; other < len(t.all) && t.all[worse].better(t.all[other]) {
				worse = other
			}
			if worse >= len(t.all) || !c.better(t.all[worse]) {
				break
			}
			t.all[at], at = t.all[worse], worse
		}
	default:
		return
	}
	t.all[at] = c
}

// sorted returns the kept candidates, the best first.
func (t *top) sorted() []candidate {
	slices.SortFunc(t.all, func(a, b candidate) int {
		if a.better(b) {
			return -1
		}
		return 1
	})
	return t.all
}
