package room

import (
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

// untried are servers to look at along with finalists: those that are likely better, as far
// as the pings of discreet players who have not measured them can be told, and for which
// these have places left. What is likely decides what is looked at, and what is chosen
// decides what was measured.
func (r *Room) untried(finalists []int) []int {
	if r.round.search == nil {
		return nil
	}
	left := wire.SearchFinalists
	var discreet []*player
	for _, p := range r.round.active() {
		if p.discreet == 0 {
			continue
		}
		own := p.discreet - p.witness.Asked() - r.survey.Count(r.settings.Places) // which count like servers
		for _, server := range finalists {
			own -= count(!p.witness.IsAsked(server))
		}
		discreet, left = append(discreet, p), min(left, own)
	}
	untried := r.round.search.Untried(left, finalists)
	if len(untried) > 0 {
		r.note("and at %s that may be better: what ping %s has there is not known yet", serversInWords(len(untried)), strings.Join(names(discreet), ", "))
	}
	return untried
}
