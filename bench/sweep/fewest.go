// Package sweep measures searches on many simulated worlds. Without flags, its tests run only a
// small part.
package sweep

import (
	"math"
	"math/bits"
	"slices"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/internal/sim"
	"muster/selection"
)

// fewest is the oracle of the fewest questions. It knows every RTT. It counts the questions after which
// the planner's model can certify a choice: no server beats it by more than a tolerance. No plan can
// certify it with fewer. The form is that of lower bounds for best-arm identification, where a plan
// rules out every world with another best arm (arXiv 2204.06910).
//
//	list ─┬─ country ─┬─ AS, asked          what an unasked part may hide follows from what is around
//	      │           └─ AS, not asked ◀──  it: the rest of the country
//	      └─ country, not asked ◀─────────  the rest of the list
//
// # What a plan knows
//
// The model is package coordinate's. A value is the logarithm of a score's distance from a base, which
// is a little better than the best score. A node has its parent's value and a Gaussian deviation of
// variance τ². A plan that has asked somewhere below a node knows the mean around each of its children.
// A child without a question hides nothing with the chance
//
//	G(v) = E Π G(children at x),   x ~ N(v, τ²)
//
// where v is the value of the mean around. G of an address is 1 if it misses the target. Some players
// may have measured an address. Its value is then that of their RTTs and of the others' means around,
// and τ is multiplied by the others' share. Some RTTs rule an address out, however low the others are.
//
// # The bound
//
// A choice is certified if all players have measured it, and the rest of the list hides nothing with a
// chance of 95 %. So Σ −ln G ≤ −ln 0.95, over the largest unasked nodes and the asked addresses. For
// every price λ, the fewest questions are at least
//
//	min over plans (questions + λ·Σ −ln G) − λ·(−ln 0.95)
//
// Bottom up, the minimum leaves a node unasked, or puts at least one question below it. The bound is the
// highest over the prices. It is low on purpose. A plan knows the τ that the planner would learn from the
// whole list. One reply tells all players a part's true mean. Silent servers cost nothing, and limits
// stricter than the chosen server's do not count.
type fewest struct {
	tree      *topology.Tree
	players   int
	objective *selection.Objective
	// limit is the one that the chosen server keeps, in ms.
	limit float64
	// base is that of values, and target the score that an address must not be below, both in ms.
	base, target float64
	chosen       topology.Node
	// rtts are the players' RTTs to the address of a node, in ms. It is nil if somebody gets no
	// reply.
	rtts [][]float64
	// sums and counts are those of the addresses below a node: sums[node*players+player].
	sums   []float64
	counts []int
	// spreads are the τ by the level of the parent.
	spreads [topology.Levels]float64
	// hidden are −ln G by node, of a node that nobody asked. partly are those of an address, by the set
	// of players who measured it. All sets are tried, so groups must be small.
	hidden []float64
	partly map[topology.Node][]float64
	around []float64 // reused
}

const (
	// certainty is the planner's confidence.
	certainty = 0.95
	// These are coordinate's, for the base of values: betterBy, betterShare, fairerShare, minAbove
	// and overBy.
	baseBy, baseShare, baseFairer, valueAbove, overLimitBy = 3, 0.03, 0.25, 0.5, 1.5
	// Values are computed for a grid of steps, from the value of valueAbove on. Deviations beyond
	// tailSDs do not count.
	gridStep, gridSteps, tailSDs = 0.05, 160, 4
	// A price is doubled so many times.
	prices = 16
	// lowestMS is the lowest RTT that there is, in ms.
	lowestMS = 0.001
)

// firstSpreads are coordinate's priorSpread: how far the children of a node deviate, by its level,
// before any was seen. They count like priorNodes children, and a deviation counts as outlyingSDs at
// most.
var firstSpreads = [topology.Levels]float64{0.6, 0.35, 0.25, 0.2, 0.12}

const priorNodes, outlyingSDs, learningRounds = 6, 3, 10

