package coordinate

import (
	"math"
	"slices"
	"time"

	"muster/discovery/plan/topology"
	"muster/selection/memory"
)

// recall holds the players' forecasts, and learns how far off they are. It shares the predictor's
// index of nodes.
//
//	forecasts ─▶ prediction, beside that from measured relatives
//	    │ ▲
//	    │ └─ doubt: each player's errors of this session, by level
//	    └──▶ observations of the posterior, where nobody has measured anything
type recall struct {
	past []past
	// tried are the tests of each player's forecasts for a node and what is below it.
	tried []tried
	// doubts are the squares of each player's errors by level, in units of the forecasts' variances.
	doubts [][topology.Levels]mean
	// failed is how many of each player's forecasts failed, of those for the deepest part.
	failed []mean
	// ways is how many of all players' ways to ASes have moved, of those that were tested.
	ways mean
	// deepest is the lowest level of each player's forecasts, above countries if there are none.
	deepest []topology.Level
	// ages has the mean age of each player's forecasts, in units of halfTrusted.
	ages []mean
	// isVague says that nobody remembers anything, and that the forecasts are only vague: see guide.go.
	isVague bool
	// leaves are the deepest nodes with a forecast, in the order of the tree.
	leaves []topology.Node
}

// past is a forecast of a player: the RTT, the deviation of an address, and that of the mean of the
// part. The deviation of an address is 0 if there is no forecast.
type past struct{ ms, sd, meanSD float32 }

// tried counts tests of forecasts.
type tried struct{ held, failed int32 }

func (t tried) any() bool       { return t.held+t.failed > 0 }
func (t tried) isRefuted() bool { return t.failed > t.held }

const (
	// doubtWeight is how many forecasts count as right before any was tested.
	doubtWeight = 6
	// outlyingPast bounds an error, in standard deviations: one changed route does not refute the
	// others.
	outlyingPast = 3
	// disbelieved is the factor of the errors from which a level's forecasts are not used.
	disbelieved = 2.5
)

