// Package estimates lets guests, who have only the page, count in a choice. It estimates their
// pings from the measurements of players near them.
//
// The organiser counts a guest in, and the guest may take that back. If an estimate would be a
// guess, the package says why, and the guest does not count:
//
//	where guests and players are ─▶ View ───▶ give or take 9 ms, or why not
//	their RTTs to places: Measured ─┘
//	                              ─▶ Counted ─▶ In ──────▶ the basis of a choice with them
package estimates

import (
	"maps"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/estimate"
)

// Guests are the guests who are counted in. The zero value has none.
type Guests struct {
	state State
	// estimators are not saved, because the package can make them again.
	estimators map[people.ID]estimator
}

// State is the saved state of the guests.
type State struct {
	Counted []people.ID `json:"counted,omitempty"`
	// Places are the places of which somebody's RTT is known, by their key, and RTTs holds them, by
	// person and key.
	Places map[string]Place                          `json:"places,omitempty"`
	RTTs   map[people.ID]map[string]discovery.Millis `json:"rtts_ms,omitempty"`
}

// Place is where a place is.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code, or empty.
	Country string `json:"country,omitempty"`
	// Lat and Lon are in degrees, and both 0 if they are unknown.
	Lat float64 `json:"lat,omitempty"`
	Lon float64 `json:"lon,omitempty"`
}

// Landmark is somebody's RTT to a place.
type Landmark struct {
	// Key tells the place from others, such as its address as text.
	Key string
	Place
	RTT time.Duration
}

// maxLandmarks is the most landmarks that are kept of a person: the first of those told.
const maxLandmarks = 32

// State returns the state, to save or restore it.
func (g *Guests) State() *State { return &g.state }

// Scene holds the people in the room, and their places.
type Scene struct {
	// Guests are the people with only the page, in their order.
	Guests []Person
	// Players are the players that the round counts on.
	Players []Person
	// Rule is the room's rule.
	Rule selection.Rule
}

// Person is a person with their place, if it is known.
type Person struct {
	ID people.ID
	At estimate.Place
}

// places returns people's places.
func places(of []Person) []estimate.Place {
	var all []estimate.Place
	for _, p := range of {
		all = append(all, p.At)
	}
	return all
}

// estimator estimates one guest's pings. It remembers its results, so it fits only while the guest
// and the players stay where they are.
type estimator struct {
	at    estimate.Place
	among []estimate.Place
	known []estimate.Landmark
	by    *estimate.Estimator
}

// Measured says that a guest or a player has measured places. They replace those that the person
// measured before. An estimate counts a player's RTTs, too, where the guest has measured the same
// place.
func (g *Guests) Measured(who people.ID, at []Landmark) {
	g.forgetRTTs(who)
	rtts := map[string]discovery.Millis{}
	places := map[string]Place{}
	maps.Copy(places, g.state.Places) // what was saved must not change
	for _, l := range at[:min(len(at), maxLandmarks)] {
		if l.Key != "" && l.RTT > 0 {
			rtts[l.Key], places[l.Key] = discovery.Millis(l.RTT), l.Place
		}
	}
	if len(rtts) == 0 {
		return
	}
	all := maps.Clone(g.state.RTTs)
	if all == nil {
		all = map[people.ID]map[string]discovery.Millis{}
	}
	all[who] = rtts
	g.state.Places, g.state.RTTs = places, all
}

// forgetRTTs forgets a person's RTTs to places, and the places that nobody else has measured.
func (g *Guests) forgetRTTs(of people.ID) {
	if g.state.RTTs[of] == nil {
		return
	}
	g.state.RTTs, g.state.Places = maps.Clone(g.state.RTTs), maps.Clone(g.state.Places)
	delete(g.state.RTTs, of)
	maps.DeleteFunc(g.state.Places, func(key string, _ Place) bool {
		for _, rtts := range g.state.RTTs {
			if rtts[key] > 0 {
				return false
			}
		}
		return true
	})
}

// landmarks returns a guest's landmarks, with the players' RTTs to them.
func (g *Guests) landmarks(guest people.ID, players []Person) (known []estimate.Landmark) {
	rtts := g.state.RTTs[guest]
	for _, key := range slices.Sorted(maps.Keys(rtts)) {
		p := g.state.Places[key]
		l := estimate.Landmark{Country: p.Country, Lat: p.Lat, Lon: p.Lon, Guest: time.Duration(rtts[key])}
		for _, player := range players {
			l.Players = append(l.Players, time.Duration(g.state.RTTs[player.ID][key]))
		}
		known = append(known, l)
	}
	return known
}

// estimator returns an estimator of a guest's pings, or nil and why estimates are not worth it.
func (g *Guests) estimator(guest Person, s Scene) (e *estimate.Estimator, why sentence.Sentence) {
	landmarks := g.landmarks(guest.ID, s.Players)
	if !guest.At.Addr.IsValid() && len(landmarks) == 0 {
		return nil, sentence.Of("estimate.no-address")
	}
	among := places(s.Players)
	known := g.estimators[guest.ID]
	if known.by == nil || known.at != guest.At || !slices.Equal(known.among, among) ||
		!slices.EqualFunc(known.known, landmarks, estimate.Landmark.Equal) {
		if g.estimators == nil {
			g.estimators = map[people.ID]estimator{}
		}
		known = estimator{guest.At, among, landmarks, estimate.New(guest.At, among, landmarks...)}
		g.estimators[guest.ID] = known
	}
	if !known.by.IsWorthwhile(s.Rule) {
		return nil, sentence.Of("estimate.nobody-near")
	}
	return known.by, why
}