// newFewest returns the oracle for a group's choice. If a server is better by more than the tolerance,
// in ms, the tolerance is what the choice misses.
func newFewest(g *sim.Group, o *selection.Objective, chosen int, tolerance float64) *fewest {
	tree := g.Vantages[0].Topology()
	n, players := tree.Nodes(), len(g.Players)
	f := &fewest{
		tree: tree, players: players, objective: o, limit: math.Inf(1), chosen: tree.Of(chosen),
		rtts: make([][]float64, n), sums: make([]float64, n*players), counts: make([]int, n), around: make([]float64, players),
	}
	best := math.Inf(1)
	f.measure(g)
	for _, limit := range slices.Backward(o.Limits()) {
		if ms := discovery.MS(limit); ms >= slices.Max(f.rtts[f.chosen]) {
			f.limit = ms
		}
	}
	for _, rtts := range f.rtts {
		if rtts != nil {
			best = min(best, f.score(rtts))
		}
	}
	share := baseShare
	if o.Deviates() {
		share = baseFairer
	}
	f.base = best - (baseBy + share*best)
	f.target = min(f.score(f.rtts[f.chosen])-tolerance, best)
	f.learn()
	f.findHidden()
	return f
}

// measure takes the RTTs to the addresses where everybody gets a reply.
func (f *fewest) measure(g *sim.Group) {
	for node := topology.Root; int(node) < f.tree.Nodes(); node++ {
		if f.tree.Level(node) != topology.Address {
			continue
		}
		for _, server := range f.tree.Servers(node) {
			var rtts []float64
			for _, v := range g.Vantages {
				if rtt := v.RTT[server]; rtt >= 0 {
					rtts = append(rtts, max(lowestMS, discovery.MS(rtt)))
				}
			}
			if len(rtts) == f.players {
				f.rtts[node] = rtts
				break
			}
		}
		for above := node; above >= 0 && f.rtts[node] != nil; above = f.tree.Parent(above) {
			f.counts[above]++
			for player, ms := range f.rtts[node] {
				f.sums[int(above)*f.players+player] += ms
			}
		}
	}
}

// score returns the rule's score, and more above the limit that the chosen server keeps.
func (f *fewest) score(rtts []float64) float64 {
	return f.objective.Score(rtts) + overLimitBy*max(0, slices.Max(rtts)-f.limit)
}

func (f *fewest) value(score float64) float64 { return math.Log(max(score-f.base, valueAbove)) }

// surround sets the players' mean RTTs around a node, and returns the level of the part around. There
// is none if the whole list is below the node.
func (f *fewest) surround(node topology.Node) (l topology.Level, known bool) {
	for above := f.tree.Parent(node); above >= 0; above = f.tree.Parent(above) {
		n := f.counts[above] - f.counts[node]
		if n == 0 {
			continue
		}
		for player := range f.around {
			f.around[player] = (f.sums[int(above)*f.players+player] - f.sums[int(node)*f.players+player]) / float64(n)
		}
		return f.tree.Level(above), true
	}
	return 0, false
}

// learn finds the spreads that the planner would learn from the whole list.
func (f *fewest) learn() {
	var squares [topology.Levels][]float64
	mean := make([]float64, f.players)
	for node := topology.Root + 1; int(node) < f.tree.Nodes(); node++ {
		if l, known := f.surround(node); known && f.counts[node] > 0 && l == f.tree.Level(node)-1 {
			for player := range mean {
				mean[player] = f.sums[int(node)*f.players+player] / float64(f.counts[node])
			}
			off := f.value(f.score(mean)) - f.value(f.score(f.around))
			squares[l] = append(squares[l], off*off)
		}
	}
	for l, all := range squares {
		first := firstSpreads[l] * firstSpreads[l]
		variance := first
		for range learningRounds {
			sum := priorNodes * first
			for _, square := range all {
				sum += min(square, outlyingSDs*outlyingSDs*variance)
			}
			variance = sum / float64(priorNodes+len(all))
		}
		f.spreads[l] = math.Sqrt(variance)
	}
}

// findHidden finds what unasked and partly asked nodes may hide.
func (f *fewest) findHidden() {
	f.hidden, f.partly = make([]float64, f.tree.Nodes()), map[topology.Node][]float64{}
	chances := make([][]float64, f.tree.Nodes())                                  // G by the parent's value, nil is 1
	for node := topology.Node(f.tree.Nodes() - 1); node > topology.Root; node-- { // children first
		if f.counts[node] == 0 {
			continue
		}
		tau := f.spreads[f.tree.Level(node)-1]
		if f.tree.Level(node) == topology.Address {
			chances[node] = f.missAddress(tau)
			f.partly[node] = f.partlyHidden(node)
		} else {
			chances[node] = blur(f.missBelow(chances, node), tau)
		}
		if _, known := f.surround(node); known {
			f.hidden[node] = -math.Log(onGrid(chances[node], f.value(f.score(f.around))))
		} else {
			f.hidden[node] = math.Inf(1)
		}
		for child := node + 1; child < f.tree.End(node); child = f.tree.End(child) {
			chances[child] = nil
		}
	}
}

