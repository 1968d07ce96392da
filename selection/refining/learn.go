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
// tells little of where it stands. What may be hoped of a country is what any of
// its networks would be like without the worst routes to it.
func (p *Planner) cleanse() {
	p.clean, p.hope = make(map[int32]float64), make(map[int32]float64)
	for c, rows := range p.networks() {
		hope := far
		for _, r := range rows {
			hope = min(hope, p.scorer.score(p.trimmed(r)))
		}
		if len(rows) > 1 {
			clean := p.scorer.score(p.medians(rows))
			p.clean[c] = p.value(clean)
			hope = min(hope, clean)
		}
		p.hope[c] = p.value(hope)
	}
}

// networks are the best rows of each country's networks.
func (p *Planner) networks() map[int32][]*row {
	networks, last := make(map[int32][]*row), int32(-1)
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
	return networks
}

// trimmed are a row's RTTs without the worst, one of eight players or part
// thereof; players alone have no other.
func (p *Planner) trimmed(r *row) []float64 {
	rtts := make([]float64, len(r.rtts))
	var sorted []float64
	for player, m := range p.members {
		if !m.absent {
			rtts[player] = r.rtts[player]
			sorted = append(sorted, r.rtts[player])
		}
	}
	slices.Sort(sorted)
	worst := sorted[max(0, len(sorted)-1-(len(sorted)+7)/8)]
	for player := range rtts {
		rtts[player] = min(rtts[player], worst)
	}
	return rtts
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