// Count counts a guest in, and returns a note for people.
func (g *Guests) Count(guest Person, s Scene) (note sentence.Sentence, err error) {
	e, why := g.estimator(guest, s)
	if e == nil {
		return note, &wire.Refusal{Reason: wire.ReasonAction, Says: why}
	}
	g.state.Counted = append(slices.Clip(g.state.Counted), guest.ID)
	return sentence.Of("room.counts", "player", guest.ID, "ms", errorMS(e)), nil
}

// Uncount stops counting a guest in, and returns a note for people.
func (g *Guests) Uncount(guest people.ID) (note sentence.Sentence) {
	g.state.Counted = slices.DeleteFunc(slices.Clone(g.state.Counted), func(other people.ID) bool { return other == guest })
	return sentence.Of("room.counts-no-more", "player", guest)
}

// IsCounted reports whether the organiser counts a guest in.
func (g *Guests) IsCounted(guest people.ID) bool { return slices.Contains(g.state.Counted, guest) }

// Forget drops a person who has left, or a guest who has become a player.
func (g *Guests) Forget(guest people.ID) {
	g.Uncount(guest)
	g.forgetRTTs(guest)
	delete(g.estimators, guest)
}

// errorMS returns the error of estimates in milliseconds, as people see it.
func errorMS(e *estimate.Estimator) float64 {
	return math.Ceil(float64(e.Typical()) / float64(time.Millisecond))
}

// View says whether and how a guest can be counted in, for people. Stands is the choice that
// stands, nil while there is none.
func (g *Guests) View(guest Person, s Scene, stands *selection.Selection) *wire.Estimate {
	v := &wire.Estimate{Measured: g.state.RTTs[guest.ID] != nil}
	e, why := g.estimator(guest, s)
	if e == nil {
		v.Why = why
		return v
	}
	v.Counted, v.ErrorMS = g.IsCounted(guest.ID), errorMS(e)
	if v.Counted && stands != nil && stands.Chosen != nil && stands.Estimated[string(guest.ID)] == 0 {
		v.Why = sentence.Of("estimate.none-suits")
	}
	return v
}

// Counted are the guests who count in a choice, because their pings can be estimated.
type Counted struct {
	guests  []counted
	players []people.ID
	// landmarks returns a guest's landmarks.
	landmarks func(guest people.ID, players []Person) []estimate.Landmark
}

type counted struct {
	Person
	by *estimate.Estimator
}

// Counted returns the guests of a scene who count in a choice.
func (g *Guests) Counted(s Scene) Counted {
	c := Counted{landmarks: g.landmarks}
	for _, p := range s.Players {
		c.players = append(c.players, p.ID)
	}
	for _, guest := range s.Guests {
		if !g.IsCounted(guest.ID) {
			continue
		}
		if e, _ := g.estimator(guest, s); e != nil {
			c.guests = append(c.guests, counted{guest, e})
		}
	}
	return c
}

// Guests returns the guests.
func (c Counted) Guests() []people.ID {
	var guests []people.ID
	for _, g := range c.guests {
		guests = append(guests, g.ID)
	}
	return guests
}

// In returns the basis of a choice with the guests. It adds a column of estimates for each guest,
// for servers that a player measured. An estimate makes no server unreachable, and is within the
// limits of pings that a server has.
func (c Counted) In(b selection.Basis) selection.Basis {
	if len(c.guests) == 0 {
		return b
	}
	players := b.Table.Players()
	columns := make([]int, len(c.players))
	for i, player := range c.players {
		columns[i] = slices.Index(players, string(player))
	}
	b.Table = b.Table.Of(append(slices.Clip(players), people.Texts(c.Guests())...))
	b.Estimated = map[string]float64{}
	for _, g := range c.guests {
		b.Estimated[string(g.ID)] = errorMS(g.by)
	}
	rtts := make([]time.Duration, len(columns))
	for server := range b.Servers.List {
		isKnown := false
		for i, column := range columns {
			if rtts[i] = 0; column >= 0 {
				if state, rtt := b.Table.At(column, server); state == discovery.Answered {
					rtts[i], isKnown = rtt, true
				}
			}
		}
		if !isKnown {
			continue
		}
		for at, g := range c.guests {
			rtt := g.by.Estimate(b.Servers.List[server].Country, rtts).RTT
			if info := b.Servers.Info(server); info != nil {
				if info.MaxPing > 0 {
					rtt = min(rtt, info.MaxPing)
				}
				rtt = max(rtt, info.MinPing)
			}
			b.Table.Set(len(players)+at, server, discovery.Answered, rtt)
		}
	}
	return b
}

// Searched returns the guests for a search. by are the players that the search asks. Each may stand
// for others behind the same address.
func (c Counted) Searched(by []Person) []coordinate.Guest {
	var guests []coordinate.Guest
	for _, g := range c.guests {
		e := estimate.New(g.At, places(by), c.landmarks(g.ID, by)...)
		guests = append(guests, coordinate.Guest{Name: string(g.ID), RTT: func(country string, rtts []time.Duration) time.Duration {
			return e.Estimate(country, rtts).RTT
		}})
	}
	return guests
}
