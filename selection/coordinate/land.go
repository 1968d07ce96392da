package coordinate

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
		p.clear(&p.lands[i])
	}
	for i := range p.lands {
		p.suspect(&p.lands[i])
	}
}

// clear finds what a country is like without bad routes.
func (p *Planner) clear(l *land) {
	l.clean = make([]float64, len(p.members))
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
	}
	if networks > 1 {
		p.clean[l.node] = p.value(p.scorer.promise(l.clean))
	}
}

// suspect finds the players whose RTT alone speaks against a country, though for
// the others it lies where their ways are shorter: one of eight at most.
func (p *Planner) suspect(l *land) {
	sorted := slices.Sorted(slices.Values(l.clean))
	most := sorted[max(0, len(sorted)-1-(len(sorted)+7)/8)]
	hope := slices.Clone(l.clean)
	for player, ms := range l.clean {
		if ms <= most || p.members[player].absent {
			continue
		}
		if expected := p.expected(l, player); ms > sameWay*expected {
			hope[player] = expected
			l.suspects = append(l.suspects, player)
		}
	}
	l.hope = p.value(p.scorer.promise(hope))
}

// neighbours is how many countries tell what a player's RTT to one should be.
const neighbours = 3

// expected is the lowest of a player's RTTs to the countries that are the most
// like one for all others.
func (p *Planner) expected(l *land, player int) float64 {
	var near []guess
	for i := range p.lands {
		if o := &p.lands[i]; o.node != l.node && p.present() > 1 {
			near = append(near, guess{int32(i), p.apartness(l, o, player)})
		}
	}
	sortGuesses(near)
	lowest := l.clean[player]
	for _, g := range near[:min(neighbours, len(near))] {
		lowest = min(lowest, p.lands[g.machine].clean[player])
	}
	return lowest
}

// apartness is how differently far two countries are for all but one player.
func (p *Planner) apartness(l, o *land, but int) float64 {
	sum := 0.0
	for player := range l.clean {
		if player != but && !p.members[player].absent {
			d := (l.clean[player] - o.clean[player]) / (6 + 0.06*min(l.clean[player], o.clean[player]))
			sum += d * d
		}
	}
	return sum
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
