package coordinate

import (
	"math"
	"slices"
)

// Where extras decide, the search has two unknowns: the server with the lowest worst extra, and the
// players' own bests, which extras are counted from. If an own best is missed by d, the player's
// extras are d too low. The choice is wrong by d less the slack. The slack is what the player can
// still give up at the chosen server before giving up more than anybody else. So some rounds look
// for servers nearer to a player than that player's own best less the slack. Only half of the slack counts,
// because the choice may still move to a server where less is given up
// (bench/experiments/least-sacrifice.md).

const (
	// One round in ownEvery looks for nearer own bests while one that matters is likely, else one
	// in ownSeldom.
	ownEvery, ownSeldom = 2, 4
	// Everybody measures the nearest addresses of each player, at most this many, so that they
	// count as own bests. Only addresses nearer than the player's own best by more than noise qualify.
	nearest = 2
	// In the first countriesTried rounds everybody measures a server in each unknown country.
	countriesTried = 4
	// slackShare is the share of a player's slack that counts.
	slackShare = 0.5
	// unreached exceeds any amount, in ms, that an own best may be missed by. It is the slack of a
	// player whose extras have no weight.
	unreached = 1e4
)

// findOwn takes the players' own bests from the candidates that suit everybody. While there are
// none, it takes them from all measured candidates.
func (e *estimator) findOwn() {
	if !e.objective.Sacrifices() {
		return
	}
	n := len(e.candidates.questions) + len(e.guests)
	e.own = slices.Repeat([]float64{math.Inf(1)}, n)
	kept := 0 // limits kept: own bests come from the servers that keep the most limits
	for whole := range 2 {
		for _, c := range e.candidates.all {
			switch {
			case !c.hasResults() || whole == 0 && !e.candidates.suits(c):
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

// findSlack finds how much lower each player's own best would have to be to make that player the
// one who gives up most at the incumbent.
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

// nearer returns how far RTTs are above what would matter to an own best, for the player with the
// smallest gap. Below 0 they matter.
func (e *estimator) nearer(rtts []float64) float64 {
	least := math.Inf(1)
	for player, slack := range e.slack {
		least = min(least, rtts[player]-e.own[player]+slack)
	}
	return least
}

// nearestTo returns the player with the smallest predicted gap at a candidate, among those who have
// not measured it, or -1 if there is none.
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

// closer returns candidates that only some players have measured, and that are nearer to a player
// than the player's own best. They count as own bests once everybody has measured them.
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
