package coordinate

import (
	"math"
	"math/rand/v2"
	"slices"

	"muster/discovery/topology"
)

// posterior is what the candidates' values say of all other addresses.
type posterior struct {
	tree      *topology.Tree
	rng       *rand.Rand
	estimator *estimator
	// nodes have observations below them, in the order of the tree. All others
	// deviate by what was usual before this round.
	nodes  []estimate
	before [topology.Levels]float64
	now    variances
	// known are the values of observed ASes, those of a country side by side.
	known     []float64
	countries []countryStats
	// siblings are the places in nodes of the largest node of each AS, 0 if nothing
	// is known of it.
	siblings []int32
}

// variances are what is learnt of the nodes of a level together.
type variances struct {
	// usual is the variance of a node's children around it.
	usual [topology.Levels]float64
	// astray is how many of a level's nodes stand elsewhere than their parents.
	astray [topology.Levels]float64
}

// estimate is what the observations below a node say of it.
type estimate struct {
	node            topology.Node
	parent, end     int32 // in posterior.nodes
	mean, precision float64
	// spread is the variance of the node's children around it.
	spread float64
	// sure: an observation below is no guess. observed counts the children of which
	// that is so, and sum, squares and noise are over them.
	sure                bool
	observed            int32
	sum, squares, noise float64
	// known are those of a country, in posterior.known, and bandwidth the variance of what
	// is drawn like one of them.
	known, knownEnd int32
	bandwidth       float64
}

// observation is a candidate's value, and the variance of its error. What is partly
// guessed from relatives says nothing of how much relatives differ.
type observation struct {
	at              topology.Node
	value, variance float64
	guess           bool
}

// priorSpread is what the children of a node deviate by, as standard deviation,
// before anything was observed. It counts like priorWeight observations; what is
// usual for a level counts for each of its nodes like usualWeight. Fitted.
var priorSpread = [topology.Levels]float64{0.6, 0.35, 0.25, 0.2, 0.12}

const (
	usualWeight = 4
	// astrayPrior is how many stand elsewhere before any was observed; it counts
	// like astrayWeight observations.
	astrayPrior, astrayWeight = 0.01, 40
)

func priorVariances() (v variances) {
	for l, deviation := range priorSpread {
		v.usual[l] = deviation * deviation
	}
	return v
}

// newPosterior takes in what was observed until a round.
func newPosterior(e *estimator, rng *rand.Rand, before variances) *posterior {
	e.update()
	p := &posterior{tree: e.candidates.tree, rng: rng, estimator: e, before: before.usual, now: before}
	var observations []observation
	for _, c := range e.candidates.all {
		if !c.heard() {
			continue
		}
		ms, off := e.figure(c)
		off = (off + noise) / max(ms-e.base, leastAbove)
		observations = append(observations, observation{c.at, e.value(ms), off * off, e.candidates.guessed(c)})
	}
	p.learn(observations)
	p.countries = e.countryStats()
	return p
}

// learn takes observations, in the order of the tree, at most one of an address.
func (p *posterior) learn(observations []observation) {
	p.plant(observations)
	var deviations, freedom, strays [topology.Levels]float64
	for l := range topology.Levels {
		strays[l] = astrayPrior * astrayWeight
		deviations[l], freedom[l] = priorWeight*priorSpread[l]*priorSpread[l], priorWeight
	}
	for i := len(p.nodes) - 1; i >= 0; i-- { // children before parents
		e := &p.nodes[i]
		l := p.tree.Level(e.node)
		e.spread = p.before[l]
		middle, far := 0.0, math.Inf(1)
		if n := float64(e.observed); n > 0 {
			// the squares around the mean, without what is the children's own uncertainty
			squares := max(0, e.squares-e.sum*e.sum/n-e.noise*(n-1)/n)
			deviations[l] += min(squares, outlying*outlying*p.before[l]*(n-1))
			freedom[l] += n - 1
			e.spread = (usualWeight*p.before[l] + squares) / (usualWeight + n - 1)
			if n > 1 {
				middle, far = e.sum/n, outlying*math.Sqrt(p.before[l])
			}
		}
		e.known = int32(len(p.known))
		weight, weighted := 0.0, 0.0
		for c := int32(i) + 1; c < e.end; c = p.nodes[c].end {
			child := &p.nodes[c]
			w := 1 / (1/child.precision + e.spread)
			weight += w
			weighted += w * child.mean
			if child.sure && l == topology.Country {
				p.known = append(p.known, child.mean)
			}
			if child.sure && math.Abs(child.mean-middle) > far {
				strays[l]++
			}
		}
		e.knownEnd = int32(len(p.known))
		if n := float64(e.knownEnd - e.known); n > 0 {
			e.bandwidth = e.spread * math.Pow(4/(3*n), silverman)
		}
		if weight > 0 {
			e.mean, e.precision = weighted/weight, weight
		}
		if e.sure && i > 0 {
			parent := &p.nodes[e.parent]
			parent.sure = true
			parent.observed++
			parent.sum += e.mean
			parent.squares += e.mean * e.mean
			parent.noise += 1 / e.precision
		}
	}
	for l := range topology.Levels {
		p.now.usual[l] = deviations[l] / freedom[l]
	}
	for l := topology.AS; l < topology.Address; l++ {
		p.now.astray[l+1] = strays[l] / (freedom[l] - priorWeight + astrayWeight)
	}
}

