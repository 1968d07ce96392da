package coordinate

import "slices"

// learn takes in what was observed since the last round.
func (p *Planner) learn() {
	p.lead()
	climbing := p.round%climbEvery == 0
	var observations []observation
	for _, at := range p.known {
		r := p.rows[at]
		if !r.heard() {
			continue
		}
		promise := r.promise
		if climbing {
			promise += p.scorer.stretch(r.worst)
		}
		off := (r.off + noise) / max(promise-p.base, leastAbove)
		observations = append(observations, observation{at, p.value(promise), off * off, p.guessed(at, r)})
	}
	p.belief.learn(observations)
	p.survey()
}

// climbEvery is how often a round looks for what keeps a stricter limit than the
// best: the distance to it is all that tells where that may be.
const climbEvery = 2

// noise is how far off one packet pair is, in ms.
const noise = 1.0

// lead finds the best row, and the base.
func (p *Planner) lead() {
	slices.Sort(p.known)
	best, lowest, leader := far, far, int32(-1)
	for _, at := range p.known {
		r := p.rows[at]
		if r.heard() {
			p.judge(at, r)
		}
		if !r.whole() {
			continue
		}
		lowest = min(lowest, r.score)
		if p.suits(r) && r.score < best {
			best, leader = r.score, at
		}
	}
	p.best, p.leader, p.lowest = best, leader, min(best, lowest)
	p.base = baseOf(p.lowest)
	if rung := p.scorer.rungOf(p.lowest); p.lowest < far && rung != p.scorer.rung {
		p.scorer.rung = rung
		for _, at := range p.known {
			p.judge(at, p.rows[at])
		}
	}
}

// far is farther than any score.
const far = 1e9

// suits tells a row whose server everybody could play on.
func (p *Planner) suits(r *row) bool {
	return r.whole() && r.server >= 0 && p.usable(r.server) && !p.unknown(r.server)
}

// guessed tells a row that only some measured, and that the others need not, as
// none of its servers is known to suit.
func (p *Planner) guessed(at int32, r *row) bool {
	return !r.whole() && !slices.ContainsFunc(p.tree.servers(at), func(s int32) bool {
		barred, unknown := p.filter.Bars(int(s))
		return !barred && !unknown
	})
}
