package coordinate

import (
	"maps"
	"math"
	"slices"
	"time"

	"muster/discovery/plan/topology"
	"muster/selection"
)

// Finalists returns the best servers that everybody measured and that suit, at most n, and some
// that may be better than all of them.
func (p *Planner) Finalists(n int) []int {
	p.estimator.update()
	var servers []int
	for _, c := range p.estimator.leaders(n) {
		servers = append(servers, c.server)
	}
	return servers
}

// These are the fitted numbers in use.
var (
	PriorSpread  = priorSpread
	PriorError   = priorError
	AstrayPrior  = astrayPrior
	NothingRTT   = float64(nothingRTT)
	NothingError = float64(nothingError)
)

// FitVariances returns what a posterior learns if it knows the score of every address, in ms.
// spread is the standard deviation of the children of each level's nodes. astray is how many of a
// level's nodes stand elsewhere than their parents.
func FitVariances(tree *topology.Tree, scores map[topology.Node]float64) (spread, astray [topology.Levels]float64) {
	e := &estimator{base: math.Inf(1), objective: selection.Criteria{By: selection.Mean}.Objective(nil)}
	for _, score := range scores {
		e.base = min(e.base, score-e.margin(score))
	}
	var observations []observation
	for _, at := range slices.Sorted(maps.Keys(scores)) {
		off := noise / max(scores[at]-e.base, minAbove)
		observations = append(observations, observation{at, e.value(scores[at]), off * off, false})
	}
	v := priorVariances()
	for range 10 { // each pass learns the usual spread from the last one, and so they converge
		p := &posterior{tree: tree, before: v.usual, now: v}
		p.learn(observations)
		v = p.now
	}
	for l, variance := range v.usual {
		spread[l] = math.Sqrt(variance)
	}
	return spread, v.astray
}

// PredictionErrors returns how far each of a player's RTTs, in ms, is from the prediction of those
// before it. Outliers are capped as the predictor caps them. The errors are by the level that the
// address shares with its nearest measured relative.
func PredictionErrors(tree *topology.Tree, rtts func(yield func(at topology.Node, ms float64) bool)) (errors [topology.Levels][]float64) {
	r := newPredictor(tree, 1)
	seen := map[topology.Node]bool{}
	for at, ms := range rtts {
		if seen[at] {
			continue
		}
		seen[at] = true
		if predicted, l, known := r.nearest(0, at); known {
			errors[l] = append(errors[l], min(math.Abs(ms-predicted), outlying*priorError[l]))
		}
		r.add(0, at, ms)
	}
	return errors
}

// Unseen returns a server of each part that nobody remembers and that may win, the most promising first.
func (p *Planner) Unseen() (servers []int) {
	a := newAcquisition(p)
	a.posterior = newPosterior(p.estimator, p.rng, p.variances)
	for _, v := range a.unseen() {
		servers = append(servers, int(p.tree.Servers(v.at)[0]))
	}
	return servers
}

// PredictBeside returns the second of two players' predicted RTT to a server that only the first has measured. Both
// have the same RTTs to others, 0 if none, and remember something if so said. All are in ms.
func PredictBeside(tree *topology.Tree, rtts []float64, server int, first float64, remember bool) float64 {
	r := newPredictor(tree, 2)
	if remember {
		r.recall.leaves = []topology.Node{0}
	}
	for other, ms := range rtts {
		for player := range 2 {
			if ms > 0 {
				r.add(player, tree.Of(other), ms)
			}
		}
	}
	r.add(0, tree.Of(server), first)
	on := r.line(tree.Of(server))
	ms, _ := r.predict(1, r.believed(1, on, r.strays(on)), false)
	return ms
}

// Moved returns the chance that a way of one player is not the remembered one: by the age of the memory,
// and by the tests of all ways and of those in the country.
func Moved(age time.Duration, held, failed, heldHere, failedHere int) float64 {
	r := recall{ages: make([]mean, 1), tried: []tried{{int32(heldHere), int32(failedHere)}}}
	r.ages[0].add(float64(age) / float64(halfTrusted))
	r.ways = mean{float32(failed), int32(held + failed)}
	return r.moved(0, line{topology.Country: 0})
}

// MaxRounds is the most rounds of a search.
const MaxRounds = maxRounds
