package coordinate

import (
	"cmp"
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
	// Gain is how much better a server may yet be found, at the confidence given:
	// as many of the imagined worlds had none better. As those are the planner's
	// own idea, it is at least what the last rounds gained. It is an estimate, no
	// proof.
	Gain       time.Duration
	Confidence float64
	// Probes is how many servers the players were asked for on average.
	Probes float64
	Rounds int
	// Done: the gain is not worth asking on, or there is nothing to ask.
	Done bool
}

const (
	confidence = 0.95
	// memory is how many of the last bold worlds count.
	memory = 6 * worlds / boldEvery
	// leastRounds are made in any case, and as many as coldRounds if nobody had
	// measured anything before.
	leastRounds, coldRounds = 3, 8
	// mostRounds are made, unless the budget is to be spent.
	mostRounds = 20
	// lately is how many rounds must have gained little at the end.
	lately = 5
	// finalists are kept measured by everybody.
	finalists = 10
	// hiddenShare is which share of the finalists may be doubted.
	hiddenShare = 3
)

// dreamt notes how much better than the best a world's best server was: as scores
// go, not counting limits. It may not suit, but nobody knows that yet.
func (p *Planner) dreamt(guesses []guess) {
	gain := 0.0
	if len(guesses) > 0 {
		gain = min(max(0, p.best-p.score(guesses[0].value)), within(p.best))
	}
	p.gains = append(p.gains, gain)
	p.gains = p.gains[max(0, len(p.gains)-memory):]
}

// Progress tells how far the search has come.
func (p *Planner) Progress() Progress {
	if p.leader >= 0 && !p.suits(p.rows[p.leader]) {
		p.lead() // it filled up since, or somebody came who does not know it
	}
	o := Progress{Best: -1, Confidence: confidence, Rounds: p.round}
	for _, m := range p.members {
		if !m.absent {
			o.Probes += float64(m.load) / float64(p.present())
		}
	}
	if p.leader >= 0 {
		o.Best, o.Score = p.rows[p.leader].server, p.best
	}
	gain := milliseconds(max(p.imaginedGain(), p.lastGain()))
	o.Gain = max(gain, milliseconds(noise))
	settled := o.Best >= 0 && p.round >= p.patience() && len(p.gains) == memory && max(gain, milliseconds(p.hopeful)) <= p.options.Enough
	o.Done = p.spent || settled || p.round >= mostRounds && p.options.Enough > 0
	return o
}

// patience is how many rounds are made in any case.
func (p *Planner) patience() int {
	known := min(1, float64(p.before)/float64(p.options.Budget))
	return max(leastRounds, int(math.Round(coldRounds*(1-known))))
}

// imaginedGain is how much better the best servers of most imagined worlds are.
func (p *Planner) imaginedGain() float64 {
	gains := slices.Sorted(slices.Values(p.gains))
	if len(gains) == 0 {
		return 0
	}
	return gains[min(len(gains)-1, int(confidence*float64(len(gains))))]
}

// lastGain is how much better the best has become of late, a stricter limit kept
// being no number of ms.
func (p *Planner) lastGain() float64 {
	before := p.history[max(0, len(p.history)-1-lately):]
	if len(before) == 0 || before[0] == far {
		return 0
	}
	return min(before[0]-p.best, within(p.best))
}

// leaders are the machines of the best rows that suit.
func (p *Planner) leaders(n int) []int32 {
	var all []guess
	for _, at := range p.known {
		if r := p.rows[at]; p.suits(r) {
			all = append(all, guess{at, r.score})
		}
	}
	slices.SortFunc(all, func(a, b guess) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(p.rows[a.machine].server, p.rows[b.machine].server))
	})
	var leaders []int32
	hidden := p.hidden(n / hiddenShare)
	for _, g := range all[:min(n-len(hidden), len(all))] {
		leaders = append(leaders, g.machine)
	}
	for _, at := range hidden {
		if !slices.Contains(leaders, at) {
			leaders = append(leaders, at)
		}
	}
	return leaders
}

// Finalists are the best servers, best first, that everybody measured and that
// suit, and then some that may be better than all of them if an RTT of theirs is
// not what it seems. Before the choice stands everybody probes them again,
// several times: a single sample of each is too little to choose between them,
// and with so many servers the best that was measured was lucky, too.
func (p *Planner) Finalists(n int) []int {
	p.lead() // the last answers came after the last round
	return p.standFor(p.leaders(n))
}

// Hidden are those finalists, n at most, whose RTTs as they are do not say how
// good they may be.
func (p *Planner) Hidden(n int) []int {
	p.lead()
	return p.standFor(p.hidden(n))
}

func (p *Planner) standFor(machines []int32) []int {
	var servers []int
	for _, at := range machines {
		servers = append(servers, p.rows[at].server)
	}
	return servers
}
