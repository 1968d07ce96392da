package coordinate

import (
	"cmp"
	"math"
	"slices"

	"muster/discovery/plan/topology"
)

// A search that relies on forecasts mostly draws servers near the best remembered ones, because those are the
// best by what is known. Parts of which nobody remembers anything are rarely drawn. So a share of its questions
// goes to the parts that would win if they stand where nobody expects them.

// unseenShare is the share of what is left of a round's questions that goes to unseen parts, if each promises a
// gain of worthAsking ms. Tuned (bench/experiments/memory.md).
const unseenShare = 0.5

// unseen returns the largest parts of which nobody has measured or remembers anything, in countries with
// forecasts, the most promising first.
func (a *acquisition) unseen() (parts []valued) {
	tree, r := a.p.tree, a.p.estimator.predictor
	isKnown := func(node topology.Node) bool {
		i, is := r.index[node]
		for player := 0; is && player < r.players; player++ {
			if r.knows(i, player) {
				return true
			}
		}
		return false
	}
	a.p.candidates.sort()
	leaves := a.posterior.imagined
	for country := topology.Root + 1; int(country) < tree.Nodes(); country = tree.End(country) {
		n, _ := slices.BinarySearchFunc(leaves, tree.End(country), func(v valued, end topology.Node) int { return cmp.Compare(v.at, end) })
		promise := a.p.estimator.promise(leaves[:n])
		leaves = leaves[n:]
		for node := country + 1; promise >= worthAsking && node < tree.End(country); {
			l, after := tree.Level(node), node+1
			if l > topology.Prefix16 {
				after = tree.End(node)
			}
			if l <= topology.Prefix24 && !isKnown(node) {
				after = tree.End(node)
				chance := 1.0
				if l > topology.AS { // else it stands with the part around it
					chance = a.posterior.now.astray[l]
				}
				if gain := chance * promise; gain >= worthAsking && a.p.candidates.below(node) == 0 {
					parts = append(parts, valued{node, -gain})
				}
			}
			node = after
		}
	}
	sortValued(parts)
	return parts
}

// promise returns by how many ms an unseen part of a country is better than the incumbent on average. It is like
// one of the country's remembered parts, but for the usual error of a prediction from the country.
func (e *estimator) promise(remembered []valued) (gain float64) {
	off := priorError[topology.Country]
	for _, v := range remembered {
		z := (e.best - v.value) / off
		gain += off * (z*math.Erfc(-z/math.Sqrt2)/2 + math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)) / float64(len(remembered))
	}
	return gain
}

// askUnseen asks about the most promising unseen parts.
func (a *acquisition) askUnseen() {
	if !a.isRemembering() || a.p.estimator.incumbent == nil {
		return
	}
	left, seen := int(unseenShare*float64(a.left())), a.underWay()
	for _, v := range a.unseen() {
		if left == 0 {
			return
		}
		at, found := a.anyOf(v.at, func(topology.Node) bool { return true })
		if !found || seen[v.at] {
			continue
		}
		c := a.p.candidates.at(at)
		if by := a.decisive(at); by >= 0 && c.server >= 0 && a.ask(by, c.server) {
			c.explored = true
			left--
		}
	}
}

// decisive returns the player with whose shorter way an unseen part would gain the most: if it stands where it is
// expected, that reply refutes it. It is -1 if nobody may be asked.
func (a *acquisition) decisive(at topology.Node) (by int) {
	e, most := a.p.estimator, math.Inf(-1)
	on := e.predictor.line(at)
	w := whatIf{at: at, rtts: make([]float64, len(a.asked), len(a.asked)+len(e.guests))}
	for player := range w.rtts {
		w.rtts[player], _ = e.predictor.predictOn(player, on)
	}
	by = -1
	for w.player = range w.rtts {
		if gain := e.gains(&w, shorterBy); a.quotas[w.player] > 0 && gain > most {
			by, most = w.player, gain
		}
	}
	return by
}
