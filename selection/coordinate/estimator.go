package coordinate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"muster/discovery/plan/topology"
	"muster/selection"
)

// estimator scores the candidates by measured and predicted RTTs, and finds the incumbent, the best
// of them.
type estimator struct {
	candidates *candidates
	predictor  *predictor
	objective  *selection.Objective
	guests     []Guest
	limits     []float64 // ms, the strictest first

	// best is the score of the incumbent, which is nil before there is one.
	incumbent *candidate
	best      float64
	// lowest is the lowest score of any candidate, suitable or not. level is how many limits that
	// candidate breaks.
	lowest float64
	level  int
	// climbs says that this round looks for servers that keep the next stricter limit, and that the
	// figure is the highest RTT. Otherwise the figure is the acquisition value.
	climbs bool
	// owns says that this round looks for servers nearer to a player than that player's own best, see own.go.
	// The figure is then how far the RTTs miss that. own are the players' own bests in ms. slack is how far
	// below them an undiscovered server may be without harm.
	owns       bool
	own, slack []float64
	// base is the zero point of values, see value.
	base float64
	// scratch is reused by judge, which runs often.
	scratch []float64
	// players is reused by guested, likewise.
	players []time.Duration
	// nothing are the RTTs of an address that nobody has measured.
	nothing []float64
}

const (
	// none is a score, in ms, that is worse than any other.
	none = 1e9
	// overLimit is the cost of a broken limit in a score, in ms. It exceeds any gain in RTT, even a
	// weighted one.
	overLimit = 1e6
	// stricter is what an acquisition value gains, in ms, from a limit stricter than the
	// incumbent's. Where a prediction may keep the limit or break it, much more would drown what is
	// known.
	stricter = 1000
	// overBy weighs how far the RTT is over the limit in an acquisition value, because the
	// neighbours may keep the limit.
	overBy = 1.5
	// noise is the error of one packet pair, in ms.
	noise = 1.0
	// A server can beat the best by at most betterBy ms plus betterShare of the best score. For a
	// deviation the share is fairerShare, because half of the best so far is possible. A value
	// counts at least minAbove ms over the base.
	betterBy, betterShare, fairerShare, minAbove = 3.0, 0.03, 0.25, 0.5
	// ownWay is the share of a prediction's error that is the player's own. The rest is common to
	// all who take the way to the same server, and does not change a deviation.
	ownWay = 0.5
)

func newEstimator(c *candidates, r *predictor, objective *selection.Objective, guests []Guest) *estimator {
	e := &estimator{
		candidates: c, predictor: r, objective: objective, guests: guests, best: none, lowest: none,
		nothing: make([]float64, r.players),
	}
	for _, limit := range objective.Limits() {
		e.limits = append(e.limits, milliseconds(limit))
	}
	return e
}

// measured notes a player's RTT to a candidate, in ms.
func (e *estimator) measured(c *candidate, player int, ms float64) {
	switch before := c.rtts[player]; {
	case before == 0:
		e.predictor.add(player, c.at, ms)
		c.rtts[player] = ms
		c.missing--
	case ms < before:
		e.corrected(c, player, ms)
	}
}

// corrected replaces a player's RTT to a candidate, in ms.
func (e *estimator) corrected(c *candidate, player int, ms float64) {
	e.predictor.correct(player, c.at, c.rtts[player]-ms)
	c.rtts[player] = ms
}

// value is the logarithm of the distance between a score, or the round's other figure, and a base
// that is a little better than the target. score is its inverse.
func (e *estimator) value(score float64) float64 { return math.Log(max(score-e.base, minAbove)) }
func (e *estimator) score(value float64) float64 { return e.base + math.Exp(value) }

// margin returns by how many ms a server could beat the target.
func (e *estimator) margin(target float64) float64 {
	if e.owns { // an own best may well be half of the present one, too
		return betterBy + fairerShare*slices.Max(e.own)
	}
	if e.objective.Deviates() && !e.climbs {
		return betterBy + fairerShare*within(target)
	}
	return betterBy + betterShare*within(target)
}

