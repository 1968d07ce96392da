package host

import (
	"time"

	"muster/host/wire"
	"muster/selection"
)

// While people vote and get ready, the search goes on: the answer gets better as
// long as the group gives it time.
const (
	// anytimeEvery is the time from one round to the next then: with the players'
	// own discovery it is a quarter of a home line's rate.
	anytimeEvery = time.Second
	// ownShare is how many servers a player's own discovery may ask in that time,
	// and ownBudget how many in all.
	ownShare  = 25
	ownBudget = 650
	// worthAnother is how much lower a score has to be, in ms, for another server to
	// be looked at while people have begun to vote.
	worthAnother = 2
)

// searchOn begins a search beyond the one that led to the choice.
func (r *Room) searchOn() {
	if r.search != nil && !r.search.further {
		r.search = nil
	}
}

// tickAnytime asks on, until the launch is near or nothing is left to find, and
// has everyone look at a server that turned up and is worth it.
func (r *Room) tickAnytime(now time.Time) []effect {
	if r.strategy() != wire.Coordinated {
		return nil
	}
	s := r.searching()
	s.further = true
	if now.Sub(s.asked) < anytimeEvery || !s.isAnswered(now) {
		return nil
	}
	s.asked = now
	if selected, better := r.better(); better {
		r.note(now, "%s has turned up, and is better than %s", r.serverName(selected.Chosen.Server), r.serverName(r.indexOf(r.Selection.Chosen.Addr)))
		return r.rechoose(selected, now)
	}
	return append(r.askOn(now), r.allowOwn()...)
}

func (r *Room) askOn(now time.Time) []effect {
	if r.search.planner.Progress().Done {
		return nil
	}
	return r.ask(r.search.planner.Next(), now)
}

// allowOwn lets everyone's own discovery get on, of players behind one address
// one's.
func (r *Room) allowOwn() []effect {
	s := r.search
	if s.own >= ownBudget {
		return nil
	}
	s.own += ownShare
	var effects []effect
	for _, c := range s.crews {
		effects = append(effects, send{c.members[0].Name, wire.Ask{Round: r.Round, Own: ownShare}})
	}
	return effects
}

// better is the choice as it would be now, if that is worth stopping the vote.
func (r *Room) better() (selected selection.Selection, better bool) {
	selected = r.selectFor(r.chosenFor())
	if selected.Chosen == nil || selected.Chosen.Addr == r.Selection.Chosen.Addr {
		return selected, false
	}
	ahead := r.Selection.Chosen.Score
	for _, ranked := range selected.Ranking {
		if ranked.Addr == r.Selection.Chosen.Addr {
			ahead = ranked.Score
		}
	}
	return selected, ahead-selected.Chosen.Score >= worthAnother
}
