package refining

import "slices"

// learn takes in what was observed since the last round.
func (p *Planner) learn() {
	slices.Sort(p.known)
	p.lead()
	var observations []observation
	for _, at := range p.known {
		r := p.rows[at]
		if !r.heard() {
			continue
		}
		above := max(r.score-p.base, leastAbove)
		off := (r.off + noise) / above
		observations = append(observations, observation{at, p.value(r.score), off * off})
	}
	p.belief.learn(observations)
	p.cleanse()
}

// noise is how far off one packet pair is, in ms.
const noise = 1.0

// lead finds the best row, and the base.
func (p *Planner) lead() {
	best, lowest, leader := far, far, int32(-1)
	for _, at := range p.known {
		r := p.rows[at]
		if !r.fresh || !r.whole() && r.score-2*r.off < p.best {
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
}

// far is farther than any score.
const far = 1e9

// suits tells a row whose server everybody could play on.
func (p *Planner) suits(r *row) bool {
	return r.whole() && r.server >= 0 && p.usable(r.server) && !p.unknown(r.server)
}

// cleanse finds what the countries would be like without single bad routes: the
// score of each player's lower median over the country's networks. With many
// players nearly every network has a bad route for someone, and the worst RTT
// tells little of where it stands.
func (p *Planner) cleanse() {
	networks := make(map[int32][]*row) // of each country, by its best row
	last := int32(-1)
	for _, at := range p.known {
		r := p.rows[at]
		if !r.whole() || !r.heard() {
			continue
		}
		n := p.tree.above(at, network)
		c := p.tree.parent[n]
		switch rows := networks[c]; {
		case n != last:
			networks[c] = append(rows, r)
		case r.score < rows[len(rows)-1].score:
			rows[len(rows)-1] = r
		}
		last = n
	}
	p.clean = make(map[int32]float64)
	for c, rows := range networks {
		if len(rows) > 1 {
			p.clean[c] = p.value(p.scorer.score(p.medians(rows)))
		}
	}
}

func (p *Planner) medians(rows []*row) []float64 {
	medians, column := make([]float64, len(p.members)), make([]float64, len(rows))
	for player, m := range p.members {
		if m.absent {
			continue
		}
		for i, r := range rows {
			column[i] = r.rtts[player]
		}
		slices.Sort(column)
		medians[player] = column[(len(column)-1)/2]
	}
	return medians
}
