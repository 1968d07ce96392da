package refining

import (
	"cmp"
	"slices"
	"time"
)

// Outlook is how far the search has come.
type Outlook struct {
	// Best is the best server that everybody measured and that suits, -1 before
	// there is one, and Score what the rule makes of it, in ms.
	Best  int
	Score float64
	// Gain is how much better a server may yet be found, at the confidence given:
	// as many of the imagined worlds had none better. It is an estimate by the
	// planner's own idea of the world, no proof.
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
	// memory is how many of the last imagined worlds count.
	memory = 3 * worlds
	// leastRounds are made in any case.
	leastRounds = 6
	// finalists are kept measured by everybody.
	finalists = 10
)

// dreamt notes how much better than the best a world's best server was.
func (p *Planner) dreamt(guesses []guess) {
	gain := 0.0
	for _, g := range guesses {
		if p.rng.Float64() < p.suitable(g.machine) {
			gain = max(0, p.best-p.score(g.value))
			break
		}
	}
	p.gains = append(p.gains, gain)
	p.gains = p.gains[max(0, len(p.gains)-memory):]
}

// suitable is how likely a machine has a server that suits.
func (p *Planner) suitable(at int32) float64 {
	r := p.rows[at]
	if r != nil && r.server >= 0 && !p.unknown(r.server) {
		return 1
	}
	return (float64(p.suiting) + 1) / (float64(p.informed) + 1)
}

// Outlook tells how far the search has come.
func (p *Planner) Outlook() Outlook {
	o := Outlook{Best: -1, Confidence: confidence, Rounds: p.round}
	for _, m := range p.members {
		if !m.absent {
			o.Probes += float64(m.load) / float64(p.present())
		}
	}
	if p.leader >= 0 {
		o.Best, o.Score = p.rows[p.leader].server, p.best
	}
	if gains := slices.Sorted(slices.Values(p.gains)); len(gains) > 0 {
		o.Gain = milliseconds(gains[min(len(gains)-1, int(confidence*float64(len(gains))))])
	}
	settled := o.Best >= 0 && p.round >= leastRounds && len(p.gains) == memory && o.Gain <= p.options.Enough
	o.Done = p.spent || settled
	return o
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
	for _, g := range all[:min(n, len(all))] {
		leaders = append(leaders, g.machine)
	}
	return leaders
}

// Finalists are the best servers, best first, that everybody measured and that
// suit. Before the choice stands everybody probes them again, several times: a
// single sample of each is too little to choose between them, and with so many
// servers the best that was measured was lucky, too.
func (p *Planner) Finalists(n int) []int {
	var servers []int
	for _, at := range p.leaders(n) {
		servers = append(servers, p.rows[at].server)
	}
	return servers
}