// next returns the next stricter limit, in ms. A server that keeps it beats the best one whatever
// its score. Don't call next if the best server keeps the strictest limit.
func (e *estimator) next() float64 { return e.limits[e.level-1] }

// target is the bound that the round's figure must stay under.
func (e *estimator) target() float64 {
	switch {
	case e.climbs:
		return e.next()
	case e.owns:
		return 0
	case e.incumbent == nil:
		return e.lowest
	}
	return e.best
}

// figure returns a candidate's figure, which the round wants as low as possible, and its error.
// figureOf returns the figure of RTTs.
func (e *estimator) figure(c *candidate) (ms, off float64) {
	if e.climbs {
		return c.worst, c.worstOff
	}
	if e.owns {
		return c.nearer, c.nearerOff
	}
	return c.value, c.off
}

func (e *estimator) figureOf(rtts []float64) float64 {
	if e.climbs {
		return highest(rtts)
	}
	if e.owns {
		return e.nearer(rtts)
	}
	return e.acquisition(rtts)
}

// within returns a score without the cost of broken limits, in ms.
func within(score float64) float64 { return math.Mod(score, overLimit) }

// broken counts the limits that an RTT breaks.
func (e *estimator) broken(worst float64) int {
	n, _ := slices.BinarySearch(e.limits, worst)
	return n
}

// total returns the number that orders servers. It includes the limits.
func (e *estimator) total(rtts []float64) float64 {
	return e.objective.Order(rtts, 1) + overLimit*float64(e.broken(highest(rtts)))
}

// acquisition returns what RTTs say of a server's neighbours: the score, but smooth around the
// limit that the best keeps.
func (e *estimator) acquisition(rtts []float64) float64 {
	score := e.objective.Order(rtts, 1)
	if len(e.limits) == 0 {
		return score
	}
	worst := highest(rtts)
	kept := e.level - min(e.level, e.broken(worst))
	return score + overLimit*float64(e.level) - stricter*float64(kept) + overBy*max(0, worst-e.limits[min(e.level, len(e.limits)-1)])
}

func highest(rtts []float64) float64 {
	highest := 0.0
	for _, ms := range rtts {
		highest = max(highest, ms)
	}
	return highest
}

// Now and then a packet pair meets a full queue. With sixteen players one candidate in five has
// such an RTT. It hides how near the candidate and its neighbours are.
const (
	// A suspect RTT is higher than its relatives predict by suspectSD standard deviations, and by
	// at least suspectBy ms.
	suspectSD, suspectBy = 3.3, 15.0
	// overEdge is how many ms an RTT may be over a limit that another packet may keep.
	overEdge = 2
	// minLow is the lowest RTT, in ms, that a prediction's error may lead to.
	minLow = 1
)

// judge updates a candidate's score. Missing RTTs are predicted. The score's error is then that of
// predictions that all err the same way. For a deviation each errs in its own.
func (e *estimator) judge(c *candidate) {
	c.suspects = c.suspects[:0]
	n := len(c.rtts) + len(e.guests)
	e.scratch = slices.Grow(e.scratch[:0], 5*n)
	all, on := e.scratch[:5*n], e.predictor.line(c.at)
	strays := e.predictor.strays(on)
	measured, low, middle, high, errors := all[:n], all[n:2*n], all[2*n:3*n], all[3*n:4*n], all[4*n:]
	for player, ms := range c.rtts {
		off := 0.0
		if ms == 0 {
			ms, off = e.predictor.predict(player, e.predictor.believed(player, on, strays), e.candidates.tree.Level(c.at) < topology.Address)
			measured[player] = ms
		} else {
			measured[player] = ms
			if likely, o, known := e.predictor.without(player, on, ms); known && ms > likely+max(suspectBy, suspectSD*o) {
				ms, off = likely, o
				c.suspects = append(c.suspects, player)
			}
		}
		low[player], middle[player], high[player], errors[player] = max(minLow, ms-off), ms, ms+off, off
	}
	if players := len(c.rtts); len(e.guests) > 0 {
		for _, rtts := range [][]float64{measured, low, middle, high} {
			e.guested(rtts[:players], c.at)
		}
		for g := players; g < n; g++ {
			errors[g] = (high[g] - low[g]) / 2
		}
	}
	c.worst = highest(middle)
	c.worstOff = max(highest(high)-c.worst, c.worst-highest(low))
	c.score, c.bound, c.value = e.total(measured), e.total(middle), e.acquisition(middle)
	c.luck = e.total(low)
	if allowed := e.candidates.allowance(c); allowed > 0 { // the neighbours of the group's own server do not belong to the group
		c.score, c.bound = preferred(c.score, allowed), preferred(c.bound, allowed)
	}
	if e.objective.Deviates() {
		e.shiftApart(low, middle, high, errors)
		c.score = max(c.score, c.bound) // an RTT held up by a queue may make it look fairer than it is
	}
	c.off = max(math.Abs(e.acquisition(high)-c.value), math.Abs(e.acquisition(low)-c.value))
	if e.owns {
		c.nearer = e.nearer(middle)
		c.nearerOff = max(e.nearer(high)-c.nearer, c.nearer-e.nearer(low))
	}
}

