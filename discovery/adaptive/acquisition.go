package adaptive

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"muster/discovery"
	"muster/discovery/topology"
)

// acquisition picks the servers to ask next by what the estimator expects.
type acquisition struct {
	estimator *estimator
	shift     *shift
	rng       *rand.Rand
	// wanted is how many servers there is any use for.
	wanted float64
}

// stream keeps the random numbers apart from those of other plans of the seed.
const stream = 0x61646170

func newAcquisition(e *estimator, seed uint64) *acquisition {
	return &acquisition{estimator: e, shift: newShift(), rng: rand.New(rand.NewPCG(seed, stream)), wanted: math.Inf(1)}
}

// How a batch is made up. Tuned: probes spent against near servers found, on
// synthetic worlds with seeds that no benchmark uses.
const (
	// likely is the share from which on a server is worth a probe for itself.
	likely = 0.25
	// drawShare of the probes are Thompson draws: at what could turn out likely.
	drawShare = 0.29
	// exploreShare of the probes go where nothing is likely, to find out.
	exploreShare = 0.03
	// witnessShare of the probes go to networks that were known early, to see whether
	// the player's own line has changed.
	witnessShare = 0.04
	// hopeless is the share up to which nothing is drawn.
	hopeless = 0.01
	// drawWeight is added to the children known of a /24: their share deviates as
	// if it had so many more.
	drawWeight = 1.7
	// silentWorth is what an address is worth that surely is silent, of one that
	// surely answers: it may answer yet.
	silentWorth = 0.5
	// explorePerNode probes of a node, and one of a /16, are enough before the
	// replies are in; exploreSpare times as many nodes are looked at for them.
	explorePerNode = 2
	exploreSpare   = 4
)

// batch takes up to n servers by the last estimate: the likely ones, some that
// might be, and explorers where much is not known. Without likely ones all are
// explorers, unless the plan goes through the whole list anyway.
func (a *acquisition) batch(n int, whole bool) []discovery.Probe {
	probes := make([]discovery.Probe, 0, n)
	explorers, drawn := a.roll(exploreShare*float64(n)), a.roll(drawShare*float64(n))
	if math.IsInf(a.wanted, 1) { // a search for a few is over before much can change
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

// witnesses asks servers of networks that are known, each network in turn.
func (a *acquisition) witnesses(probes []discovery.Probe, n int) []discovery.Probe {
	e := a.estimator
	for len(probes) < n {
		network, ok := a.shift.next(len(e.replies), func(n topology.Node) bool { return e.nodes[n].unasked > 0 })
		if !ok {
			break
		}
		probes = append(probes, a.take(network, discovery.Ordered))
	}
	return probes
}

// roll rounds up or down at random, so that the mean is kept.
func (a *acquisition) roll(x float64) int { return int(x + a.rng.Float64()) }

// best are the addresses whose servers are likeliest to answer from under the
// limit, if they have this share at least.
func (a *acquisition) best(n int, share float64) []candidate {
	best := newTop(n)
	for i, at := range a.estimator.open() {
		if at.p >= share && a.estimator.tree.Level(i) == topology.Address {
			best.offer(candidate{i, at.p * (silentWorth + (1-silentWorth)*a.estimator.alive(at))})
		}
	}
	return best.sorted()
}

// thompson draws a score for each address from what its share could turn out to
// be: the fewer children of its /24 are known, the wilder.
func (a *acquisition) thompson(n int) []candidate {
	e := a.estimator
	best := newTop(n)
	for i, at := range e.open() {
		if at.p > hopeless && e.tree.Level(i) == topology.Address {
			sigma := math.Sqrt(at.p * (1 - at.p) / (e.nodes[e.tree.Parent(i)].children.weight + drawWeight))
			best.offer(candidate{i, at.p + sigma*a.rng.NormFloat64()})
		}
	}
	return best.sorted()
}

// takeBest takes servers of the best addresses until there are n probes. An
// address that has not replied gives one, so that the next batch knows better.
func (a *acquisition) takeBest(probes []discovery.Probe, from []candidate, n int) []discovery.Probe {
	for _, c := range from {
		at := &a.estimator.nodes[c.node]
		most := a.estimator.tree.Size(c.node)
		if at.replies == 0 {
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

// explore fills up to n probes with servers of nodes where the most near ones
// could hide: many servers, few of them asked.
func (a *acquisition) explore(probes []discovery.Probe, n int) []discovery.Probe {
	e := a.estimator
	if len(probes) >= n {
		return probes
	}
	best := newTop(exploreSpare * (n - len(probes)))
	for i, at := range e.open() {
		if l := e.tree.Level(i); at.p < likely && l != topology.List && l != topology.Address {
			best.offer(candidate{i, min(float64(at.unasked), a.wanted) * at.p / (float64(e.asked(i)) + 1 + priorBelow)})
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

// fromUnknown is a random server of those children of a node of which none was
// asked.
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

// candidate is a node and what it is worth to ask there.
type candidate struct {
	node  topology.Node
	score float64
}

// better sorts the best candidate first.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.node, b.node))
}

// top keeps the best of many candidates. It gathers twice as many as it keeps
// before it throws half of them away.
type top struct {
	keep int
	all  []candidate
	bar  candidate // the worst of those kept at the last count
	full bool
}

func newTop(keep int) *top {
	return &top{keep: max(1, keep), all: make([]candidate, 0, 2*max(1, keep))}
}

func (t *top) offer(c candidate) {
	if t.full && better(c, t.bar) > 0 {
		return
	}
	t.all = append(t.all, c)
	if len(t.all) == cap(t.all) {
		t.bar, t.full = t.sorted()[t.keep-1], true
	}
}

// sorted are those kept, the best first.
func (t *top) sorted() []candidate {
	slices.SortFunc(t.all, better)
	t.all = t.all[:min(len(t.all), t.keep)]
	return t.all
}
