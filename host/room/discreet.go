package room

import (
	"slices"
	"strings"

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
	return max(0, p.discreet-wire.SearchFinalists-p.witness.Asked())
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

// untried are servers to look at along with finalists: those that are likely better, as far
// as the pings of discreet players who have not measured them can be told, and for which
// these have places left. What is likely decides what is looked at, and what is chosen
// decides what was measured.
func (r *Room) untried(finalists []int) []int {
	if r.round.search == nil || !r.round.search.asksFew() {
		return nil
	}
	left := wire.SearchFinalists
	var discreet []*player
	for _, p := range r.round.active() {
		if p.discreet == 0 {
			continue
		}
		own := p.discreet - p.witness.Asked() - len(r.venues()) // which count like servers
		for _, server := range finalists {
			own -= count(!p.witness.IsAsked(server))
		}
		discreet, left = append(discreet, p), min(left, own)
	}
	untried := r.round.search.planner.Untried(max(0, left))
	untried = slices.DeleteFunc(untried, func(server int) bool { return slices.Contains(finalists, server) })
	if len(untried) > 0 {
		r.note("and at %s that may be better: what ping %s has there is not known yet", serversInWords(len(untried)), strings.Join(names(discreet), ", "))
	}
	return untried
}

// asksFew reports whether somebody was asked for few servers: what the planner says is
// still to be had knows nothing of what they were not asked.
func (s *search) asksFew() bool {
	return slices.ContainsFunc(s.groups, func(g *probeGroup) bool { _, few := g.few(); return few })
}