// missAddress returns G of an address, by the value of its parent.
func (f *fewest) missAddress(tau float64) []float64 {
	g := make([]float64, gridSteps)
	for i := range g {
		g[i] = normal((gridValue(i) - f.value(f.target)) / tau)
	}
	return g
}

// missBelow returns the product of G over a node's children, by the node's value.
func (f *fewest) missBelow(chances [][]float64, node topology.Node) []float64 {
	g := slices.Repeat([]float64{1}, gridSteps)
	for child := node + 1; child < f.tree.End(node); child = f.tree.End(child) {
		for i, p := range chances[child] {
			g[i] *= p
		}
	}
	return g
}

// partlyHidden returns −ln G of an address by the set of players who measured it.
func (f *fewest) partlyHidden(address topology.Node) []float64 {
	rtts, risks := f.rtts[address], make([]float64, 1<<f.players)
	l, known := f.surround(address)
	variance := 0.0
	for ; known && l < topology.Address; l++ {
		variance += f.spreads[l] * f.spreads[l]
	}
	expected, lowest := make([]float64, f.players), make([]float64, f.players)
	for set := range risks {
		others := 0.0
		for player, ms := range rtts {
			expected[player], lowest[player] = ms, ms
			if set&(1<<player) == 0 {
				expected[player], lowest[player] = f.around[player], lowestMS
				others += 1 / float64(f.players)
			}
		}
		switch {
		case others == 0 || !f.objective.Deviates() && f.score(lowest) >= f.target:
		case !known:
			risks[set] = math.Inf(1)
		default:
			risks[set] = -math.Log(normal((f.value(f.score(expected)) - f.value(f.target)) / (math.Sqrt(variance) * others)))
		}
	}
	return risks
}

// questions returns the bound: how many questions a plan needs at least, over all players.
func (f *fewest) questions() int {
	most, price := 0.0, 1.0
	for range prices {
		most = max(most, f.cheapest(price)+price*math.Log(certainty))
		price *= 2
	}
	return int(math.Ceil(most - 1e-9))
}

// cheapest returns the minimum over plans, at a price.
func (f *fewest) cheapest(price float64) float64 {
	asked, best := make([]float64, f.tree.Nodes()), make([]float64, f.tree.Nodes())
	for node := topology.Node(f.tree.Nodes() - 1); node >= topology.Root; node-- { // children first
		if f.counts[node] == 0 {
			continue
		}
		if f.tree.Level(node) == topology.Address {
			asked[node] = math.Inf(1)
			for set, risk := range f.partly[node] {
				if set > 0 {
					asked[node] = min(asked[node], float64(bits.OnesCount(uint(set)))+price*risk)
				}
			}
		} else {
			more := math.Inf(1) // for a question below
			for child := node + 1; child < f.tree.End(node); child = f.tree.End(child) {
				if f.counts[child] > 0 {
					asked[node] += best[child]
					more = min(more, asked[child]-best[child])
				}
			}
			asked[node] += more
		}
		best[node] = asked[node]
		switch {
		case node == f.chosen:
			asked[node], best[node] = float64(f.players), float64(f.players)
		case node > topology.Root && (f.chosen < node || f.chosen >= f.tree.End(node)):
			best[node] = min(best[node], price*f.hidden[node])
		}
	}
	return best[topology.Root]
}

func gridValue(i int) float64 { return math.Log(valueAbove) + gridStep*float64(i) }

// onGrid returns a function of the grid at a value.
func onGrid(g []float64, value float64) float64 {
	i := (value - gridValue(0)) / gridStep
	return g[min(max(0, int(math.Round(i))), len(g)-1)]
}

// blur returns the mean of a function of the grid around each value, with a Gaussian deviation.
func blur(g []float64, deviation float64) []float64 {
	n := int(tailSDs * deviation / gridStep)
	kernel := make([]float64, 2*n+1)
	sum := 0.0
	for i := range kernel {
		x := float64(i-n) * gridStep / deviation
		kernel[i] = math.Exp(-x * x / 2)
		sum += kernel[i]
	}
	blurred := make([]float64, len(g))
	for i := range g {
		for j, w := range kernel {
			blurred[i] += w / sum * g[min(max(0, i+j-n), len(g)-1)]
		}
	}
	return blurred
}

// normal is the distribution function of the standard normal distribution.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
