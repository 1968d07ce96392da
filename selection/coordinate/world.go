package coordinate

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"muster/discovery/plan/topology"
)

const (
	// reachSD is how many standard deviations below a node an address may lie if it is the only one
	// there. The best of n may lie lower, by the distance that makes a single one as rare: the tail
	// of a normal distribution falls like exp(−z²/2).
	reachSD = 3.5
	// vague is the precision of the root before anything was observed.
	vague = 1e-9
	// cleanShare is the share of a country's unknown ASes that are drawn as if they had no bad
	// route.
	cleanShare = 0.3
	// someKnown is how many ASes tell what the others of a country are like.
	someKnown = 6
	// narrow divides the variance of a country for draws next to one of its values.
	narrow = 4
	// silverman is the exponent of Silverman's rule for the bandwidth of a smoothed bootstrap of n
	// values, σ·(4/3n)^(1/5), squared as the variance is.
	silverman = 2.0 / 5
)

// world is a sample of the posterior while it is drawn, and its best addresses that may still be
// asked for. One answer stands for a whole unknown part of the tree, so only the best address of
// each part is kept.
type world struct {
	*posterior
	bold bool
	// best are the addresses under the limit, best first, at most most of them, without parts seen
	// before. Once the list is full the limit is its worst value, because nobody asks for worse
	// ones.
	best  []drawn
	most  int
	limit float64
	// cut is the limit under which the best address of a part must lie, or the part is not drawn.
	// It follows limit. In bold worlds it stays at the first limit, because a block may stand
	// elsewhere than its part.
	cut  float64
	seen map[topology.Node]bool
	// found is the lowest value of all parts, including parts seen before.
	found float64

	// values and spreads belong to the nodes above the current one. known are the values of the
	// country's observed ASes, lowest is the lowest of them, and bandwidth is the variance of a
	// draw around one of them. clean is the country's value without bad routes, if known. floor is
	// the lowest value that its unknown ASes are drawn around. wide is the largest standard
	// deviation of their addresses from it.
	values, spreads   [topology.Levels]float64
	known             []float64
	lowest, bandwidth float64
	clean             *float64
	floor, wide       float64
}

// drawn is an address of a world, its value there, and the largest unknown part of the tree that
// contains it.
type drawn struct {
	at, part topology.Node
	value    float64
}

// drawnCountry is a country, the index of its estimate in posterior.nodes, or -1, and its value
// without bad routes, if known.
type drawnCountry struct {
	at    topology.Node
	known int32
	clean *float64
}

// prepare computes what all worlds share. The best countries come first, because addresses found
// there rule out most of the others at once.
func (p *posterior) prepare() {
	for l := topology.Address; l > topology.List; l-- {
		p.below[l-1] = p.below[l] + p.before[l-1]
	}
	for l := range p.reach {
		for size := range p.reach[l] {
			p.reach[l][size] = math.Sqrt((reachSD*reachSD + 2*math.Ln2*float64(size)) * p.below[l])
		}
	}
	node, stats := int32(1), p.countries
	for c := topology.Root + 1; int(c) < p.tree.Nodes(); c = p.tree.End(c) {
		d := drawnCountry{at: c, known: -1}
		if int(node) < len(p.nodes) && p.nodes[node].node == c {
			d.known, node = node, p.nodes[node].end
		}
		if len(stats) > 0 && stats[0].at == c {
			if stats[0].isClean {
				d.clean = &stats[0].cleanValue
			}
			stats = stats[1:]
		}
		p.order = append(p.order, d)
	}
	first := func(d drawnCountry) float64 {
		if d.known < 0 {
			return math.Inf(1)
		}
		return p.nodes[d.known].mean
	}
	slices.SortStableFunc(p.order, func(a, b drawnCountry) int { return cmp.Compare(first(a), first(b)) })
}

