package coordinate

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"muster/discovery/plan/topology"
)

// posterior holds what the candidates' values say of all other addresses.
type posterior struct {
	tree      *topology.Tree
	rng       *rand.Rand
	estimator *estimator
	// nodes are the nodes with observations below them, in the order of the tree. All others
	// deviate by what was usual before this round.
	nodes  []estimate
	before [topology.Levels]float64
	now    variances
	// known are the values of observed ASes, grouped by country.
	known     []float64
	countries []countryStats
	// siblings are the indexes in nodes of each AS's largest node, 0 if nothing is known of the AS.
	siblings []int32
	// order lists the countries as a world draws them. below is, by level, the variance of an
	// address around an unknown node. reach is how far the best of some addresses may lie below the
	// node, by the bits of their number.
	order []drawnCountry
	below [topology.Levels]float64
	reach [topology.Levels][bits.UintSize + 1]float64
	// imagined are the scores of the remembered parts by forecasts and predictions alone, in ms.
	imagined []valued
}

// variances hold what is learnt of the nodes of a level together.
type variances struct {
	// usual is the variance of a node's children around it.
	usual [topology.Levels]float64
	// astray is how many of a level's nodes stand elsewhere than their parents.
	astray [topology.Levels]float64
}

// estimate holds what the observations below a node say of it.
type estimate struct {
	node            topology.Node
	parent, end     int32 // indexes in posterior.nodes
	mean, precision float64
	// spread is the variance of the node's children around it.
	spread float64
	// sure says that an observation below is no guess. observed counts the children that are sure,
	// and sum, squares and noise cover those.
	sure bool
	// isGuess says that only a vague forecast tells of the node, and nothing of what is below.
	isGuess             bool
	observed            int32
	sum, squares, noise float64
	// known to knownEnd are a country's values in posterior.known. lowest is the lowest of them,
	// and bandwidth is the variance of a draw around one of them.
	known, knownEnd   int32
	lowest, bandwidth float64
}

// observation is a candidate's value, and the variance of its error. If it is partly guessed from
// relatives, it says nothing of how much relatives differ.
type observation struct {
	at              topology.Node
	value, variance float64
	guess           bool
}

// priorSpread is the standard deviation of a node's children before anything was observed. It
// counts like priorWeight observations. For each node, its level's usual variance counts like
// usualWeight observations. Fitted.
var priorSpread = [topology.Levels]float64{0.6, 0.35, 0.25, 0.2, 0.12}

const (
	usualWeight = 4
	// astrayPrior is the share of nodes that stand elsewhere, before any was observed. It counts
	// like astrayWeight observations.
	astrayPrior, astrayWeight = 0.01, 40
)

func priorVariances() (v variances) {
	for l, deviation := range priorSpread {
		v.usual[l] = deviation * deviation
	}
	return v
}

// newPosterior learns from what was observed before a round.
func newPosterior(e *estimator, rng *rand.Rand, before variances) *posterior {
	e.update()
	p := &posterior{tree: e.candidates.tree, rng: rng, estimator: e, before: before.usual, now: before}
	var observations []observation
	for _, c := range e.candidates.all {
		if !c.hasResults() {
			continue
		}
		ms, off := e.figure(c)
		off = (off + noise) / max(ms-e.base, minAbove)
		observations = append(observations, observation{c.at, e.value(ms), off * off, e.candidates.guessed(c)})
	}
	observations, p.imagined = e.remembered(observations)
	p.learn(observations)
	p.countries = e.countryStats()
	p.prepare()
	return p
}

// learn takes observations in the order of the tree: at most one for each address, and of larger
// parts at most one where there is none below.
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
			// the squares around the mean, less the children's own uncertainty
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
			e.lowest = slices.Min(p.known[e.known:])
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

// plant adds the nodes above the observations.
func (p *posterior) plant(observations []observation) {
	p.nodes = make([]estimate, 0, int(topology.Levels)*len(observations)) // hardly any observations share more than the list
	var open [topology.Levels]int32
	for _, o := range observations {
		var path [topology.Levels]topology.Node
		depth := p.tree.Level(o.at)
		for node, l := o.at, depth+1; l > 0; node = p.tree.Parent(node) {
			l--
			path[l] = node
		}
		for l, node := range path[:depth+1] {
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
		e.mean, e.precision, e.sure, e.isGuess = o.value, 1/o.variance, !o.guess, o.guess && depth == topology.Country
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

// find returns the estimate of a node, or nil if nothing is known of it but a vague forecast.
func (p *posterior) find(node topology.Node) *estimate {
	if e := p.guess(node); e != nil && !e.isGuess {
		return e
	}
	return nil
}

// guess returns the estimate of a node, or nil if not even a vague forecast tells of it.
func (p *posterior) guess(node topology.Node) *estimate {
	i, found := slices.BinarySearchFunc(p.nodes, node, func(e estimate, node topology.Node) int { return int(e.node - node) })
	if !found {
		return nil
	}
	return &p.nodes[i]
}

// part returns the largest unknown part of the tree that contains an address.
func (p *posterior) part(at topology.Node) topology.Node {
	for parent := p.tree.Parent(at); parent > topology.Root && p.find(parent) == nil; parent = p.tree.Parent(at) {
		at = parent
	}
	return at
}
