// Package places finds places where a server of the group's own would suit. A candidate place has
// no server yet: it stands in the organiser's list, or is the computer of a player who could host.
// Players measure places as they do servers, once a session, as soon as the room has chosen or has
// failed:
//
//	choice, or nothing suits ─▶ BeginOnce ─▶ Ask, of each ─▶ Heard ─▶ by the room's rule ─▶ View
//
// Nobody ever goes to a place, and nothing waits for the answers.
//
// The room tells a [Survey] the present [Scene] and the players' answers, and passes on the [News].
package places

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

const (
	// samples is how often a player asks a place. The lowest ping counts.
	samples = 3
	// betweenMates is the time between the samples of two players behind one address, because the
	// strictest servers answer an address once a second.
	betweenMates = 1100 * time.Millisecond
	// pause is how long the room rests between two surveys that the organiser orders.
	pause = 30 * time.Second
	// maxAnew bounds how often a survey begins again because a player's computer has moved, or must
	// no longer be shown. Without a bound, a program that comes and goes, or names ever new ports of
	// its router, would keep everybody measuring.
	maxAnew = 3
	// ownPing is a player's ping to a server on their own computer: hardly anything.
	ownPing = discovery.Millis(100 * time.Microsecond)
)

// Survey has the players' measurements of the candidate places. Its zero value has asked nobody.
type Survey struct {
	state State
	// doors are the ports at which players' computers answer. Every hello of their programs names
	// them.
	doors map[people.ID]door
	// relaxed is the best server without limits, for a choice that found none within them. It is
	// not saved, because it can be found again.
	relaxed relaxed
}

// State is the saved state of a survey.
type State struct {
	// Attempt is the number of the survey, 0 while there is none. While it is 0, Before is the
	// number of the last one, so that the next gets another number and ignores late answers.
	Attempt int `json:"attempt,omitempty"`
	Before  int `json:"before,omitempty"`
	// At is when the survey began.
	At roomtime.Time `json:"at,omitzero"`
	// IsTold says that people know the result.
	IsTold bool `json:"told,omitempty"`
	// Anew counts how often the survey began again; see maxAnew.
	Anew int `json:"anew,omitempty"`
	// Homes are the players' own computers that players measure, if all have agreed.
	Homes []home `json:"homes,omitempty"`
	// Found has the players' findings.
	Found map[people.ID]Found `json:"found,omitempty"`
}

// State returns the state, to save or restore it.
func (s *Survey) State() *State { return &s.state }

// Validate returns the first fault of a saved survey, or nil.
func (s *State) Validate() error {
	isWhole := s.Attempt >= 0 && s.Before >= 0 && s.Anew >= 0 && len(s.Homes) <= wire.MaxVenues
	for _, f := range s.Found {
		isWhole = isWhole && len(f.Found) <= wire.MaxVenues
	}
	if !isWhole {
		return errors.New("a survey of places that is none")
	}
	return nil
}

// home is a player's own computer, which could host.
type home struct {
	Player people.ID  `json:"player"`
	Place  wire.Venue `json:"place"`
}

func (h home) equal(other home) bool { return h.Player == other.Player && h.Place.Equal(other.Place) }

// door has the ports at which a player's program answers as a beacon. beacon is the computer's
// port, 0 for none. outside is the router's port that leads there, 0 if it is the same.
type door struct {
	program         string
	beacon, outside uint16
}

// Found is a player's finding in a survey, by place.
type Found struct {
	Attempt int      `json:"attempt,omitempty"`
	Found   []result `json:"found,omitempty"`
}

// result is the best of a player's samples of a place.
type result struct {
	State discovery.State  `json:"state"`
	RTT   discovery.Millis `json:"rtt_ms,omitzero"`
}

// Scene has the present facts about the room.
type Scene struct {
	// Places are the places in the organiser's list.
	Places wire.Venues
	// Players are all who play, in the room's order.
	Players []Player
	// Selection is the newest choice, nil before there is one. Criteria are the group's criteria
	// for servers.
	Selection *selection.Selection
	Criteria  selection.Criteria
	// IsOff says that the room looks for a place in rounds of its own.
	IsOff bool
}

// Player has the present facts about a player.
type Player struct {
	people.Person
	// Addr is the address that servers see. Beside is the computer's address for people on the
	// host's networks, invalid if the player comes from elsewhere.
	Addr, Beside netip.Addr
	// Turn is the player's place among the players behind the same address, who measure in turn.
	Turn int
}

// News are sentences for the log, and questions to players.
type News struct {
	Notes []sentence.Sentence
	Asks  []Ask
}

// Ask is a survey for one player.
type Ask struct {
	To     people.ID
	Survey wire.Survey
}

func (n *News) add(more News) {
	n.Notes = append(n.Notes, more.Notes...)
	n.Asks = append(n.Asks, more.Asks...)
}

