package coordinate

import (
	"cmp"
	"math"
	"slices"
)

// A value is the logarithm of how far a score lies above a base a little better
// than the best: it tells good servers apart, and takes no notice of how bad bad
// ones are.
func (p *Planner) value(score float64) float64 { return math.Log(max(score-p.base, leastAbove)) }

// score is what has a value.
func (p *Planner) score(value float64) float64 { return p.base + math.Exp(value) }

// What could be better than the best is at most 3 ms and 3 % of it.
const (
	betterBy    = 3.0
	betterShare = 0.03
	leastAbove  = 0.5
)

func baseOf(best float64) float64 { return best - margin(best) }

// margin is by how much a server could be better than the best, in ms.
func margin(best float64) float64 { return betterBy + betterShare*within(best) }

// guess is a machine in an imagined world, and its value there.
type guess struct {
	machine int32
	value   float64
}

// sortGuesses puts the best first.
func sortGuesses(guesses []guess) {
	slices.SortFunc(guesses, func(a, b guess) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.machine, b.machine))
	})
}

// imagine draws a world that fits what was learnt, and returns those machines in
// it that may still be asked for and have a value under the limit, best first.
// Parts of the tree that are out of reach are left out. In a bold world there are
// also networks and blocks that are like nothing yet seen: it is those that tell
// what may still be had. Most worlds are not, as looking for such takes time.
func (p *Planner) imagine(limit float64, bold bool) []guess {
	values := p.values()
	reach := p.belief.reach()
	var found []guess
	for node := int32(0); int(node) < p.tree.nodes(); {
		l := p.tree.level[node]
		values[l] = p.draw(node, values, bold)
		switch {
		case l == machine && values[l] < limit && p.open(node):
			found = append(found, guess{node, values[l]})
		case l < machine && p.nearest(node, values[l])-reach[l] > limit:
			node = p.tree.end[node]
			continue
		}
		node++
	}
	sortGuesses(found)
	return found
}

func (p *Planner) values() []float64 { return make([]float64, levels) }

// reach is how far below a node of each level a machine's value may lie.
func (b *belief) reach() (reach [levels]float64) {
	variance := 0.0
	for l := machine; l > everything; l-- {
		variance += b.usual[l-1]
		reach[l-1] = 3.5 * math.Sqrt(variance)
	}
	return reach
}

// nearest is what children of a node may be drawn from.
func (p *Planner) nearest(node int32, value float64) float64 {
	if clean, known := p.clean[node]; known {
		return min(value, clean)
	}
	return value
}

// cleanShare is how many of a country's unknown networks are imagined to have
// no bad route.
const cleanShare = 0.3

// draw is a node's value, given those of the nodes above it.
func (p *Planner) draw(node int32, values []float64, bold bool) float64 {
	b := p.belief
	l := b.level[node]
	precision, above, spread := b.precision[node], values[max(l, 1)-1], b.usual[everything]
	from := above
	if node > 0 {
		spread = b.spread[b.parent[node]]
	}
	switch {
	case precision > 0:
	case l == network:
		from, spread = p.drawNetwork(node, above, spread, bold)
	case bold && p.rng.Float64() < b.astray[l]:
		n := p.tree.above(node, network)
		from, spread = p.drawNetwork(n, values[country], b.spread[b.parent[n]], bold)
	}
	weight := 1/spread + precision
	if node == 0 {
		from, weight = 0, precision+1e-9
	}
	mean := (from*(weight-precision) + b.mean[node]*precision) / weight
	return mean + p.rng.NormFloat64()/math.Sqrt(weight)
}

// drawNetwork says what an unknown network is drawn from: now and then where the
// rest of its AS is, or its country's without bad routes. Else it is like any
// other of its country, more or less (a smoothed bootstrap, its bandwidth by
// Silverman's rule): large countries have near and far parts, and no part of a
// country is nearer than the country is. Where few are known it is like its
// country. The next is nearer than all n that are known with probability 1/(n+1),
// whatever they are like.
func (p *Planner) drawNetwork(node int32, above, spread float64, bold bool) (from, around float64) {
	b := p.belief
	if kin := p.tree.kin[node]; kin > 0 && b.precision[kin] > 0 && p.rng.Float64() < p.tree.strange[node] {
		return b.mean[kin], b.usual[network]
	}
	if clean, known := p.clean[b.parent[node]]; known && p.rng.Float64() < cleanShare {
		return clean, b.usual[country] / 4
	}
	known := b.known[b.parent[node]]
	n := float64(len(known))
	if bold && n > 0 && p.rng.Float64() < 1/(n+1) {
		return p.beyond(slices.Min(known), math.Sqrt(spread)), b.usual[country] / 4
	}
	if len(known) >= someKnown {
		return known[p.rng.IntN(len(known))], spread * math.Pow(4/(3*n), 0.4)
	}
	return above, spread
}

// beyond draws a value under the lowest of some: by so much as they deviate by in
// ms, since what is far away has farther to come.
func (p *Planner) beyond(lowest, deviation float64) float64 {
	return p.value(p.score(lowest) - deviation*math.Exp(lowest)*p.rng.ExpFloat64())
}

// open tells a machine that there is still something to ask about.
func (p *Planner) open(at int32) bool {
	r := p.rows[at]
	if r == nil {
		return slices.ContainsFunc(p.tree.servers(at), func(s int32) bool { return p.usable(int(s)) })
	}
	if r.server < 0 || r.waiting > 0 || r.wanted && !r.whole() {
		return false
	}
	return !r.whole() || p.unknown(r.server) && !p.askedFor(r.server)
}

func (p *Planner) askedFor(server int) bool {
	return slices.ContainsFunc(p.members, func(m *member) bool { return m.has(server) })
}

// apart keeps the best of each part of the tree of which nothing is known: one
// answer tells of all.
func (p *Planner) apart(guesses []guess, most int, seen map[int32]bool) []guess {
	var kept []guess
	for _, g := range guesses {
		part := g.machine
		for p.belief.precision[p.tree.parent[part]] == 0 && p.tree.parent[part] > 0 {
			part = p.tree.parent[part]
		}
		if len(kept) < most && !seen[part] {
			seen[part] = true
			kept = append(kept, g)
		}
	}
	return kept
}
