package coordinate

import (
	"math"
	"slices"
)

// This file is about players who answer so slowly that a search cannot wait for them. They measure
// nothing but the finalists, a few in all. Their RTTs to others follow from those to the servers
// that are alike for the other players, because too few are known for the topology's tree.

// maxDifference, in ms, is how alike two servers must be before a slow player's RTT to one of them says
// much about the other. They are alike if no other player's RTTs to them differ by more.
const maxDifference = 5

// unsure is the share of the best score by which a server may seem worse, and still be likely better:
// a few RTTs tell little.
const unsure = 0.15

// Likeliest asks a slow player for the servers that are likely the best: at most n, and with better
// only those that are likely better than the best so far. All who are not asked for few servers have
// measured them.
func (p *Planner) Likeliest(player, n int, better bool) (servers []int) {
	if n <= 0 {
		return nil
	}
	p.estimator.update()
	q, likely := &p.questions[player], map[*candidate]float64{}
	for _, c := range p.candidates.all {
		if c.rtts[player] > 0 || !p.isForFew(c) || q.servers.has(c.server) {
			continue
		}
		if score := p.likely(player, c); !better || score < p.estimator.best+unsure*within(p.estimator.best) {
			likely[c] = score
		}
	}
	found := p.estimator.ranked(func(c *candidate) float64 { return likely[c] }, func(c *candidate) bool {
		_, is := likely[c]
		return is
	})
	for _, c := range found[:min(n, len(found))] {
		q.ask(c.server, p.round)
		c.waiting++
		servers = append(servers, c.server)
	}
	return servers
}

// likely returns a candidate's score with the RTT of a slow player that one may hope for: that to
// servers alike, less as much as the others' RTTs differ there. Otherwise a far player would never
// learn what is near.
func (p *Planner) likely(player int, c *candidate) float64 {
	rtts := slices.Clone(c.rtts)
	for other, ms := range rtts {
		if ms == 0 {
			rtts[other], _ = p.estimator.predictor.predictOn(other, p.estimator.predictor.line(c.at))
		}
	}
	weights, sum, nearest := 0.0, 0.0, math.Inf(1)
	for _, known := range p.candidates.all {
		if known.rtts[player] == 0 {
			continue
		}
		apart := unlike(known, c)
		nearest = min(nearest, apart)
		weight := 1 / math.Pow(maxDifference+apart, 2)
		weights, sum = weights+weight, sum+weight*known.rtts[player]
	}
	if weights > 0 {
		rtts[player] = max(minRTT, sum/weights-nearest)
	}
	return p.estimator.total(p.estimator.guested(rtts, c.at))
}

// unlike returns by how much the RTTs of the players who know both candidates differ at most.
func unlike(a, b *candidate) (ms float64) {
	for player, rtt := range a.rtts {
		if rtt > 0 && b.rtts[player] > 0 {
			ms = max(ms, math.Abs(rtt-b.rtts[player]))
		}
	}
	return ms
}
