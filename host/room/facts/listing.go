package facts

import (
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room/infos"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/roomtime"
)

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