// preferred returns the score that a server of the group's own competes with: lower by its
// allowance, but at least 0, because nothing can be better. Which of the group's own is best is
// decided later, by the choice.
func preferred(score, allowed float64) float64 {
	ms := within(score)
	return score - ms + max(0, ms-allowed)
}

// guested appends the guests' RTTs to the players' RTTs to a node.
func (e *estimator) guested(rtts []float64, at topology.Node) []float64 {
	if len(e.guests) == 0 {
		return rtts
	}
	tree := e.candidates.tree
	country := tree.List()[tree.Servers(at)[0]].Country
	e.players = e.players[:0]
	for _, ms := range rtts {
		e.players = append(e.players, duration(ms))
	}
	for _, g := range e.guests {
		rtts = append(rtts, milliseconds(g.RTT(country, e.players)))
	}
	return rtts
}

// shiftApart moves RTTs in low so that the score falls, and in high so that it grows. To the first order,
// the shift changes a deviation by the standard deviation that the errors give it.
func (e *estimator) shiftApart(low, middle, high, errors []float64) {
	norm, lean := 0.0, e.objective.Lean(middle)
	for player := range middle {
		norm += math.Pow(errors[player]*lean[player], 2)
	}
	if norm == 0 {
		return
	}
	down := 1.0 // no score falls below 0
	if fall := ownWay * math.Sqrt(norm); e.objective.IsLinear() && fall > 0 {
		down = min(1, e.objective.Score(middle)/fall)
	}
	for player, ms := range middle {
		by := ownWay * errors[player] * errors[player] * lean[player] / math.Sqrt(norm)
		low[player], high[player] = max(minLow, ms-down*by), max(minLow, ms+by)
	}
}

// limit takes the limit that the rule sets itself, if the group has none. It follows the candidates
// that suit.
func (e *estimator) limit() {
	if !e.objective.LimitsItself() {
		return
	}
	lowest := math.Inf(1)
	for _, c := range e.candidates.all {
		if e.candidates.suits(c) {
			lowest = min(lowest, highest(e.guested(slices.Clip(c.rtts), c.at)))
		}
	}
	if !math.IsInf(lowest, 1) {
		e.limits = append(e.limits[:0], e.objective.Limit(lowest, 1))
	}
}

// update judges all candidates, and finds the incumbent and the base.
func (e *estimator) update() {
	e.candidates.sort()
	e.incumbent, e.best, e.lowest = nil, none, none
	e.limit()
	e.findOwn()
	for _, c := range e.candidates.all {
		if c.hasResults() {
			e.judge(c)
		}
		if !c.whole() {
			continue
		}
		e.lowest = min(e.lowest, c.score)
		if e.candidates.suits(c) && c.score < e.best {
			e.best, e.incumbent = c.score, c
		}
	}
	e.lowest = min(e.best, e.lowest)
	if e.lowest == none { // nothing but forecasts can say yet what is low
		for _, leaf := range e.predictor.recall.leaves {
			if c, known := e.imagine(leaf); known {
				e.lowest = min(e.lowest, c.score)
			}
		}
	}
	level := min(int(e.lowest/overLimit), len(e.limits))
	if e.lowest < none && level != e.level {
		e.level = level
		for _, c := range e.candidates.all {
			e.judge(c)
		}
	}
	e.climbs = e.climbs && e.level > 0
	e.findSlack()
	if e.owns = e.owns && e.incumbent != nil; e.owns {
		for _, c := range e.candidates.all {
			if c.hasResults() {
				e.judge(c)
			}
		}
		e.base = -e.margin(0)
		return
	}
	e.base = e.lowest - e.margin(e.lowest)
	if e.climbs {
		e.base = e.next() - e.margin(e.next())
	}
}