// plant lists the nodes above the observations.
func (p *posterior) plant(observations []observation) {
	var open [topology.Levels]int32
	for _, o := range observations {
		var path [topology.Levels]topology.Node
		for node, l := o.at, topology.Levels; l > 0; node = p.tree.Parent(node) {
			l--
			path[l] = node
		}
		for l, node := range path {
			if len(p.nodes) > 0 && p.nodes[open[l]].node == node {
				continue
			}
			e := estimate{node: node}
			if l > 0 {
				e.parent = open[l-1]
			}
			open[l] = int32(len(p.nodes))
			p.nodes = append(p.nodes, e)
		}
		e := &p.nodes[len(p.nodes)-1]
		e.mean, e.precision, e.sure = o.value, 1/o.variance, !o.guess
	}
	p.siblings = make([]int32, p.tree.Origins())
	for i := len(p.nodes) - 1; i >= 0; i-- {
		e := &p.nodes[i]
		if largest, _ := p.tree.Sibling(e.node); p.tree.Origin(e.node) >= 0 && largest == e.node {
			p.siblings[p.tree.Origin(e.node)] = int32(i)
		}
		e.end = max(e.end, int32(i)+1)
		p.nodes[e.parent].end = max(p.nodes[e.parent].end, e.end)
	}
}

// find is what is known of a node, nil if that is nothing.
func (p *posterior) find(node topology.Node) *estimate {
	i, found := slices.BinarySearchFunc(p.nodes, node, func(e estimate, node topology.Node) int { return int(e.node - node) })
	if !found {
		return nil
	}
	return &p.nodes[i]
}

const (
	// reachSD is how many standard deviations below a node a child is looked for.
	reachSD = 3.5
	// vague is the precision of the root before anything was observed.
	vague = 1e-9
	// cleanShare is how many of a country's unknown ASes are drawn as if they had no
	// bad route.
	cleanShare = 0.3
	// someKnown ASes tell what the others of a country are like.
	someKnown = 6
	// mostFound addresses of a sample are more than are asked for.
	mostFound = 256
	// narrow divides the variance of a country for what is drawn next to one of its
	// values.
	narrow = 4
	// silverman is the exponent of his rule for the bandwidth of a smoothed bootstrap
	// of n values, σ·(4/3n)^(1/5), squared as the variance is.
	silverman = 2.0 / 5
)

// path is where a walk down the tree stands.
type path struct {
	values, spreads [topology.Levels]float64
	known           []float64 // the values of the country's observed ASes
	bandwidth       float64   // of what is drawn like one of those
	clean           *float64  // the country's without bad routes, if that is known
}

