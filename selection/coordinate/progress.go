package coordinate

import (
	"math"
	"slices"
	"time"
)

// Progress is how far the search has come.
type Progress struct {
	// Best is the best server that everybody measured and that suits, -1 before
	// there is one, and Score what the rule makes of it, in ms.
	Best  int
	Score float64
	// RegretBound is how much better a server may yet be found: 95 % of the posterior
	// samples had none better. As those are the planner's own idea, it is at least
	// what the last rounds gained. It is an estimate, no proof.
	RegretBound time.Duration
	// Own is by how much more somebody gives up at Best than Score says, if extras decide
	// and a player's own best was missed; 0 if that is not likely. RegretBound counts it in.
	Own time.Duration
	// Reach is a limit stricter than what Best keeps that a server may yet be found to
	// keep for everybody; 0 if that is unlikely. RegretBound is of servers that do not.
	Reach time.Duration
	// Probes is how many servers the players were asked for on average.
	Probes float64
	Rounds int
	// Done: the bound is not worth asking on, or there is nothing to ask, and no answer
	// that is still out may make another server the best.
	Done bool
}

const (
	// confidence is the share of samples that are within the regret bound.
	confidence = 0.95
	// memory is how many of the last bold samples count: those of six rounds.
	memory = 6 * samples / boldEvery
	// leastBound is the least that is claimed, in ms: two RTTs that are compared are one
	// packet pair each, and so each off by noise.
	leastBound = 2 * noise
	// leastRounds are made in any case, and as many as coldRounds if nobody had
	// measured anything before, or fairRounds if a deviation is looked for, of which less
	// can be told from relatives.
	leastRounds, coldRounds, fairRounds = 3, 8, 12
	// mostRounds are made, unless the budget is to be spent.
	mostRounds = 20
	// lately is how many rounds must have gained little at the end.
	lately = 5
	// Of climbEvery rounds one looks for what keeps the next stricter limit, as long as
	// the best does not, or of climbSeldom if that is unlikely. More would take from the
	// score what may be in vain.
	climbEvery, climbSeldom = 2, 4
)

// outlook is what the last bold samples say of what may yet be found, in ms under the
// target.
type outlook struct {
	gains []float64
	// detour is what countries may gain that some reach by a bad route.
	detour float64
}

// full reports whether there are samples enough.
func (o *outlook) full() bool { return len(o.gains) == memory }

// bound is what most gains are within.
func (o *outlook) bound() float64 {
	n := len(o.gains)
	if n == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(o.gains))[min(n-1, int(confidence*float64(n)))]
}

// hopeless reports whether nothing is likely to be found.
func (o *outlook) hopeless() bool { return o.full() && o.bound() == 0 && o.detour <= 0 }

// outlook is that for what the round looks for.
func (p *Planner) outlook() *outlook {
	if p.estimator.climbs {
		return &p.stricter
	}
	if p.estimator.owns {
		return &p.nearer
	}
	return &p.better
}

// climbs reports whether a round looks for what keeps the next stricter limit.
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

// knowsOwn reports whether there are samples enough of nearer own bests: half of those
// that the score takes, as such rounds are fewer.
func (p *Planner) knowsOwn() bool { return len(p.nearer.gains) >= memory/2 }

// noteOwn keeps the own bests of a round.
func (p *Planner) noteOwn() {
	if p.estimator.objective.Sacrifices() {
		p.ownsThen = append(p.ownsThen, p.estimator.own)
	}
}

// missed is how much more somebody may give up at the incumbent, in ms, as an own best
// was missed: what most samples stay under, and at least what the last rounds found.
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

// noteLevel forgets what was thought of servers that keep as few limits as the best did
// before.
func (p *Planner) noteLevel() {
	if p.level != p.estimator.level {
		p.level, p.better, p.stricter, p.history = p.estimator.level, outlook{}, outlook{}, nil
	}
}

// noteGain notes how far under the target a sample's best server was, which has the
// lowest value. It may not suit, but nobody knows that yet.
func (p *Planner) noteGain(lowest float64) {
	target := p.estimator.target()
	most := within(target)
	if p.estimator.owns { // nobody's own best is lower than nothing
		most = slices.Max(p.estimator.own)
	}
	gain := min(max(0, target-p.estimator.score(lowest)), most)
	o := p.outlook()
	o.gains = append(o.gains, gain)
	o.gains = o.gains[max(0, len(o.gains)-memory):]
}

// Progress is how far the search has come.
func (p *Planner) Progress() Progress {
	e := p.estimator
	if e.incumbent != nil && !p.candidates.suits(e.incumbent) {
		e.update() // it filled up since
	}
	o := Progress{Best: -1, Rounds: p.round}
	for _, a := range p.questions {
		o.Probes += float64(a.load) / float64(len(p.questions))
	}
	if e.incumbent != nil {
		o.Best, o.Score = e.incumbent.server, e.best
	}
	// what was gained of late: a stricter limit kept is no number of ms
	gained := 0.0
	if last := p.history[max(0, len(p.history)-1-lately):]; len(last) > 0 && last[0] != none {
		gained = min(last[0]-e.best, within(e.best))
	}
	bound := duration(max(p.better.bound(), gained) + p.missed())
	o.RegretBound, o.Own = max(bound, duration(leastBound)), duration(p.missed())
	known, cold := min(1, float64(p.before)/float64(p.options.Budget)), float64(coldRounds)
	if e.objective.Deviates() {
		cold = fairRounds
	}
	patience := max(leastRounds, int(math.Round(cold*(1-known))))
	settled := o.Best >= 0 && p.round >= patience && p.better.full() && (p.knowsOwn() || !e.objective.Sacrifices()) &&
		max(bound, duration(p.better.detour)) <= p.options.Enough
	if settled {
		e.update() // the last answers came after the last round
		settled = !e.begun(milliseconds(p.options.Enough), p.options.Few)
	}
	if e.level > 0 && !p.stricter.hopeless() {
		o.Reach, settled = duration(e.next()), false
	}
	spent := p.spent
	if spent && p.questions.waiting() > 0 {
		e.update() // the last answers came after the last round
		spent = !e.awaits()
	}
	o.Done = spent || settled || p.round >= mostRounds && p.options.Enough > 0
	return o
}

// Untried are servers that are likely better than the best for all, as far as the RTTs of
// those can be told who are asked for few only and have not measured them: all others have.
// The best come first, n at most.
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

// isForFew reports whether a candidate is one for those who are asked for few only: all
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

// Hidden are servers, n at most, that everybody measured and that suit, and that may
// be better than all others if an RTT of theirs is not what it seems: first the best, if
// there is one, as RTTs to other servers on its address count for it, too. Before a
// choice stands they should be probed again.
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
