package coordinate

import (
	"math"
	"slices"
)

// Where extras decide, the search has two unknowns: the server with the lowest worst
// extra, and the players' own bests, from which extras count. An own best that was missed
// by d makes a player's extras d too low, and the choice wrong by as much, less what the
// player has left at the chosen server until nobody gives up more: the slack. So some
// rounds look for what is nearer to somebody than the own best less the slack, which is
// their target; less half of it, as the chosen server may still change for one where less
// is given up (docs/experiments/least-sacrifice.md).

const (
	// Of ownEvery rounds one looks for nearer own bests, as long as any is likely that
	// matters, or of ownSeldom.
	ownEvery, ownSeldom = 2, 4
	// nearest is how many of the addresses nearest to each player all measure, so that
	// they count: only those that are nearer than the own best by noise.
	nearest = 2
	// countriesTried is in how many rounds everybody measures a server of each country of
	// which nothing is known.
	countriesTried = 4
	// slackShare is how much of a player's slack counts.
	slackShare = 0.5
	// unreached is further than any own best may be missed by, in ms: who has none.
	unreached = 1e4
)

// findOwn takes the players' own bests from the candidates that suit everybody, or before
// there are any from all that anybody measured.
func (e *estimator) findOwn() {
	if !e.objective.Sacrifices() {
		return
	}
	n := len(e.candidates.questions) + len(e.guests)
	e.own = slices.Repeat([]float64{math.Inf(1)}, n)
	kept := 0 // limits: own bests are of servers that keep as many as any
	for whole := range 2 {
		for _, c := range e.candidates.all {
			switch {
			case !c.heard() || whole == 0 && !e.candidates.suits(c):
				continue
			case whole == 0:
				k := len(e.limits) - e.broken(highest(c.rtts))
				if k < kept {
					continue
				}
				if k > kept {
					kept, e.own = k, slices.Repeat([]float64{math.Inf(1)}, n)
				}
			}
			rtts := slices.Clip(c.rtts)
			if c.whole() {
				rtts = e.guested(rtts, c.at)
			}
			for player, ms := range rtts {
				if ms > 0 {
					e.own[player] = min(e.own[player], ms)
				}
			}
		}
		if !slices.ContainsFunc(e.own, func(ms float64) bool { return math.IsInf(ms, 1) }) {
			break
		}
	}
	for player, ms := range e.own {
		if math.IsInf(ms, 1) {
			e.own[player] = 0
		}
	}
	e.objective = e.objective.Above(e.own)
}

// findSlack finds by how much each player's own best would have to be lower for somebody
// to give up more at the incumbent than it seems.
func (e *estimator) findSlack() {
	e.slack = e.slack[:0]
	if !e.objective.Sacrifices() {
		return
	}
	for player, own := range e.own[:len(e.candidates.questions)] {
		w, slack := e.objective.Weight(player), 0.0
		if e.incumbent != nil && w > 0 {
			slack = within(e.best)/w - (e.incumbent.rtts[player] - own)
		}
		if w == 0 {
			slack = unreached
		}
		e.slack = append(e.slack, slackShare*max(0, slack))
	}
}

// nearer is by how much RTTs are over what would matter to somebody's own best, of the
// player for whom that is least; below 0 they would.
func (e *estimator) nearer(rtts []float64) float64 {
	least := math.Inf(1)
	for player, slack := range e.slack {
		least = min(least, rtts[player]-e.own[player]+slack)
	}
	return least
}

// nearestTo is the player for whom that is least at a candidate that is not measured by
// all, by what is predicted, and who has not measured it; -1 if there is none.
func (e *estimator) nearestTo(c *candidate) int {
	by, least, on := -1, math.Inf(1), e.predictor.line(c.at)
	for player, slack := range e.slack {
		if c.rtts[player] > 0 {
			continue
		}
		ms, _ := e.predictor.predictOn(player, on)
		if over := ms - e.own[player] + slack; over < least {
			by, least = player, over
		}
	}
	return by
}

// closer are candidates that not all have measured, and that somebody has nearer than the
// own best: they count once all have.
func (e *estimator) closer() (all []*candidate) {
	for player := range e.slack {
		near := e.ranked(func(c *candidate) float64 { return c.rtts[player] }, func(c *candidate) bool {
			ms := c.rtts[player]
			return ms > 0 && ms < e.own[player]-noise && c.server >= 0 && !c.whole() && !e.candidates.unknown(c.server)
		})
		all = append(all, near[:min(len(near), nearest)]...)
	}
	return all
}