// Come notes the beacon port of a player's computer when the program connects. If the program or
// the port is another, it forgets the router's port.
func (s *Survey) Come(player people.ID, program string, beacon uint16) {
	if s.doors == nil {
		s.doors = map[people.ID]door{}
	}
	if d := s.doors[player]; d.program != program || d.beacon != beacon {
		s.doors[player] = door{program: program, beacon: beacon}
	}
}

// Outside notes the router's port by which others reach a player's program.
func (s *Survey) Outside(player people.ID, port uint16, sc Scene, now roomtime.Time) News {
	if d, has := s.doors[player]; has {
		d.outside = port
		s.doors[player] = d
	}
	news, _ := s.dropHomes(sc, now)
	return news
}

// Begin begins a survey because the organiser wants one.
func (s *Survey) Begin(sc Scene, now roomtime.Time) (News, error) {
	switch {
	case !s.hasPlaces(sc):
		return News{}, errors.New("there are no places to measure: the organiser's list of them is empty, and " +
			"not all players let the others measure their computers (--can-host)")
	case s.state.Attempt > 0 && now.Sub(s.state.At) < pause:
		return News{}, errors.New("the places are being measured, or were a moment ago")
	}
	return s.begin(sc, now), nil
}

// BeginOnce begins the first survey of a room. Then it tells people the result of the newest survey.
func (s *Survey) BeginOnce(sc Scene, now roomtime.Time) (news News) {
	if s.state.Attempt == 0 && s.hasPlaces(sc) {
		news = s.begin(sc, now)
	}
	news.Notes = append(news.Notes, s.tell(sc)...)
	return news
}

// hasPlaces reports whether there is any place to measure: a listed one, or a home.
func (s *Survey) hasPlaces(sc Scene) bool {
	return !sc.IsOff && (len(sc.Places) > 0 || len(s.homesIn(sc)) > 0)
}

// begin begins a survey of all places with everyone who is here.
func (s *Survey) begin(sc Scene, now roomtime.Time) News {
	s.state.Attempt, s.state.Before, s.state.At, s.state.IsTold, s.state.Anew = max(s.state.Attempt, s.state.Before)+1, 0, now, false, 0
	s.state.Homes = s.homesIn(sc)
	news := News{Notes: []sentence.Sentence{sentence.Of("room.measures-places", "n", s.Count(sc.Places))}}
	for _, p := range sc.Players {
		news.add(s.Ask(p.ID, sc, now))
	}
	return news
}

// Ask asks a player who is here to measure the places, unless the player has. Players behind one
// address take turns.
func (s *Survey) Ask(player people.ID, sc Scene, now roomtime.Time) News {
	at := slices.IndexFunc(sc.Players, func(p Player) bool { return p.ID == player })
	if at < 0 || !sc.Players[at].IsHere || s.state.Attempt == 0 || s.hasAnswered(player) || s.Count(sc.Places) == 0 {
		return News{}
	}
	// Players who do not show their own address see no other. Nobody sees the address of a player
	// who has left, or no longer agrees.
	if news, isAnew := s.dropHomes(sc, now); isAnew {
		return news
	}
	after := time.Duration(sc.Players[at].Turn) * samples * betweenMates
	return News{Asks: []Ask{{player, wire.Survey{
		Attempt: s.state.Attempt,
		Places:  s.venues(sc.Places),
		Samples: samples,
		After:   discovery.Millis(after),
	}}}}
}

func (s *Survey) hasAnswered(player people.ID) bool {
	return s.state.Found[player].Attempt == s.state.Attempt
}

// dropHomes drops the findings and begins again if a computer must no longer be measured, or has
// moved. It reports whether it did.
func (s *Survey) dropHomes(sc Scene, now roomtime.Time) (News, bool) {
	homes := s.homesIn(sc)
	isHome := func(h home) bool { return slices.ContainsFunc(homes, h.equal) }
	if !slices.ContainsFunc(s.state.Homes, func(h home) bool { return !isHome(h) }) {
		return News{}, false
	}
	anew := s.state.Anew + 1
	if s.state.Homes = nil; anew > maxAnew {
		s.End()
	}
	news := s.Change(sc, now)
	if s.state.Attempt > 0 {
		s.state.Anew = anew
	}
	return news, true
}

// Change forgets the findings, because the list of places has changed. It begins again if there was
// a survey.
func (s *Survey) Change(sc Scene, now roomtime.Time) (news News) {
	s.state.IsTold, s.state.Found = false, nil
	switch {
	case !s.hasPlaces(sc):
		s.End()
	case s.state.Attempt > 0:
		news = s.begin(sc, now)
	}
	return news
}

// End ends the survey: there is none until another begins.
func (s *Survey) End() {
	s.state.Before = max(s.state.Attempt, s.state.Before)
	s.state.Attempt, s.state.At, s.state.IsTold, s.state.Anew, s.state.Homes, s.relaxed = 0, roomtime.Time(0), false, 0, nil, relaxed{}
}

