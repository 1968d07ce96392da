// Package candidates keeps the places of a round in which a room looks for a place, and asks players to
// measure them. A place is a candidate like a server: it stands in the round's list under an address that
// nobody can join, and results for it are evidence like others.
//
//	places ─▶ New ─▶ Servers ─▶ the round's list
//	                                 │ which to ask whom: package scout
//	                                 ▼
//	player ◀── survey ── Ask       Heard ◀── surveyed ── player
//	                                 └─▶ results, by the list's indexes
package candidates

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/countries"
	"muster/discovery/hostport"
	"muster/host/room/evidence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection/scout"
)

const (
	// MaxAsked is how many places see a player's address in a round at most.
	MaxAsked = 24
	// atOnce is how many of them a player is asked for at once: the answers decide about the next.
	atOnce = 12
	// maxRenewed is how often a round begins again because somebody's computer could host, too.
	maxRenewed = 8
	// samples is how often a player asks a place. The lowest RTT counts.
	samples = 5
	// betweenMates is the time between two samples of one place from behind one address.
	betweenMates = 400 * time.Millisecond
)

// Places are a round's candidate places. The zero value has none, as in a round of servers.
type Places struct {
	state State
	// shown is what people see of the places, which stays for the round.
	shown *wire.Places
}

// State is the saved state of places.
type State struct {
	// Places are in the order of the round's list.
	Places wire.Venues `json:"places,omitempty"`
	// Owners are the players whose computers are places, by the places' names.
	Owners map[string]people.ID `json:"owners,omitempty"`
	// Attempt is the number of the newest survey, and Open are the players' surveys that go on.
	Attempt int                `json:"attempt,omitempty"`
	Open    map[people.ID]open `json:"open,omitempty"`
	// Doubted are places that are near everybody, and so are no single place.
	Doubted []int `json:"doubted,omitempty"`
	// Renewed counts the rounds that began again for a player's computer.
	Renewed int `json:"renewed,omitempty"`
}

// open is a survey that a player has been asked for, and the places in it.
type open struct {
	Attempt int   `json:"attempt"`
	Places  []int `json:"places"`
}

// State returns the state, to save or restore it.
func (p *Places) State() *State { return &p.state }

// Validate returns the first fault of saved places of a list with so many servers, or nil.
func (s *State) Validate(listed int) error {
	isWhole := len(s.Places) == 0 || len(s.Places) == listed
	for _, o := range append(slices.Collect(maps.Values(s.Open)), open{Places: s.Doubted}) {
		for _, place := range o.Places {
			isWhole = isWhole && place >= 0 && place < len(s.Places)
		}
	}
	if !isWhole || s.Attempt < 0 {
		return fmt.Errorf("%d places in a list of %d", len(s.Places), listed)
	}
	return nil
}

// New returns places before their list is known. They keep the number of the room's last survey, so that
// late answers to an earlier one are ignored.
func New(places wire.Venues, owners map[string]people.ID, before Places) Places {
	return Places{state: State{Places: slices.Clone(places), Owners: owners, Attempt: before.state.Attempt, Renewed: before.state.Renewed}}
}

// Has reports whether all of some places are among these.
func (p *Places) Has(places wire.Venues) bool {
	return !slices.ContainsFunc(places, func(v wire.Venue) bool { return !slices.ContainsFunc(p.state.Places, v.Equal) })
}

// Renew reports whether the round may begin again for a computer that could host. It may a few times: a program
// that comes and goes at ever new ports would keep everybody measuring.
func (p *Places) Renew() bool {
	p.state.Renewed++
	return p.state.Renewed <= maxRenewed
}

// Own returns the places that are a player's computer.
func (p *Places) Own(player people.ID) (own []int) {
	for i, v := range p.state.Places {
		if owner, is := p.state.Owners[v.Name]; is && owner == player {
			own = append(own, i)
		}
	}
	return own
}

// Known yields a player's results of an earlier round for places that are the same now, by their present
// indexes.
func (p *Places) Known(before Places, results *evidence.PlayerResults) iter.Seq2[int, discovery.Result] {
	return func(yield func(int, discovery.Result) bool) {
		for was, v := range before.state.Places {
			now := slices.IndexFunc(p.state.Places, v.Equal)
			if result := results.At(was); now >= 0 && result.State == discovery.Answered && !yield(now, result) {
				return
			}
		}
	}
}

// Key returns the address under which a place stands in lists. Places of one name have one key, round after
// round, and nobody can join it.
func Key(name string) netip.AddrPort {
	sum := fnv.New64a()
	sum.Write([]byte(name)) // never fails
	return discovery.Placeholder(sum.Sum64())
}