// sample draws a world from the posterior, and returns those addresses in it that
// may still be asked for and have a value under the limit, best first, or the best
// mostFound of them at least. Parts of
// the tree that are out of reach are left out. In a bold sample there are also ASes
// and blocks that are like nothing yet seen. Most are not, as those take time.
func (p *posterior) sample(limit float64, bold bool) []valued {
	var reach [topology.Levels]float64
	variance := 0.0
	for l := topology.Address; l > topology.List; l-- {
		variance += p.now.usual[l-1]
		reach[l-1] = reachSD * math.Sqrt(variance)
	}
	var found []valued
	var at path
	known, countries := p.nodes, p.countries
	for node, end := topology.Root, topology.Node(p.tree.Nodes()); node < end; {
		l := p.tree.Level(node)
		var e *estimate
		at.spreads[l] = p.before[l]
		if len(known) > 0 && known[0].node == node {
			e, known = &known[0], known[1:]
			at.spreads[l] = e.spread
		}
		if l == topology.Country {
			at.known, at.clean = nil, nil
			if e != nil {
				at.known, at.bandwidth = p.known[e.known:e.knownEnd], e.bandwidth
			}
			for len(countries) > 0 && countries[0].at < node {
				countries = countries[1:]
			}
			if len(countries) > 0 && countries[0].at == node && countries[0].isClean {
				at.clean = &countries[0].cleanValue
			}
		}
		value := p.draw(node, l, e, &at, bold)
		at.values[l] = value
		if l == topology.Address {
			if value < limit && p.estimator.candidates.open(node) {
				if found = append(found, valued{node, value}); len(found) == 2*mostFound {
					sortValued(found) // nobody asks for the rest, nor for what is worse still
					found, limit = found[:mostFound], found[mostFound].value
				}
			}
		} else {
			if l == topology.Country && at.clean != nil {
				value = min(value, *at.clean)
			}
			if value-reach[l] > limit {
				node = p.tree.End(node)
				for len(known) > 0 && known[0].node < node {
					known = known[1:]
				}
				continue
			}
		}
		node++
	}
	sortValued(found)
	return found
}

// draw is a node's value, given those of the nodes above it and what is known.
func (p *posterior) draw(node topology.Node, l topology.Level, e *estimate, at *path, bold bool) float64 {
	from, prior, mean, precision := 0.0, vague, 0.0, 0.0
	if e != nil {
		mean, precision = e.mean, e.precision
	}
	if l > topology.List {
		variance := at.spreads[l-1]
		from = at.values[l-1]
		switch {
		case e != nil:
		case l == topology.AS:
			from, variance = p.drawAS(node, at, bold)
		case bold && p.rng.Float64() < p.now.astray[l]:
			from, variance = p.drawAS(p.tree.Above(node, topology.AS), at, bold)
		}
		prior = 1 / variance
	}
	weight := prior + precision
	mean = (from*(weight-precision) + mean*precision) / weight
	return mean + p.rng.NormFloat64()/math.Sqrt(weight)
}

// drawAS says what an unknown AS of a country is drawn from. Large countries have near
// and far parts, and no part of a country is nearer than the country is: so it is
// like one of the known ones, or, where few are known, like the country.
func (p *posterior) drawAS(node topology.Node, at *path, bold bool) (from, variance float64) {
	if origin := p.tree.Origin(node); origin >= 0 && p.siblings[origin] > 0 {
		sibling, misplaced := p.tree.Sibling(node)
		if sibling != node && p.rng.Float64() < misplaced {
			return p.nodes[p.siblings[origin]].mean, p.now.usual[topology.AS]
		}
	}
	if at.clean != nil && p.rng.Float64() < cleanShare {
		return *at.clean, p.now.usual[topology.Country] / narrow
	}
	n, spread := float64(len(at.known)), at.spreads[topology.Country]
	if bold && n > 0 && p.rng.Float64() < 1/(n+1) {
		// below the lowest by what they deviate by in ms: what is far away has farther
		// to come
		lowest := slices.Min(at.known)
		below := math.Sqrt(spread) * math.Exp(lowest) * p.rng.ExpFloat64()
		return p.estimator.value(p.estimator.score(lowest) - below), p.now.usual[topology.Country] / narrow
	}
	if len(at.known) >= someKnown {
		return at.known[p.rng.IntN(len(at.known))], at.bandwidth
	}
	return at.values[topology.Country], spread
}

// apart keeps the best of each part of the tree of which nothing is known, as one
// answer goes for all of it: most of them, and none of a part seen before.
func (p *posterior) apart(found []valued, most int, seen map[topology.Node]bool) []valued {
	var kept []valued
	for _, v := range found {
		if len(kept) == most {
			break
		}
		part := v.at
		for parent := p.tree.Parent(part); parent > topology.Root && p.find(parent) == nil; parent = p.tree.Parent(part) {
			part = parent
		}
		if !seen[part] {
			seen[part] = true
			kept = append(kept, v)
		}
	}
	return kept
}
