package facts

import (
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room/candidates"
	"muster/host/room/infos"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/people"
	"muster/host/room/roomtime"
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

// List is a server list that has just arrived.
type List struct {
	// Tree is the list's topology. If the host keeps the list, Kept is its hash.
	Tree *topology.Tree
	Kept string
	// Err is why there is no list.
	Err error
	// Local are the list's servers on the host's own networks.
	Local []nearby.Server
	// Said are the list's facts about its servers.
	Said discovery.Said
	// Gap is how long a server of the list rests before it answers an address again, 0 if unknown.
	Gap time.Duration
}

// Begin gives the round its list, and adds the servers that players found on their own networks. It
// returns notes on these servers, and a note on the list.
func (p *Parts) Begin(in List, now roomtime.Clocks) (found []sentence.Sentence, note sentence.Sentence, err error) {
	var listed []discovery.Server
	if in.Err == nil {
		listed = in.Tree.List()
	}
	var theirs []nearby.Server
	if (p.Settings.LookAround || p.Settings.LookBeyond) && !p.Facts().IsOfPlaces() {
		theirs = p.Nearby.Found(p.Attendance.Active(), p.Settings.Game, listed, in.Local)
	}
	list, note, err := listing.Begin(listing.New(in.Tree, in.Kept), in.Err, nearby.Hidden(theirs))
	if err != nil {
		return nil, note, err
	}
	p.List, p.Heard, p.Measuring, p.Gap = list, infos.Infos{}, now.Room, in.Gap
	p.Servers = p.Heard.About(list.Servers(in.Said, now.Wall))
	titles := map[int]string{}
	for _, s := range p.Nearby.Place(append(in.Local[:len(in.Local):len(in.Local)], theirs...), p.Servers.List) {
		p.HearInfo("", s.Server, s.Info, now.Room)
		titles[s.Server] = p.Servers.Called(s.Server)
	}
	return p.Nearby.Notes(p.Attendance.Players(), titles), note, nil
}
