package coordinate

import (
	"math"
	"slices"
	"time"
)

// Progress is the state of the search.
type Progress struct {
	// Best is the best server that everybody measured and that suits, -1 before there is one. Score
	// is the figure by which the rule orders it, in ms: mostly its score.
	Best  int
	Score float64
	// RegretBound is how much better a server may yet be found: two thirds of the gain that 95 % of
	// the posterior samples stay under. Those are the planner's own model, so the bound is at least
	// what the last rounds gained. It is an estimate, no proof.
	RegretBound time.Duration
	// Own is how much more than Score somebody may give up at Best, if extras decide and a player's
	// own best was missed. It is 0 if that is unlikely. RegretBound includes it.
	Own time.Duration
	// Reach is a limit stricter than those that Best keeps, if a server may yet be found that keeps
	// it for everybody. It is 0 if that is unlikely. RegretBound excludes such servers.
	Reach time.Duration
	// Probes is how many servers the players were asked for on average.
	Probes float64
	Rounds int
	// Done says that the bound is not worth more questions, or that there is nothing to ask, and
	// that no answer still under way may make another server the best.
	Done bool
}

const (
	// confidence is the share of samples within the regret bound.
	confidence = 0.95
	// foundShare is the share of the gains of bold samples that a search tells of: most of those
	// servers are asked for in the next round, and turn out to be farther. Where deviations or extras
	// decide, or a memory saves questions, it tells of all. Tuned so that at most one claim of 20 is too low
	// (bench/experiments/group-search.md).
	foundShare = 2.0 / 3
	// window is how many of the last bold samples count: those of six rounds.
	window = 6 * samples / boldEvery
	// minBound is the smallest bound ever claimed, in ms: a comparison takes two RTTs of one
	// packet pair each, and both are off by noise.
	minBound = 2 * noise
	// minRounds are made in any case. The number is coldRounds if nobody had measured anything
	// before, or fairRounds if the rule looks for a deviation, because relatives say less of that.
	minRounds, coldRounds, fairRounds = 3, 8, 12
	// maxRounds is the most rounds, unless the whole budget should be spent.
	maxRounds = 20
	// lately is how many last rounds must have gained little.
	lately = 5
	// One round in climbEvery looks for servers that keep the next stricter limit while the best
	// does not, or one in climbSeldom if that is unlikely. More such rounds could be wasted and
	// cost score.
	climbEvery, climbSeldom = 2, 4
)

// forecast is what the last bold samples say may yet be found, in ms under the target.
type forecast struct {
	gains []float64
	// detour is the most that countries may gain if bad routes to them are corrected.
	detour float64
}

// full reports whether there are enough samples.
func (o *forecast) full() bool { return len(o.gains) == window }

// bound returns the limit that most gains stay within.
func (o *forecast) bound() float64 {
	n := len(o.gains)
	if n == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(o.gains))[min(n-1, int(confidence*float64(n)))]
}

// hopeless reports whether nothing is likely to be found.
func (o *forecast) hopeless() bool { return o.full() && o.bound() == 0 && o.detour <= 0 }

// currentForecast returns the forecast that belongs to the round's kind.
func (p *Planner) currentForecast() *forecast {
	if p.estimator.climbs {
		return &p.stricter
	}
	if p.estimator.owns {
		return &p.nearer
	}
	return &p.better
}

// climbs reports whether a round looks for servers that keep the next stricter limit.
func (p *Planner) climbs() bool {
	if p.estimator.level == 0 {
		return false
	}
	if p.stricter.hopeless() {
		return p.round%climbSeldom == 0
	}
	return p.round%climbEvery == 0
}

// owns reports whether a round looks for nearer own bests.
func (p *Planner) owns() bool {
	if p.estimator.climbs || !p.estimator.objective.Sacrifices() {
		return false
	}
	if p.knowsOwn() && p.nearer.bound() == 0 {
		return p.round%ownSeldom == 1
	}
	return p.round%ownEvery == 1
}

// knowsOwn reports whether there are enough samples of nearer own bests: half as many as for the
// score, because such rounds are fewer.
func (p *Planner) knowsOwn() bool { return len(p.nearer.gains) >= window/2 }

// noteOwn keeps the players' own bests of a round.
func (p *Planner) noteOwn() {
	if p.estimator.objective.Sacrifices() {
		p.ownsThen = append(p.ownsThen, p.estimator.own)
	}
}

// missed returns how much more, in ms, somebody may give up at the incumbent because an own best
// was missed. It is what most samples stay under, and at least what the last rounds found.
func (p *Planner) missed() float64 {
	e := p.estimator
	missed := p.nearer.bound()
	if last := p.ownsThen[max(0, len(p.ownsThen)-1-lately):]; len(last) > 0 {
		for player, slack := range e.slack {
			missed = max(missed, last[0][player]-e.own[player]-slack)
		}
	}
	return missed
}

