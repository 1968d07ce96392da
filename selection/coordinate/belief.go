package coordinate

import "math"

// belief is what observations of machines say of all others: a Gaussian model on
// the tree. A node's value is that of its parent and a deviation; what the
// children of one node deviate by is learnt from those that were observed, where
// there are few with the help of all nodes of that level.
//
// Values are logarithms of scores above a base, see [Planner.value].
type belief struct {
	*tree
	// mean and precision are what the observations below a node say of it; the
	// precision is 0 where there are none.
	mean, precision []float64
	// sure tells nodes with an observation below them that is no guess, and
	// observed counts a node's children of which it does.
	sure     []bool
	observed []int32
	// known are the means of those children, where there are some.
	known map[int32][]float64
	// spread is the variance of a node's children around it, usual that of the
	// nodes of a level.
	spread []float64
	usual  [levels]float64
	// astray is how many of the nodes of a level stand elsewhere than their
	// parents.
	astray [levels]float64
	// sum, squares and noise are of the children, while learning.
	sum, squares, noise []float64
}

// observation is a machine's value, and the variance of its error. What is partly
// guessed from relatives says nothing of how much relatives differ.
type observation struct {
	machine         int32
	value, variance float64
	guess           bool
}

// priorSpread is what the children of a node deviate by, as standard deviation,
// before anything was observed. It counts like priorWeight observations; what is
// usual for a level counts for each of its nodes like usualWeight.
var priorSpread = [levels]float64{0.6, 0.35, 0.25, 0.2, 0.12, 0.05}

const (
	priorWeight = 6
	usualWeight = 4
	// someKnown children tell what the others are like.
	someKnown = 6
	// outlying deviations count as this many standard deviations.
	outlying = 3
	// astrayPrior is how many stand elsewhere before any was observed; it counts
	// like astrayWeight observations.
	astrayPrior, astrayWeight = 0.01, 40
)

func newBelief(t *tree) *belief {
	n := t.nodes()
	b := &belief{
		tree: t, mean: make([]float64, n), precision: make([]float64, n), sure: make([]bool, n), observed: make([]int32, n), spread: make([]float64, n),
		sum: make([]float64, n), squares: make([]float64, n), noise: make([]float64, n),
	}
	for l, deviation := range priorSpread {
		b.usual[l] = deviation * deviation
	}
	return b
}

// learn believes these observations and no others, at most one of a machine.
func (b *belief) learn(observations []observation) {
	b.known = make(map[int32][]float64)
	clear(b.precision)
	clear(b.sure)
	clear(b.observed)
	clear(b.sum)
	clear(b.squares)
	clear(b.noise)
	for _, o := range observations {
		b.mean[o.machine], b.precision[o.machine], b.sure[o.machine] = o.value, 1/o.variance, !o.guess
	}
	var deviations, freedom, strays [levels]float64
	for l := range levels {
		strays[l] = astrayPrior * astrayWeight
		deviations[l], freedom[l] = priorWeight*priorSpread[l]*priorSpread[l], priorWeight
	}
	for node := int32(b.nodes() - 1); node >= 0; node-- { // children before parents
		l := b.level[node]
		b.spread[node] = b.usual[l]
		if n := float64(b.observed[node]); n > 0 {
			squares := b.deviations(node)
			deviations[l] += min(squares, outlying*outlying*b.usual[l]*(n-1))
			freedom[l] += n - 1
			strays[l] += b.strays(node)
			b.spread[node] = (usualWeight*b.usual[l] + squares) / (usualWeight + n - 1)
		}
		b.gather(node)
		b.pass(node)
	}
	for l := range levels {
		b.usual[l] = deviations[l] / freedom[l]
	}
	for l := network; l < machine; l++ {
		b.astray[l+1] = strays[l] / (freedom[l] - priorWeight + astrayWeight)
	}
}

// strays counts the children that are far from the others.
func (b *belief) strays(node int32) float64 {
	n := 0.0
	if b.observed[node] < 2 {
		return 0
	}
	limit := outlying * math.Sqrt(b.usual[b.level[node]])
	middle := b.sum[node] / float64(b.observed[node])
	for child := node + 1; child < b.end[node]; child = b.end[child] {
		if b.sure[child] && math.Abs(b.mean[child]-middle) > limit {
			n++
		}
	}
	return n
}

// deviations is the sum of squares of the children around their mean, without
// what is their own uncertainty.
func (b *belief) deviations(node int32) float64 {
	n := float64(b.observed[node])
	return max(0, b.squares[node]-b.sum[node]*b.sum[node]/n-b.noise[node]*(n-1)/n)
}

// gather is what the children say of a node.
func (b *belief) gather(node int32) {
	weight, weighted := 0.0, 0.0
	for child := node + 1; child < b.end[node]; child = b.end[child] {
		if b.precision[child] > 0 {
			w := 1 / (1/b.precision[child] + b.spread[node])
			weight += w
			weighted += w * b.mean[child]
			if b.level[node] == country && b.sure[child] {
				b.known[node] = append(b.known[node], b.mean[child])
			}
		}
	}
	if weight > 0 {
		b.mean[node], b.precision[node] = weighted/weight, weight
	}
}

// pass counts a node among its parent's children.
func (b *belief) pass(node int32) {
	if !b.sure[node] || node == 0 {
		return
	}
	parent := b.parent[node]
	b.sure[parent] = true
	b.observed[parent]++
	b.sum[parent] += b.mean[node]
	b.squares[parent] += b.mean[node] * b.mean[node]
	b.noise[parent] += 1 / b.precision[node]
}