// sample draws a world from the posterior. It returns the best addresses, best first, that may
// still be asked for and have a value under the limit. There is at most one address of each unknown
// part, and none of the parts in seen. It also returns the lowest value of any address, +Inf if no
// value is under the limit. Parts of the tree that are out of reach are left out. A bold sample
// also has ASes and blocks unlike anything yet seen. Most samples are not bold, because bold ones
// take long.
func (p *posterior) sample(limit float64, bold bool, most int, seen map[topology.Node]bool) (best []drawn, lowest float64) {
	w := world{posterior: p, bold: bold, limit: limit, cut: limit, most: most, seen: seen, found: math.Inf(1)}
	var root *estimate
	w.spreads[topology.List] = p.before[topology.List]
	if len(p.nodes) > 0 {
		root = &p.nodes[0]
		w.spreads[topology.List] = root.spread
	}
	if root == nil {
		w.values[topology.List] = p.rng.NormFloat64() / math.Sqrt(vague)
	} else {
		w.values[topology.List] = w.drawAround(0, 1/vague, root)
	}
	for i := range p.order {
		w.country(&p.order[i])
	}
	return w.best, w.found
}

// country draws a country and the addresses within reach in it.
func (w *world) country(c *drawnCountry) {
	w.known, w.bandwidth, w.clean = nil, 0, c.clean
	w.spreads[topology.Country] = w.before[topology.Country]
	node, end := c.at, w.tree.End(c.at)
	from, variance := w.values[topology.List], w.spreads[topology.List]
	// part is the largest unknown part with the current node, and partEnd its end
	part, partEnd := node, end
	var known []estimate
	if c.known < 0 {
		w.values[topology.Country] = w.normal(from, variance)
	} else {
		e := &w.nodes[c.known]
		known = w.nodes[c.known+1 : e.end]
		w.spreads[topology.Country] = e.spread
		w.known, w.lowest, w.bandwidth = w.posterior.known[e.known:e.knownEnd], e.lowest, e.bandwidth
		w.values[topology.Country] = w.drawAround(from, variance, e)
		if !e.isGuess {
			partEnd = node
		}
	}
	value := w.values[topology.Country]
	if c.clean != nil {
		value = min(value, *c.clean)
	}
	if w.outOfReach(c.at, topology.Country, value) {
		return
	}
	w.floor = value
	if len(w.known) > 0 {
		w.floor = min(w.floor, w.lowest)
	}
	w.wide = math.Sqrt(max(w.bandwidth, w.spreads[topology.Country], w.now.usual[topology.AS],
		w.now.usual[topology.Country]) + w.below[topology.AS])
	for node++; node < end; {
		l, after := w.tree.Level(node), w.tree.End(node)
		if len(known) > 0 && known[0].node == node {
			e := &known[0]
			known = known[1:]
			w.values[l] = w.drawAround(w.values[l-1], w.spreads[l-1], e)
			w.spreads[l] = e.spread
			if l == topology.Address {
				w.keep(drawn{node, node, w.values[l]})
			}
		} else {
			if node >= partEnd {
				part, partEnd = node, after
			}
			if after-node == topology.Node(topology.Address-l)+1 { // draws the only address below at once
				w.lone(node, l, part)
				node = after
				continue
			}
			from, variance := w.unknown(node, l, w.nearer())
			w.values[l] = w.normal(from, variance)
			w.spreads[l] = w.before[l]
		}
		if l < topology.Address && w.outOfReach(node, l, w.values[l]) {
			for len(known) > 0 && known[0].node < after {
				known = known[1:]
			}
			node = after
			continue
		}
		node++
	}
}

// outOfReach reports whether no address below a node with this value is likely to be one of the
// best.
func (w *world) outOfReach(node topology.Node, l topology.Level, value float64) bool {
	if w.bold { // a wider search for rare ones would take most of the time
		return value-w.reach[l][0] > w.cut
	}
	return value-w.reach[l][bits.Len(uint(w.tree.Size(node)))] > w.cut
}