// Servers returns the places as servers for a list.
func Servers(places wire.Venues) []discovery.Server {
	servers := make([]discovery.Server, len(places))
	for i, v := range places {
		servers[i] = discovery.Server{Addr: Key(v.Name), Country: v.Country}
	}
	return servers
}

// Arrange puts the places in the order of the round's list.
func (p *Places) Arrange(list []discovery.Server) {
	by := map[netip.AddrPort]wire.Venue{}
	for _, v := range p.state.Places {
		by[Key(v.Name)] = v
	}
	p.state.Places, p.shown = nil, nil
	for _, s := range list {
		p.state.Places = append(p.state.Places, by[s.Addr])
	}
}

// All returns the places by their indexes in the list, none in a round of servers.
func (p *Places) All() wire.Venues { return p.state.Places }

// Surveyor is a player who may be asked for places.
type Surveyor struct {
	ID people.ID
	// Country is where the player's line ends, empty if unknown.
	Country string
	// Results are the player's results, by place.
	Results []discovery.Result
	// Turn is the player's place among those behind one address, who measure in turn.
	Turn int
}

// Group are all players of a room.
type Group struct {
	Surveyors []Surveyor
	// Cost is what pings in ms, by player, mean for the group by its rule: the lower the better. nil is the
	// average.
	Cost func(pings []float64) float64
}

// Ask is a survey for a player, with its places by the list's indexes.
type Ask struct {
	To     people.ID
	Survey wire.Survey
	Places []int
}

// Ask returns some players' surveys: each one's that goes on, because a program that comes back is asked again, or
// the next one. A player who has measured all that matters gets none.
func (p *Places) Ask(group Group, players ...people.ID) (asks []Ask) {
	p.state.Open = maps.Clone(p.state.Open)
	var next [][]int
	for at, s := range group.Surveyors {
		o, isOpen := p.state.Open[s.ID]
		switch {
		case !slices.Contains(players, s.ID):
			continue
		case !isOpen && next == nil:
			next = p.next(group)
			fallthrough
		case !isOpen:
			if o.Places = next[at]; len(o.Places) == 0 {
				continue
			}
			p.state.Attempt++
			o.Attempt = p.state.Attempt
			if p.state.Open == nil {
				p.state.Open = map[people.ID]open{}
			}
			p.state.Open[s.ID] = o
		}
		survey := wire.Survey{Attempt: o.Attempt, Samples: samples, After: discovery.Millis(time.Duration(s.Turn) * betweenMates)}
		for _, place := range o.Places {
			survey.Places = append(survey.Places, p.state.Places[place])
		}
		asks = append(asks, Ask{s.ID, survey, o.Places})
	}
	return asks
}

// Close keeps a group from measuring players' computers that are not among these places now: nobody else gets the
// address of a player who has left, or no longer agrees to host.
func (p *Places) Close(group Group, places wire.Venues) Group {
	for i, v := range p.state.Places {
		if _, isHome := p.state.Owners[v.Name]; !isHome || slices.ContainsFunc(places, v.Equal) {
			continue
		}
		for _, s := range group.Surveyors {
			if s.Results[i].State == discovery.Unprobed {
				s.Results[i].State = discovery.Forbidden
			}
		}
	}
	return group
}

// Judgement is what [Places.Judge] has found.
type Judgement struct {
	// Lines are players for whom something on their own line answers in place of the machines.
	Lines []people.ID
	// Near are places that answer near everybody. They are out for the round; see [Places.Doubted].
	Near []int
	// Short are pings of single players that no light could have.
	Short map[people.ID][]int
}

// Judge finds pings that no light could have; see [scout.Doubts].
func (p *Places) Judge(group Group) Judgement {
	positions, players, _ := p.scene(group)
	j := Judgement{Short: map[people.ID][]int{}}
	for _, doubt := range scout.Doubts(positions, players) {
		switch {
		case doubt.Place < 0:
			j.Lines = append(j.Lines, group.Surveyors[doubt.Player].ID)
		case doubt.Player >= 0:
			id := group.Surveyors[doubt.Player].ID
			j.Short[id] = append(j.Short[id], doubt.Place)
		case !slices.Contains(p.state.Doubted, doubt.Place):
			j.Near = append(j.Near, doubt.Place)
		}
	}
	p.state.Doubted = append(slices.Clip(p.state.Doubted), j.Near...)
	return j
}

// Doubted returns the addresses of places that no server would be at.
func (p *Places) Doubted() (addrs []netip.Addr) {
	for _, place := range p.state.Doubted {
		addrs = append(addrs, Key(p.state.Places[place].Name).Addr())
	}
	return addrs
}

