package coordinate

import (
	"cmp"
	"math"
	"slices"
)

const (
	// alike is how many similar servers tell what one of a candidate's RTTs may be.
	alike = 3
	// longestQueue is the most, in ms, that a queue adds to an RTT, and minQueue the least that
	// counts as a queue.
	longestQueue, minQueue = 160.0, 10.0
)

// Contenders returns at most n servers that would beat the best if one of their RTTs were what the
// servers most like them have. That RTT is missing, or a queue may have held it up. The likeliest
// to gain come first.
func (p *Planner) Contenders(n int) (servers []int) {
	e := p.estimator
	e.update() // the last answers came after the last round
	var whole []*candidate
	for _, c := range e.candidates.all {
		if c.whole() {
			whole = append(whole, c)
		}
	}
	luck := map[*candidate]float64{}
	for _, c := range e.candidates.all {
		if c.server < 0 || c.missing > 1 || !e.candidates.usable(c.server) || e.candidates.unknown(c.server) {
			continue
		}
		if lowest := e.atBest(c, whole); lowest < e.best {
			luck[c] = lowest
		}
	}
	contenders := e.ranked(func(c *candidate) float64 { return luck[c] }, func(c *candidate) bool { _, is := luck[c]; return is })
	for _, c := range contenders[:min(n, len(contenders))] {
		servers = append(servers, c.server)
	}
	return servers
}

// atBest returns the lowest score of a candidate if one of its RTTs is not what it seems.
func (e *estimator) atBest(c *candidate, whole []*candidate) float64 {
	lowest := none
	rtts := slices.Clone(c.rtts)
	score := func() float64 { return e.total(e.guested(slices.Clip(rtts), c.at)) }
	for player, ms := range c.rtts {
		if c.missing > 0 && ms > 0 {
			continue // another one is missing
		}
		rtts[player] = max(minLow, ms-longestQueue)
		if ms > 0 && score() >= e.best {
			rtts[player] = ms
			continue // not even the longest queue would do
		}
		likely := e.likely(c, player, whole)
		if ms > 0 {
			likely = min(max(likely, ms-longestQueue), ms)
		}
		if ms == 0 || likely < ms-minQueue {
			rtts[player] = likely
			lowest = min(lowest, score())
		}
		rtts[player] = ms
	}
	return lowest
}

// likely returns the lowest RTT that a player has to the servers most like a candidate, by the
// others' measurements.
func (e *estimator) likely(c *candidate, player int, whole []*candidate) float64 {
	type neighbour struct{ off, ms float64 }
	var near []neighbour
	for _, other := range whole {
		if other == c {
			continue
		}
		off := 0.0
		for i, ms := range c.rtts {
			if i != player {
				off += math.Abs(ms - other.rtts[i])
			}
		}
		near = append(near, neighbour{off, other.rtts[player]})
	}
	slices.SortFunc(near, func(a, b neighbour) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.ms, b.ms)) })
	likely := nothingRTT + 0.0
	for i, n := range near[:min(alike, len(near))] {
		if i == 0 || n.ms < likely {
			likely = n.ms
		}
	}
	return likely
}
