package refining

import (
	"math"
	"slices"
)

// land is what is known of a country. With many players nearly every network has
// a bad route for someone, and the scores of a few networks tell little of where
// a country lies; what each player has of several networks tells more.
type land struct {
	node int32
	// rtts are each player's lowest to each of the networks that they measured.
	rtts [][]float64
	// clean is each player's RTT without bad routes.
	clean []float64
	// suspects are the players whose bad routes may hide how near the country is.
	suspects []int
	// hope is the value that the country may have if they do.
	hope float64
}

// survey takes together what is known of each country.
func (p *Planner) survey() {
	p.lands, p.clean = nil, make(map[int32]float64)
	last, at := int32(-1), -1
	lowest := make([]float64, len(p.members)) // of the network at hand
	shut := func() {
		for player, ms := range lowest {
			if ms > 0 {
				p.lands[at].rtts[player] = append(p.lands[at].rtts[player], ms)
			}
		}
		clear(lowest)
	}
	for _, machine := range p.known {
		n := p.tree.above(machine, network)
		if n != last && last >= 0 {
			shut()
		}
		if c := p.tree.parent[n]; at < 0 || p.lands[at].node != c {
			p.lands, at = append(p.lands, land{node: c, rtts: make([][]float64, len(p.members))}), at+1
		}
		for player, ms := range p.rows[machine].rtts {
			if ms > 0 && !p.members[player].absent && (lowest[player] == 0 || ms < lowest[player]) {
				lowest[player] = ms
			}
		}
		last = n
	}
	if at >= 0 {
		shut()
	}
	for i := range p.lands {
		p.judgeLand(&p.lands[i])
	}
}

// judgeLand finds what a country is like without bad routes, and what may be
// hoped of it: the worst RTTs, one of eight players' or part thereof, may be bad
// routes all.
func (p *Planner) judgeLand(l *land) {
	l.clean = make([]float64, len(p.members))
	var sorted []float64
	networks := 0
	for player, m := range p.members {
		if m.absent {
			continue
		}
		networks = max(networks, len(l.rtts[player]))
		l.clean[player] = lowMedian(l.rtts[player])
		if l.clean[player] == 0 {
			l.clean[player], _ = p.relatives.predict(player, l.node)
		}
		sorted = append(sorted, l.clean[player])
	}
	if networks > 1 {
		p.clean[l.node] = p.value(p.scorer.score(l.clean))
	}
	slices.Sort(sorted)
	most := sorted[max(0, len(sorted)-1-(len(sorted)+7)/8)]
	hope := slices.Clone(l.clean)
	for player, ms := range hope {
		if ms > most {
			hope[player] = most
			l.suspects = append(l.suspects, player)
		}
	}
	l.hope = p.value(p.scorer.score(hope))
}

// lowMedian is the lower median, of up to three the lowest; 0 of none.
func lowMedian(rtts []float64) float64 {
	if len(rtts) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(rtts))
	if len(sorted) <= 3 {
		return sorted[0]
	}
	return sorted[(len(sorted)-1)/2]
}

// seen is how many networks of the country somebody at least has measured, and
// how many all have.
func (l *land) seen(p *Planner) (some, all int) {
	all = math.MaxInt
	for player, m := range p.members {
		if !m.absent {
			some, all = max(some, len(l.rtts[player])), min(all, len(l.rtts[player]))
		}
	}
	return some, all
}

// sameWay is by how much RTTs over the same way differ at most.
const sameWay = 1.15

// doubtful tells a player's RTTs to the networks of a country that do not settle
// whether there is a better way: one alone, or few that differ.
func (l *land) doubtful(player int, most float64) bool {
	rtts := l.rtts[player]
	if len(rtts) < 2 {
		return true
	}
	return float64(len(rtts)) < most && slices.Max(rtts) > sameWay*slices.Min(rtts)
}