// next returns the places that each of the group should measure next. A player whose number is at its end gets
// none.
func (p *Places) next(group Group) [][]int {
	positions, players, left := p.scene(group)
	next := scout.Next(positions, players, group.Cost, atOnce)
	for i := range next {
		next[i] = next[i][:min(len(next[i]), max(0, left[i]))]
	}
	return next
}

// scene returns places and players as package scout knows them, and how many more places may see each player's
// address.
func (p *Places) scene(group Group) (positions []scout.Place, players []scout.Player, left []int) {
	positions, players = make([]scout.Place, len(p.state.Places)), make([]scout.Player, len(group.Surveyors))
	left = make([]int, len(players))
	for i, v := range p.state.Places {
		positions[i] = scout.Place{Lat: v.Lat, Lon: v.Lon}
	}
	for i, s := range group.Surveyors {
		left[i] = MaxAsked
		for _, result := range s.Results {
			ping := -1.0
			switch result.State {
			case discovery.Unprobed:
				ping = 0
			case discovery.Answered:
				ping = discovery.MS(result.RTT)
			}
			if ping != 0 {
				left[i]--
			}
			players[i].Pings = append(players[i].Pings, ping)
		}
		if at, known := countries.Centre(s.Country); known {
			players[i].At = scout.Place{Lat: at.Lat, Lon: at.Lon}
		}
		players[i].Rests = left[i] <= 0
	}
	return positions, players, left
}

// Heard takes a player's answer. It returns the results by the list's indexes, and whether the survey is
// at its end. An answer to another survey has none. The error says that the message makes no sense.
func (p *Places) Heard(player people.ID, m wire.Surveyed) (results []discovery.Result, isLast bool, err error) {
	o, isOpen := p.state.Open[player]
	if !isOpen || m.Attempt != o.Attempt {
		return nil, false, nil
	}
	for _, seen := range m.Places {
		if seen.Server < 0 || seen.Server >= len(o.Places) {
			return nil, false, fmt.Errorf("a ping of place %d of %d", seen.Server, len(o.Places))
		}
		result := discovery.Result{Server: o.Places[seen.Server], State: seen.State}
		if seen.State == discovery.Answered {
			if len(seen.RTTs) == 0 {
				return nil, false, errors.New("a place that answered without a ping")
			}
			result.RTT = wire.RoundRTT(time.Duration(slices.Min(seen.RTTs) * float64(time.Millisecond)))
		}
		results = append(results, result)
	}
	if isLast = !m.More; isLast {
		p.state.Open = maps.Clone(p.state.Open)
		delete(p.state.Open, player)
	}
	return results, isLast, nil
}

// View returns a place as people see it.
func (p *Places) View(place int) wire.Candidate {
	v := p.state.Places[place]
	_, isHome := p.state.Owners[v.Name]
	return wire.Candidate{
		At: hostport.Text(Key(v.Name)), Name: v.Name, Country: v.Country, Lat: v.Lat, Lon: v.Lon,
		Offers: v.Offers, IsHome: isHome,
	}
}

// ViewAll returns all places as people see them, and whose machines will see the address of a player who
// comes now: as far as anybody can tell before the first answer.
func (p *Places) ViewAll() wire.Places {
	if p.shown != nil {
		return *p.shown
	}
	v := wire.Places{Providers: []wire.ProviderCount{}}
	for place := range p.state.Places {
		v.Candidates = append(v.Candidates, p.View(place))
	}
	newcomer, counts := Surveyor{Results: make([]discovery.Result, len(p.state.Places))}, map[string]int{}
	for next := []int{0}; len(next) > 0; {
		next = p.next(Group{Surveyors: []Surveyor{newcomer}})[0]
		for _, place := range next {
			newcomer.Results[place].State = discovery.Lost
			v.Machines++
			if offers := p.state.Places[place].Offers; len(offers) > 0 {
				counts[offers[0].Provider]++
			}
		}
	}
	for name, n := range counts {
		v.Providers = append(v.Providers, wire.ProviderCount{Name: name, N: n})
	}
	slices.SortFunc(v.Providers, func(a, b wire.ProviderCount) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name))
	})
	p.shown = &v
	return v
}

// IsOpen reports whether a player is measuring.
func (p *Places) IsOpen(player people.ID) bool {
	_, is := p.state.Open[player]
	return is
}

// Leave forgets a player who no longer plays here.
func (p *Places) Leave(player people.ID) { delete(p.state.Open, player) }