// lone draws the only address below an unknown node, with all levels between at once.
func (w *world) lone(node topology.Node, l topology.Level, part topology.Node) {
	z, nearer := w.rng.NormFloat64(), w.nearer()
	if l == topology.AS && !nearer { // it is mostly out of reach, whatever it is like
		low := w.floor
		if sibling := w.sibling(node); sibling != nil {
			low = min(low, sibling.mean)
		}
		if low+min(0, z)*w.wide >= w.limit {
			return
		}
	}
	from, variance := w.unknown(node, l, nearer)
	variance += w.below[l]
	for at := topology.Address; w.bold && at > l; at-- { // the deepest level that stands elsewhere decides
		if w.rng.Float64() < w.now.astray[at] {
			from, variance = w.drawAS(w.tree.Above(node, topology.AS), nearer)
			variance += w.below[at]
			break
		}
	}
	w.keep(drawn{w.tree.End(node) - 1, part, from + math.Sqrt(variance)*z})
}

// unknown returns the mean and variance of the distribution from which an unknown node's RTT is drawn.
func (w *world) unknown(node topology.Node, l topology.Level, nearer bool) (from, variance float64) {
	switch {
	case l == topology.AS:
		return w.drawAS(node, nearer)
	case w.bold && w.rng.Float64() < w.now.astray[l]:
		return w.drawAS(w.tree.Above(node, topology.AS), nearer)
	}
	return w.values[l-1], w.spreads[l-1]
}

// nearer reports whether the next draw may be nearer than everything known of the country.
func (w *world) nearer() bool {
	n := len(w.known)
	return w.bold && n > 0 && w.rng.Float64()*float64(n+1) < 1
}

// keep adds an address if it is among the best.
func (w *world) keep(d drawn) {
	if d.value >= w.limit || !w.estimator.candidates.open(d.at) {
		return
	}
	w.found = min(w.found, d.value)
	if w.seen[d.part] {
		return
	}
	if of := slices.IndexFunc(w.best, func(o drawn) bool { return o.part == d.part }); of >= 0 {
		if w.best[of].value <= d.value {
			return
		}
		w.best = slices.Delete(w.best, of, of+1)
	}
	i, _ := slices.BinarySearchFunc(w.best, d, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.at, b.at))
	})
	w.best = slices.Insert(w.best[:min(len(w.best), w.most)], i, d)
	if len(w.best) >= w.most {
		w.best = w.best[:w.most]
		w.limit = w.best[w.most-1].value
		if !w.bold {
			w.cut = w.limit
		}
	}
}

// normal draws from a normal distribution.
func (w *world) normal(mean, variance float64) float64 {
	return mean + math.Sqrt(variance)*w.rng.NormFloat64()
}

// drawAround draws the value of a known node, given the value of the node above and the variance around
// it.
func (w *world) drawAround(from, variance float64, e *estimate) float64 {
	prior := 1 / variance
	weight := prior + e.precision
	return (from*prior+e.mean*e.precision)/weight + w.rng.NormFloat64()/math.Sqrt(weight)
}

// drawAS returns the mean and variance that an unknown AS of a country is drawn with. Large
// countries have near and far parts, and no part of a country is nearer than the country. So the AS
// is like one of the known ones or, where few are known, like the country.
func (w *world) drawAS(node topology.Node, nearer bool) (from, variance float64) {
	if sibling := w.sibling(node); sibling != nil {
		if _, misplaced := w.tree.Sibling(node); w.rng.Float64() < misplaced {
			return sibling.mean, w.now.usual[topology.AS]
		}
	}
	if w.clean != nil && w.rng.Float64() < cleanShare {
		return *w.clean, w.now.usual[topology.Country] / narrow
	}
	spread := w.spreads[topology.Country]
	if nearer {
		// The value lies below the lowest by a deviation in ms, which grows with the distance.
		below := math.Sqrt(spread) * math.Exp(w.lowest) * w.rng.ExpFloat64()
		return w.estimator.value(w.estimator.score(w.lowest) - below), w.now.usual[topology.Country] / narrow
	}
	if len(w.known) >= someKnown {
		return w.known[w.rng.IntN(len(w.known))], w.bandwidth
	}
	return w.values[topology.Country], spread
}

// sibling returns the estimate of the largest node of the same AS elsewhere, nil if nothing is
// known.
func (w *world) sibling(node topology.Node) *estimate {
	origin := w.tree.Origin(node)
	if origin < 0 || w.siblings[origin] == 0 {
		return nil
	}
	if of := &w.nodes[w.siblings[origin]]; of.node != node {
		return of
	}
	return nil
}