func (r *predictor) recalling(forecasts [][]memory.Forecast) {
	r.recall.doubts, r.recall.failed = make([][topology.Levels]mean, r.players), make([]mean, r.players)
	r.recall.deepest, r.recall.ages = make([]topology.Level, r.players), make([]mean, r.players)
	var nodes []topology.Node
	for player, of := range forecasts {
		for _, f := range of {
			i := r.grow(f.Node)
			r.recall.past[i+player] = past{float32(f.MS), float32(f.SD), float32(f.Error)}
			r.recall.ages[player].add(float64(f.Age) / float64(halfTrusted))
			nodes, r.recall.isVague = append(nodes, f.Node), f.IsVague
			r.recall.deepest[player] = max(r.recall.deepest[player], r.tree.Level(f.Node))
		}
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	for i, node := range nodes {
		if i+1 == len(nodes) || nodes[i+1] >= r.tree.End(node) {
			r.recall.leaves = append(r.recall.leaves, node)
		}
	}
}

// doubt returns the factor by which forecasts of a level are farther off than they say.
func (r *recall) doubt(player int, l topology.Level) float64 {
	d := r.doubts[player][l]
	return math.Sqrt((float64(d.sum) + doubtWeight) / (float64(d.n) + doubtWeight))
}

// forecast returns a player's forecast for the deepest believed part on a line: for an address in it, or
// for the mean of a part. Where the forecasts for a network failed, only those for its country count.
func (r *recall) forecast(player int, forecast line, isMean bool) (ms, off float64, known bool) {
	if len(r.doubts) == 0 {
		return 0, 0, false
	}
	for l := topology.Prefix24; l >= topology.Country; l-- {
		i := forecast[l]
		if i < 0 || l > topology.Country && r.isRefuted(player, forecast, l) {
			continue
		}
		p := r.past[int(i)+player]
		if doubt := r.doubt(player, l); p.sd > 0 && doubt < disbelieved {
			sd := p.sd
			if isMean && l == topology.Prefix24 {
				sd = p.meanSD
			}
			return float64(p.ms), float64(sd) * doubt, true
		}
	}
	return 0, 0, false
}

// before returns what is remembered of a line's /24, whatever tonight's tests say.
func (r *recall) before(player int, on line) (ms, off float64, known bool) {
	i := on[topology.Prefix24]
	if len(r.doubts) == 0 || i < 0 {
		return 0, 0, false
	}
	p := r.past[int(i)+player]
	return float64(p.ms), float64(p.sd), p.sd > 0
}

// isRefuted reports whether most of the tests on a level of a line failed, or in the whole AS: routes
// change by AS.
func (r *recall) isRefuted(player int, on line, l topology.Level) bool {
	as := on[topology.AS]
	return r.tried[int(on[l])+player].isRefuted() || as >= 0 && r.tried[int(as)+player].isRefuted()
}

// test holds a player's first RTT to an address against the forecasts, in ms.
func (r *recall) test(player int, on line, ms float64) {
	if len(r.doubts) == 0 {
		return
	}
	var inAS tried
	if as := on[topology.AS]; as >= 0 {
		inAS = r.tried[int(as)+player]
	}
	isTested, failed := false, false // of the deepest part
	for l := topology.Country; l <= topology.Prefix24; l++ {
		if i := on[l]; i >= 0 {
			if p := r.past[int(i)+player]; p.sd > 0 {
				apart := math.Abs(ms - float64(p.ms))
				if l == topology.Country || !inAS.isRefuted() { // else it is no longer used
					off := min(apart/float64(p.sd), outlyingPast)
					r.doubts[player][l].add(off * off)
				}
				sd := float64(p.sd)
				if r.deepest[player] < topology.Prefix24 {
					sd = min(sd, priorError[topology.AS])
				}
				if r.isVague {
					r.past[int(i)+player].sd = 0
					continue
				}
				isTested, failed = true, apart > max(failsSD*sd, failsBy+failsShare*ms)
			}
		}
	}
	if !isTested {
		return
	}
	share := 0.0
	if failed {
		share = 1
	}
	if !inAS.isRefuted() {
		r.failed[player].add(share)
	}
	if !inAS.any() && r.tells(player, on) {
		r.ways.add(share)
	}
	for l := topology.Country; l <= topology.Prefix24; l++ {
		if i := on[l]; i >= 0 {
			if t := &r.tried[int(i)+player]; failed {
				t.failed++
			} else {
				t.held++
			}
		}
	}
}

// tells reports whether a player remembers the AS on a line, or a part of it.
func (r *recall) tells(player int, on line) bool {
	for l := topology.AS; l <= topology.Prefix24; l++ {
		if on[l] >= 0 && r.past[int(on[l])+player].sd > 0 {
			return true
		}
	}
	return false
}

const (
	// A way to an AS has moved with the chance movedSoon after days, and with movedLate more after years,
	// before any was tested. That counts like movedTests tests, and what all tests say like movedHere of the
	// player's tests in the country: a cable moves whole countries. Tuned (bench/experiments/memory.md).
	movedSoon, movedLate, movedTests, movedHere = 0.02, 0.3, 20, 4
)

// moved returns the chance that a player's way on a line is not the remembered one.
func (r *recall) moved(player int, on line) float64 {
	before := movedSoon - movedLate*math.Expm1(-r.ages[player].value())
	chance := (before*movedTests + float64(r.ways.sum)) / (movedTests + float64(r.ways.n))
	country := on[topology.Country]
	if country < 0 {
		return chance
	}
	here := r.tried[int(country)+player]
	return (chance*movedHere + float64(here.failed)) / float64(movedHere+here.held+here.failed)
}

const (
	// These are the options of a search whose forecasts come true.
	rememberedBatch, rememberedBudget, rememberedAhead = 20, 120, 8
	// A forecast fails if it is off by more than failsSD standard deviations, and by more than failsBy
	// ms and failsShare of the RTT. Where at most trustedShare of a player's forecasts fail, the search
	// needs no more questions. Where doubtedShare fail, they are worth no more than labels. Before any
	// was tested, heldBefore count as right. Tuned (bench/experiments/memory.md).
	//
	// Players without any forecast for a /24 know only what others in their network measured, not where
	// the best parts are. So a vague forecast of theirs fails like a prediction from a relative in the AS:
	// it saves no more questions than that.
	failsSD, failsBy, failsShare, trustedShare, doubtedShare, heldBefore = 2.5, 8, 0.05, 0.03, 0.6, 8
)

// surveyedTrust is the trust below which the search asks about every country, as without a memory.
const surveyedTrust = 0.7

// trusting returns the options of a round that relies on forecasts so far.
func (o Options) trusting(trust float64) Options {
	less := func(remembered, usual int) int {
		return usual - int(math.Round(trust*float64(max(0, usual-remembered))))
	}
	o.Batch, o.Budget = less(rememberedBatch, o.Batch), less(rememberedBudget, o.Budget)
	o.Ahead = less(rememberedAhead, o.Ahead)
	return o
}

// Ahead is how many questions a player should have left when the next round begins.
func (p *Planner) Ahead() int { return p.options.trusting(p.trust()).Ahead }

// trust is how far the search relies on forecasts, from 0 to 1. Where extras decide it does not: a
// player's own best has to be found, and is nearer than forecasts for networks tell. Neither does a
// search that has used up the few questions of one that relies on them, and has no server yet.
func (p *Planner) trust() float64 {
	if p.estimator.objective.Sacrifices() || p.estimator.incumbent == nil && p.questions.longest() >= rememberedBudget {
		return 0
	}
	return p.estimator.predictor.recall.trust()
}

func (r *recall) isEmpty() bool { return len(r.doubts) == 0 }

// newcomerTrust is the most trust in the forecasts of a group in which a player has none: where that
// player is near, nobody knows. Tuned (bench/experiments/memory.md).
const newcomerTrust = 0.5

// halfTrusted is the age at which a memory is trusted half at most, however well its forecasts hold: a
// way that has become shorter meanwhile fails no test, because nobody asks. Tuned
// (bench/experiments/memory.md).
const halfTrusted = 2 * 365 * 24 * time.Hour

// trust is how well forecasts hold, from 0 to 1: the mean of the players'. Without any it is 0.
func (r *recall) trust() float64 {
	if len(r.doubts) == 0 {
		return 0
	}
	trust, most := 0.0, 1.0
	for player, m := range r.failed {
		if r.isVague || r.deepest[player] < topology.Country {
			most = newcomerTrust
			continue
		}
		share := float64(m.sum) / (float64(m.n) + heldBefore)
		age := r.ages[player].value()
		trust += min(1-age*age/2, max(0, (doubtedShare-share)/(doubtedShare-trustedShare)))
	}
	return min(most, trust/float64(len(r.failed)))
}

// remembered adds to the observations what is only remembered: the deepest parts of the tree in
// which nobody has measured anything. Both are in the order of the tree. It also returns the scores
// of all these parts.
func (e *estimator) remembered(observations []observation) (all []observation, imagined []valued) {
	r := e.predictor
	if len(r.recall.leaves) == 0 {
		return observations, nil
	}
	for _, leaf := range r.recall.leaves {
		end := e.candidates.tree.End(leaf)
		for len(observations) > 0 && observations[0].at < leaf {
			all, observations = append(all, observations[0]), observations[1:]
		}
		c, known := e.imagine(leaf)
		if !known {
			continue
		}
		isNew := len(observations) == 0 || observations[0].at >= end
		if isNew || !r.recall.isVague {
			imagined = append(imagined, valued{leaf, c.score})
		}
		if isNew {
			ms, off := e.figure(&c)
			off = (off + noise) / max(ms-e.base, minAbove)
			all = append(all, observation{leaf, e.value(ms), off * off, r.recall.isVague})
		}
	}
	return append(all, observations...), imagined
}

// imagine judges a node by forecasts and predictions alone, if each player has one that is better
// than the mean of the list.
func (e *estimator) imagine(node topology.Node) (c candidate, known bool) {
	on := e.predictor.line(node)
	for player := range e.nothing {
		if _, _, known := e.predictor.recall.forecast(player, on, false); known {
			continue
		}
		if _, l, _ := e.predictor.nearestOn(player, on); l < topology.Country {
			return candidate{}, false
		}
	}
	c = candidate{at: node, server: -1, rtts: e.nothing, missing: len(e.nothing)}
	e.judge(&c)
	return c, true
}