// Heard takes a player's finding. The error says that the message makes no sense.
func (s *Survey) Heard(player people.ID, m wire.Surveyed, sc Scene) (News, error) {
	if m.Attempt != s.state.Attempt || s.hasAnswered(player) {
		return News{}, nil // an answer about an earlier list, or a second answer
	}
	results := make([]result, s.Count(sc.Places))
	for _, seen := range m.Places {
		if seen.Server < 0 || seen.Server >= len(results) {
			return News{}, fmt.Errorf("a ping of place %d of %d", seen.Server, len(results))
		}
		r := result{State: seen.State}
		if seen.State == discovery.Answered {
			if len(seen.RTTs) == 0 {
				return News{}, errors.New("a place that answered without a ping")
			}
			r.RTT = discovery.Millis(wire.RoundRTT(time.Duration(slices.Min(seen.RTTs) * float64(time.Millisecond))))
		}
		results[seen.Server] = r
	}
	for i, h := range s.state.Homes {
		if h.Player == player {
			results[len(sc.Places)+i] = result{discovery.Answered, ownPing}
		}
	}
	if s.state.Found == nil {
		s.state.Found = map[people.ID]Found{}
	}
	s.state.Found[player] = Found{m.Attempt, results}
	return News{Notes: s.tell(sc)}, nil
}

// waiting returns the players who still measure.
func (s *Survey) waiting(sc Scene) []people.ID {
	players := []people.ID{}
	for _, p := range sc.Players {
		if p.IsHere && !s.hasAnswered(p.ID) {
			players = append(players, p.ID)
		}
	}
	return players
}

// Count returns the number of places in a survey: the organiser's list, and homes.
func (s *Survey) Count(places wire.Venues) int { return len(places) + len(s.state.Homes) }

// venues returns all places of a survey.
func (s *Survey) venues(places wire.Venues) wire.Venues {
	venues := slices.Clip(places)
	for _, h := range s.state.Homes {
		venues = append(venues, h.Place)
	}
	return venues
}

// Leave forgets a player who no longer plays here.
func (s *Survey) Leave(player people.ID) {
	delete(s.state.Found, player)
	delete(s.doors, player)
}

// homesIn returns the computers of players who could host. There are none unless all present
// players show their addresses.
func (s *Survey) homesIn(sc Scene) (homes []home) {
	if slices.ContainsFunc(sc.Players, func(p Player) bool { return p.IsHere && s.doors[p.ID].beacon == 0 }) {
		return nil
	}
	return s.agreeing(sc)
}

// Homes returns the computers of players who have agreed to host, and the players by the places' names. In a
// round that looks for a place these stand beside the other places, whoever else is here.
func (s *Survey) Homes(sc Scene) (places wire.Venues, owners map[string]people.ID) {
	owners = map[string]people.ID{}
	for _, h := range s.agreeing(sc) {
		places, owners[h.Place.Name] = append(places, h.Place), h.Player
	}
	return places, owners
}

// agreeing returns the computers of present players who have agreed to host. Everybody reaches addresses on
// the internet. If all players come from one network of the host's they also reach addresses there.
func (s *Survey) agreeing(sc Scene) (homes []home) {
	here := slices.DeleteFunc(slices.Clone(sc.Players), func(p Player) bool { return !p.IsHere })
	areBeside := areNeighbours(here)
	for _, p := range here {
		d := s.doors[p.ID]
		if d.beacon == 0 {
			continue
		}
		addr, port, name := p.Addr.Unmap().WithZone(""), cmp.Or(d.outside, d.beacon), p.Name+"'s computer"
		if areBeside { // with no router between them
			addr, port = p.Beside, d.beacon
		}
		isTaken := slices.ContainsFunc(sc.Places, func(v wire.Venue) bool { return v.Name == name })
		isReached := areBeside || discovery.ReachOf(addr) == discovery.InternetReach
		if isReached && !isTaken && len(homes)+len(sc.Places) < wire.MaxVenues {
			at := hostport.At(netip.AddrPortFrom(addr, port))
			homes = append(homes, home{p.ID, wire.Venue{Name: name, Addr: at, Protocol: "beacon"}})
		}
	}
	return homes
}

// areNeighbours reports whether all players come from one network of the host's, each from an
// address of their own there. If a player comes by another network, such as a VPN, other computers
// in the player's home may have the same addresses. An address that two share is a gateway's.
func areNeighbours(players []Player) bool {
	seen := map[netip.Addr]bool{}
	var network netip.Prefix
	for _, p := range players {
		at := p.Beside
		if !at.IsValid() || seen[at] {
			return false
		}
		bits := 64
		switch {
		case discovery.IsCarrierNAT(at): // mesh VPNs use addresses from all of this range
			bits = 10
		case at.Is4():
			bits = 24
		}
		if network.IsValid() && !network.Contains(at) {
			return false
		}
		network, seen[at] = netip.PrefixFrom(at, bits), true
	}
	return true
}
