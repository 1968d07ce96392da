package room

import (
	"slices"

	"muster/host/wire"
)

// isDiscreet notes that a player's address is to be shown to so many servers at most, which
// the player's own program holds; 0 is no bound.
func (p *player) isDiscreet(r *Room, most int) {
	if p.discreet == most {
		return
	}
	if p.discreet = most; most > 0 {
		r.note("%s asks at most %d servers a round: the search works round that", p.name, most)
	}
}

// mayAsk is how many servers more a discreet player may be asked for: the finalists have
// places of their own.
func (p *player) mayAsk() int {
	return max(0, p.discreet-wire.SearchFinalists-p.asked.servers.size())
}

// open are those of a group who are asked for what the group is, by their places: who is
// discreet only if all are.
func (g *probeGroup) open() (of []int) {
	for i, p := range g.players {
		if p.discreet == 0 {
			of = append(of, i)
		}
	}
	if of == nil {
		for i := range g.players {
			of = append(of, i)
		}
	}
	return of
}

// few is how many servers more a group may be asked for of which all are discreet.
func (g *probeGroup) few() (most int, few bool) {
	for _, p := range g.players {
		if p.discreet == 0 {
			return 0, false
		}
		most += p.mayAsk()
	}
	return most, len(g.players) > 0
}

// asksFew reports whether somebody was asked for few servers: what the planner says is
// still to be had knows nothing of what they were not asked.
func (s *search) asksFew() bool {
	return slices.ContainsFunc(s.groups, func(g *probeGroup) bool { _, few := g.few(); return few })
}
