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
	// Probes is how many servers the players were asked for on average.
	Probes float64
	Rounds int
	// Done: the bound is not worth asking on, or there is nothing to ask.
	Done bool
}

const (
	// confidence is the share of samples that are within the regret bound.
	confidence = 0.95
	// memory is how many of the last bold samples count: those of six rounds.
	memory = 6 * samples / boldEvery
	// leastRounds are made in any case, and as many as coldRounds if nobody had
	// measured anything before.
	leastRounds, coldRounds = 3, 8
	// mostRounds are made, unless the budget is to be spent.
	mostRounds = 20
	// lately is how many rounds must have gained little at the end.
	lately = 5
)

// noteGain notes how much better than the incumbent a sample's best server was: as
// scores go, not counting limits. It may not suit, but nobody knows that yet.
func (p *Planner) noteGain(found []valued) {
	gain := 0.0
	if len(found) > 0 {
		gain = min(max(0, p.estimator.best-p.estimator.score(found[0].value)), within(p.estimator.best))
	}
	p.gains = append(p.gains, gain)
	p.gains = p.gains[max(0, len(p.gains)-memory):]
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
	sampled := 0.0
	if n := len(p.gains); n > 0 {
		sampled = slices.Sorted(slices.Values(p.gains))[min(n-1, int(confidence*float64(n)))]
	}
	// what was gained of late, a stricter limit kept being no number of ms
	gained := 0.0
	if last := p.history[max(0, len(p.history)-1-lately):]; len(last) > 0 && last[0] != none {
		gained = min(last[0]-e.best, within(e.best))
	}
	bound := duration(max(sampled, gained))
	o.RegretBound = max(bound, duration(noise))
	known := min(1, float64(p.before)/float64(p.options.Budget))
	patience := max(leastRounds, int(math.Round(coldRounds*(1-known))))
	settled := o.Best >= 0 && p.round >= patience && len(p.gains) == memory && max(bound, duration(p.detourGain)) <= p.options.Enough
	o.Done = p.spent || settled || p.round >= mostRounds && p.options.Enough > 0
	return o
}

// Hidden are servers, n at most, that everybody measured and that suit, and that may
// be better than all others if an RTT of theirs is not what it seems. Before a choice
// stands they should be probed again, as should the best.
func (p *Planner) Hidden(n int) []int {
	p.estimator.update() // the last answers came after the last round
	var servers []int
	for _, c := range p.estimator.hidden(n) {
		servers = append(servers, c.server)
	}
	return servers
}
