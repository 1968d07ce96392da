package adaptive

import (
	"math"
	"math/rand/v2"

	"muster/discovery"
)

// search picks the servers to ask from the tree.
type search struct {
	*tree
	rng   *rand.Rand
	taken []bool // servers that were asked
	// expected is what was expected of each taken server.
	expected []expectation
	// memory is what earlier visits left; nil is nothing.
	memory *recollection
	// wanted is how many servers there is any use for.
	wanted float64
	// answered of tried servers did.
	answered, tried float64
}

func newSearch(t *tree, seed uint64) *search {
	return &search{
		tree: t, wanted: math.Inf(1), rng: rand.New(rand.NewPCG(seed, 0x61646170)),
		taken: make([]bool, len(t.leaf)), expected: make([]expectation, len(t.leaf)),
	}
}

// How a batch is made up.
const (
	likely   = 0.25 // at this p a server is worth a probe for itself
	gambles  = 0.29 // share of the probes at what could be likely
	scouting = 0.03 // share of the probes at what is not, to find out
)

// batch takes up to n servers by the tree's last estimate: the likely ones, some
// that might be, and scouts where much is not known. Without likely ones all are
// scouts, unless the plan goes through the whole list anyway.
func (s *search) batch(n int, whole bool) []discovery.Probe {
	probes := make([]discovery.Probe, 0, n)
	scouts, gamblers := s.roll(scouting*float64(n)), s.roll(gambles*float64(n))
	ripe := s.best(n, likely)
	switch {
	case len(ripe) > 0:
		probes = s.takeBest(probes, ripe, n-scouts-gamblers)
		probes = s.takeBest(probes, s.gamble(2*n), n-scouts)
	case whole:
		probes = s.takeBest(probes, s.best(n, 0), n-scouts)
	}
	probes = s.scout(probes, n)
	if len(probes) == 0 {
		probes = s.takeBest(probes, s.best(n, 0), n)
	}
	return probes
}

// roll rounds up or down at random, so that the mean is kept.
func (s *search) roll(x float64) int { return int(x + s.rng.Float64()) }

// best are the machines whose servers are likeliest to answer from under the
// limit, if they have this p at least.
func (s *search) best(n int, p float64) []candidate {
	best := newTop(n)
	for i, m := range s.open() {
		if m.level == machine && m.p >= p {
			best.offer(candidate{i, m.p * (0.5 + 0.5*s.alive(m))})
		}
	}
	return best.sorted()
}

// gamble draws a score for each machine from what its p could turn out to be:
// the fewer twigs of its parent are known, the wilder (Thompson sampling).
func (s *search) gamble(n int) []candidate {
	const hopeless = 0.01
	best := newTop(n)
	for i, m := range s.open() {
		if m.level == machine && m.p > hopeless {
			sigma := math.Sqrt(m.p * (1 - m.p) / (s.nodes[m.parent].twigs + 1.7))
			best.offer(candidate{i, m.p + sigma*s.rng.NormFloat64()})
		}
	}
	return best.sorted()
}

// alive is the probability that a machine answers.
func (s *search) alive(m *node) float64 {
	share := (s.answered + 8.5) / (s.tried + 10)
	return (0.4*share + float64(m.replies)) / (0.4 + float64(m.replies+m.lost))
}

// takeBest takes servers of the best machines until there are n probes. A
// machine that has not replied gives one, so that the next batch knows better.
func (s *search) takeBest(probes []discovery.Probe, from []candidate, n int) []discovery.Probe {
	for _, c := range from {
		m := &s.nodes[c.node]
		most := m.size
		if m.replies == 0 {
			most = 1
		}
		for ; most > 0 && m.unprobed > 0 && len(probes) < n; most-- {
			probes = append(probes, s.ask(s.draw(c.node), discovery.Ordered))
		}
	}
	return probes
}

// draw is a random unprobed server of a branch that has one.
func (s *search) draw(branch int32) (server int32) {
	n := &s.nodes[branch]
	skip := s.rng.IntN(int(n.unprobed))
	for _, server = range s.order[n.first : n.first+n.size] {
		if !s.taken[server] {
			if skip--; skip < 0 {
				break
			}
		}
	}
	return server
}

// ask takes a server.
func (s *search) ask(server int32, phase discovery.Phase) discovery.Probe {
	s.taken[server] = true
	s.take(int(server))
	s.expected[server] = s.nodes[s.leaf[server]].expectation()
	return discovery.Probe{Server: int(server), Phase: phase}
}

// scout fills up to n probes with servers of branches where the most near ones
// could hide: many servers, few of them asked. Two of a branch and one of a /16
// are enough before the replies are in.
func (s *search) scout(probes []discovery.Probe, n int) []discovery.Probe {
	const each, spare = 2, 4
	best := newTop(spare * n)
	for i, b := range s.open() {
		if b.level != anywhere && b.level != machine && b.p < likely {
			best.offer(candidate{i, min(float64(b.unprobed), s.wanted) * b.p / (float64(b.asked()) + 1 + trustBelow)})
		}
	}
	used := make(map[int32]bool)
	for _, c := range best.sorted() {
		for range each {
			server, ok := s.drawUnknown(c.node)
			if !ok || len(probes) >= n {
				break
			}
			if b := s.branchOf(server, block); !used[b] {
				used[b] = true
				probes = append(probes, s.ask(server, discovery.Calibration))
			}
		}
	}
	return probes
}

// branchOf is the branch of a level that a server belongs to.
func (s *search) branchOf(server int32, l level) int32 { return s.above(s.leaf[server], l) }

// drawUnknown is a random server of those twigs of a branch of which none was
// asked.
func (s *search) drawUnknown(branch int32) (server int32, ok bool) {
	b := &s.nodes[branch]
	total := int32(0)
	for i := branch + 1; i < b.after; i = s.nodes[i].after {
		if s.nodes[i].asked() == 0 {
			total += s.nodes[i].size
		}
	}
	if total == 0 {
		return 0, false
	}
	skip := s.rng.Int32N(total)
	for i := branch + 1; i < b.after; i = s.nodes[i].after {
		if n := &s.nodes[i]; n.asked() == 0 {
			if skip < n.size {
				return s.order[n.first+skip], true
			}
			skip -= n.size
		}
	}
	return 0, false
}
