package coordinate

import (
	"cmp"
	"slices"

	"muster/discovery/plan/topology"
)

// What players remember is verified before anything else is explored. Wrong forecasts show in two
// ways. A part that seems near and is far is among the leaders, so one answer refutes it. A part
// that seems far and is near is never asked about. It is noticed only if a single player's forecast
// is wrong: this player seems far from the part, although the others are as near to it as to parts
// that the player is near to.

const (
	// Everybody asks about firstLeaders remembered parts in the first round, the best first.
	firstLeaders = 40
	// A player is asked about checksRound parts in a round because of a suspicious forecast.
	checksRound = 16
	// alikeParts other parts tell what a forecast should be. They must be equally far for the other
	// players: within alikeBy times apartBy and apartShare on average, as a root mean square.
	alikeParts, alikeBy = 3, 2.8
	// A forecast is suspicious if the likely RTT is below the fraction sticksOut of it. A check
	// assumes that the RTT is at least the fraction minWay of the forecast.
	suspiciousShare, minForecastShare = 0.92, 0.4
)

// isRemembering reports whether the search relies on forecasts.
func (a *acquisition) isRemembering() bool {
	return !a.p.estimator.predictor.recall.isEmpty() && a.p.trust() > 0
}

// askRemembered asks everybody for an address in each of the parts that should be the best by what is
// remembered. After the first round, these are parts that should be better than the incumbent. Before
// there is one, the round goes on with the leaders of the first: of a large group only some were asked
// about each.
func (a *acquisition) askRemembered() {
	if !a.isRemembering() {
		return
	}
	leaders := a.posterior.imagined
	if a.p.round > 0 {
		if a.p.estimator.incumbent == nil {
			return
		}
		leaders = slices.DeleteFunc(leaders, func(v valued) bool { return v.value >= a.p.estimator.best })
	}
	sortValued(leaders)
	left := firstLeaders
	for _, v := range leaders {
		if left == 0 {
			return
		}
		fresh := func(at topology.Node) bool { return a.p.candidates.of[at] == nil }
		if at, found := a.anyOf(v.at, fresh); found && a.askAll(a.p.candidates.at(at)) {
			left--
		}
	}
}

// rememberedPart is a part of the tree and the players' likely RTTs to it.
type rememberedPart struct {
	leaf, as topology.Node
	on       line
	rtts     []float64
}

// check is a question to one player, whose forecast for a part is suspicious, and what the part would
// gain if the forecast is wrong.
type check struct {
	valued
	player int
	as     topology.Node
}

// checkForecasts asks single players about parts with suspicious forecasts. Such a part would be
// better than the incumbent if the player's forecast were like the forecasts for the parts that are
// most like it for the others.
func (a *acquisition) checkForecasts() {
	if !a.isRemembering() || a.p.estimator.incumbent == nil {
		return
	}
	checks := a.checks()
	slices.SortFunc(checks, func(x, y check) int {
		return cmp.Or(cmp.Compare(x.value, y.value), cmp.Compare(x.at, y.at), cmp.Compare(x.player, y.player))
	})
	asked := make([]int, len(a.asked))
	for _, c := range checks {
		if asked[c.player] == checksRound {
			continue
		}
		at, found := a.anyOf(c.at, func(topology.Node) bool { return true })
		if !found {
			continue
		}
		if of := a.p.candidates.at(at); of.server >= 0 && a.ask(c.player, of.server) {
			of.explored = true
			asked[c.player]++
		}
	}
}

// checks returns the checks that may gain anything, the best one of each player and AS.
func (a *acquisition) checks() []check {
	e, parts := a.p.estimator, a.rememberedParts()
	target, best := e.target(), map[[2]int32]check{}
	rtts := make([]float64, len(a.asked), len(a.asked)+len(e.guests))
	figure := func(part *rememberedPart, player int, ms float64) float64 {
		copy(rtts, part.rtts)
		rtts[player] = ms
		return e.figureOf(e.guested(rtts, part.leaf))
	}
	for i := range parts {
		part := &parts[i]
		for player, ms := range part.rtts {
			as := part.on[topology.AS]
			if e.predictor.recall.tried[int(as)+player].any() || figure(part, player, minForecastShare*ms) >= target {
				continue
			}
			likely, known := part.likely(player, parts)
			if !known || likely > suspiciousShare*ms {
				continue
			}
			key := [2]int32{as, int32(player)}
			c := check{valued{part.leaf, figure(part, player, likely) - target}, player, part.as}
			if before, is := best[key]; c.value < 0 && (!is || c.value < before.value) {
				best[key] = c
			}
		}
	}
	var checks []check
	for _, c := range best {
		checks = append(checks, c)
	}
	return checks
}

// rememberedParts returns the parts of known ASes that are remembered.
func (a *acquisition) rememberedParts() (parts []rememberedPart) {
	r := a.p.estimator.predictor
	for _, leaf := range r.recall.leaves {
		on := r.line(leaf)
		if on[topology.AS] < 0 {
			continue
		}
		part := rememberedPart{leaf, a.p.tree.Above(leaf, topology.AS), on, make([]float64, len(a.asked))}
		for player := range part.rtts {
			part.rtts[player], _ = r.predictMean(player, on)
		}
		parts = append(parts, part)
	}
	return parts
}

// likely returns a player's median RTT to the parts of other ASes that are most like this one for the
// other players. It is not known if there are none.
func (part *rememberedPart) likely(player int, parts []rememberedPart) (ms float64, known bool) {
	type neighbour struct{ apart, ms float64 }
	var near [alikeParts]neighbour
	for i := range near {
		near[i].apart = alikeBy * alikeBy * float64(len(part.rtts)-1)
	}
	for i := range parts {
		o := &parts[i]
		if o.as == part.as {
			continue
		}
		apart := 0.0
		for other, ms := range part.rtts {
			if other != player {
				d := (ms - o.rtts[other]) / (apartBy + apartShare*min(ms, o.rtts[other]))
				if apart += d * d; apart >= near[alikeParts-1].apart {
					break
				}
			}
		}
		for j := range near {
			if apart < near[j].apart {
				copy(near[j+1:], near[j:])
				near[j] = neighbour{apart, o.rtts[player]}
				break
			}
		}
	}
	if near[alikeParts-1].ms == 0 {
		return 0, false
	}
	slices.SortFunc(near[:], func(x, y neighbour) int { return cmp.Compare(x.ms, y.ms) })
	return near[alikeParts/2].ms, true
}