// noteLevel drops the forecasts once the best keeps another number of limits, because they were
// about servers like the former best.
func (p *Planner) noteLevel() {
	if p.level != p.estimator.level {
		p.level, p.better, p.stricter, p.history = p.estimator.level, forecast{}, forecast{}, nil
	}
}

// noteGain notes how far a sample's best server, the one with the lowest value, is under the
// target. It may not suit, but nobody knows that yet. A remembered way that has become shorter may
// gain more than any server that is like the known ones.
func (p *Planner) noteGain(lowest, shorter float64) {
	target := p.estimator.target()
	most := within(target)
	if p.estimator.owns { // no own best is below 0
		most = slices.Max(p.estimator.own)
	}
	gain := max(min(max(0, target-p.estimator.score(lowest)), most), shorter)
	o := p.currentForecast()
	o.gains = append(o.gains, gain)
	o.gains = o.gains[max(0, len(o.gains)-window):]
}

// Progress returns the state of the search.
func (p *Planner) Progress() Progress {
	e := p.estimator
	if e.incumbent != nil && !p.candidates.suits(e.incumbent) {
		e.update() // the server filled up since
	}
	o := Progress{Best: -1, Rounds: p.round}
	for _, a := range p.questions {
		o.Probes += float64(a.load) / float64(len(p.questions))
	}
	if e.incumbent != nil {
		o.Best, o.Score = e.incumbent.server, e.best
	}
	// the recent gain. A stricter limit is not measured in ms.
	gained := 0.0
	if last := p.history[max(0, len(p.history)-1-lately):]; len(last) > 0 && last[0] != none {
		gained = min(last[0]-e.best, within(e.best))
	}
	bound := duration(max(p.better.bound(), gained) + p.missed())
	known, cold, share := min(1, float64(p.before)/float64(p.options.Budget)), float64(coldRounds), foundShare
	if e.objective.Deviates() {
		cold = fairRounds
	}
	if e.objective.Deviates() || e.objective.Sacrifices() || !e.predictor.recall.isEmpty() {
		share = 1
	}
	o.RegretBound, o.Own = duration(max(share*p.better.bound(), gained, minBound-p.missed())+p.missed()), duration(p.missed())
	patience := max(minRounds, int(math.Round(cold*(1-known))))
	settled := o.Best >= 0 && p.round >= patience && p.better.full() && (p.knowsOwn() || !e.objective.Sacrifices()) &&
		max(bound, duration(p.better.detour)) <= p.options.Enough
	if settled {
		e.update() // the last answers came after the last round
		settled = !e.isBegun(milliseconds(p.options.Enough), p.options.Few)
	}
	if e.level > 0 && !p.stricter.hopeless() {
		o.Reach, settled = duration(e.next()), false
	}
	spent := p.spent
	if spent && p.questions.waiting() > 0 {
		e.update() // the last answers came after the last round
		spent = !e.awaits()
	}
	o.Done = spent || settled || p.round >= maxRounds && p.options.Enough > 0
	return o
}

// Untried returns servers that likely beat the best, judging by predicted RTTs for the players who
// want few questions. Those have not all measured them, and all others have. The best come first,
// at most n.
func (p *Planner) Untried(n int) (servers []int) {
	p.estimator.update()
	untried := p.estimator.ranked(func(c *candidate) float64 { return c.value }, func(c *candidate) bool {
		return c.value < p.estimator.best && slices.Contains(c.rtts, 0) && p.isForFew(c)
	})
	for _, c := range untried[:min(n, len(untried))] {
		servers = append(servers, c.server)
	}
	return servers
}

// isForFew reports whether a candidate may go to the players who want few questions, because all
// others have measured it.
func (p *Planner) isForFew(c *candidate) bool {
	if c.server < 0 || !p.candidates.usable(c.server) {
		return false
	}
	for player, rtt := range c.rtts {
		if _, few := p.options.Few[player]; rtt == 0 && !few {
			return false
		}
	}
	return true
}

// Hidden returns at most n servers to probe again before a choice stands. Everybody measured them,
// they suit, and they may be better than all others if one of their RTTs is not what it seems. The
// best comes first, if there is one, because RTTs to other servers on its address count for it,
// too.
func (p *Planner) Hidden(n int) []int {
	p.estimator.update() // the last answers came after the last round
	var servers []int
	if best := p.estimator.incumbent; best != nil {
		servers = append(servers, best.server)
	}
	for _, c := range p.estimator.hidden(max(0, n-len(servers))) {
		servers = append(servers, c.server)
	}
	return servers
}
