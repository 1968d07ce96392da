package facts

import (
	"muster/host/room/candidates"
	"muster/host/room/people"
	"muster/host/wire"
)

// IsOfPlaces reports whether the round looks for a place.
func (f Facts) IsOfPlaces() bool { return len(f.p.Candidates.All()) > 0 }

// Surveyors returns all players as package candidates needs them.
func (f Facts) Surveyors() candidates.Group {
	players, turns := f.Players(), map[people.ID]int{}
	for _, mates := range f.NATGroups(players) {
		for turn, player := range mates {
			turns[player] = turn
		}
	}
	all := make([]candidates.Surveyor, len(players))
	for i, player := range players {
		all[i] = candidates.Surveyor{ID: player, Country: f.p.Origins.Of(player).Country, Turn: turns[player]}
		for place := range f.p.Candidates.All() {
			all[i].Results = append(all[i].Results, f.p.Evidence[player].At(place))
		}
	}
	group := candidates.Group{Surveyors: all}
	if o := f.Criteria(f.p.Settings, players).Objective(people.Texts(players)); !o.Sacrifices() { // that would need their own bests
		group.Cost = o.Score
	}
	return group
}

// ViewPlaces returns the round's places as people see them, nil in a round of servers.
func (f Facts) ViewPlaces() *wire.Places {
	if !f.IsOfPlaces() {
		return nil
	}
	v := f.p.Candidates.ViewAll()
	v.People = map[string]wire.Surveying{}
	for _, player := range f.Players() {
		_, answered := f.p.Evidence[player].Progress()
		v.People[f.Names().Of(player)] = wire.Surveying{
			Asked: f.p.Evidence[player].Asked(), Answered: answered, Done: f.Mark(player).Done, Browser: f.p.Roster.IsBrowser(player),
		}
	}
	return &v
}