// hopeful reports whether a candidate that one player measured may be better than the best.
func (e *estimator) hopeful(c *candidate) bool {
	return c.value-hopeless*(c.off+noise) < e.best+e.margin(e.best) ||
		e.level > 0 && c.worst-hopelessClimb*(c.worstOff+noise) < e.next()
}

// isBegun reports whether some candidate is only partly measured and may well beat the best by a
// number of ms. Players who want few questions are not waited for.
func (e *estimator) isBegun(by float64, few map[int]int) bool {
	return slices.ContainsFunc(e.candidates.all, func(c *candidate) bool {
		if !c.hasResults() || !c.isWanted && !c.explored || c.server < 0 || e.candidates.unknown(c.server) {
			return false
		}
		missing := false
		for player, ms := range c.rtts {
			_, is := few[player]
			missing = missing || ms == 0 && !is
		}
		return missing && e.promising(c, by)
	})
}

// awaits reports whether a candidate may well be the best and lacks only answers that are under
// way.
func (e *estimator) awaits() bool {
	return slices.ContainsFunc(e.candidates.all, func(c *candidate) bool {
		return c.hasResults() && !c.whole() && c.server >= 0 && e.candidates.questions.awaited(c) && e.promising(c, 0)
	})
}

// promising reports whether a candidate would beat the best by so many ms if its RTTs are as low as
// one in six is.
func (e *estimator) promising(c *candidate, by float64) bool {
	return e.candidates.usable(c.server) && c.value-c.off-noise < e.best-by
}

// ranked returns the wanted candidates, the lowest figure first.
func (e *estimator) ranked(figure func(c *candidate) float64, wanted func(c *candidate) bool) []*candidate {
	var ranked []*candidate
	for _, c := range e.candidates.all {
		if wanted(c) {
			ranked = append(ranked, c)
		}
	}
	slices.SortFunc(ranked, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(figure(a), figure(b)), cmp.Compare(a.server, b.server))
	})
	return ranked
}

// hidden returns at most n candidates that may beat the incumbent. Either suspect RTTs would have
// to be as low as one in six, which their relatives allow, or RTTs just over a limit as low as
// packets go.
func (e *estimator) hidden(n int) []*candidate {
	hidden := e.ranked(func(c *candidate) float64 { return c.luck }, func(c *candidate) bool {
		suspect := len(c.suspects) > 0 && c.luck < e.best
		return (suspect || e.broken(c.worst-overEdge) < int(e.best/overLimit)) && e.candidates.suits(c)
	})
	return hidden[:min(n, len(hidden))]
}

// At most one in hiddenShare of the leaders is hidden.
const hiddenShare = 3

// leaders returns the best candidates that suit, at most n, and hidden ones.
func (e *estimator) leaders(n int) []*candidate {
	leaders := e.ranked(func(c *candidate) float64 { return c.score }, e.candidates.suits)
	hidden := e.hidden(n / hiddenShare)
	leaders = leaders[:min(n-len(hidden), len(leaders))]
	for _, c := range hidden {
		if !slices.Contains(leaders, c) {
			leaders = append(leaders, c)
		}
	}
	return leaders
}

// valued is a node and its value.
type valued struct {
	at    topology.Node
	value float64
}

// sortValued puts the best first.
func sortValued(all []valued) {
	slices.SortFunc(all, func(a, b valued) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.at, b.at))
	})
}
