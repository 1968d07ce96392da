package facts

import (
	"cmp"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/calendar"
	"muster/host/room/estimates"
	"muster/host/room/homes"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/roster"
	"muster/host/wire"
)

// Organiser returns the organiser's ID, for lists and decisions. While the organiser is not in the
// room it returns a text, which people read as it is.
func (f Facts) Organiser() people.ID { return cmp.Or(f.p.Roster.Organiser(), "the organiser") }

// MaxPlayers returns the number of players that the room takes.
func (f Facts) MaxPlayers() int {
	return cmp.Or(f.p.Settings.Players, f.p.Settings.Max, wire.MaxPlayers)
}

// Person returns somebody in the room, or nobody.
func (f Facts) Person(id people.ID) people.Person { return f.completed(f.p.Roster.Person(id)) }

// Caller returns the person with a credential, as [roster.Roster.Caller] does.
func (f Facts) Caller(credential string) people.Person {
	return f.completed(f.p.Roster.Caller(credential))
}

// People returns all people of the room, the players first.
func (f Facts) People() []people.Person { return f.AppendPeople(nil, false) }

// completed returns a person with the facts that the roster does not know.
func (f Facts) completed(p people.Person) people.Person {
	if p.IsPlayer {
		mark := f.p.Attendance.Of(p.ID)
		p.IsHere, p.IsLeftOut = mark.Here, mark.Out != ""
	}
	p.IsAsked, p.IsCounted = p.IsAsked && p.IsHere, !p.IsPlayer && f.p.Estimates.IsCounted(p.ID)
	return p
}

// Electorate returns the people who may have a say in the choice. Once a server is chosen, people who
// are left out have no say.
func (f Facts) Electorate(isChosen bool) ballot.Electorate {
	e := ballot.Electorate{People: f.People(), GuestsVote: f.p.Settings.GuestsVote}
	for i := range e.People {
		e.People[i].IsLeftOut = e.People[i].IsLeftOut && isChosen
	}
	return e
}

// Refusal returns why a person has no say in the choice, or nil for one who has. Once a server is
// chosen, people who are left out have no say.
func (f Facts) Refusal(by people.Person, isChosen bool) error {
	if !by.IsSomebody() {
		return roster.ErrNickname
	}
	return f.p.Ballot.Refusal(by.ID, f.Electorate(isChosen))
}

// Answerers returns the people who have said yes or no to the next date.
func (f Facts) Answerers(c *calendar.Calendar) (awaited []people.ID) {
	if f.p.Settings.Every == "" {
		return nil // there is no date
	}
	for p := range f.p.Roster.People() {
		if c.HasAnswered(p.Mark) {
			awaited = append(awaited, p.ID)
		}
	}
	return awaited
}

// Playing returns the players who play where the room went, and whose word counts, here or away.
// Pages do not play, nor do people who stayed behind or whom the group goes without.
func (f Facts) Playing() []people.ID {
	return people.Filtered(f.Players(), func(player people.ID) bool {
		mark := f.Mark(player)
		isOut := mark.Out.IsFirm() || mark.Out == attendance.Unwanted || mark.Out == attendance.Outvoted
		return !isOut && !f.p.Roster.IsBrowser(player) && f.p.Launches.Progress(player).State != wire.LaunchDeclined
	})
}

// AppendPeople appends all people of the room, the players first, for the calendar. With
// onlyPlayers it appends the players alone, without names and marks.
func (f Facts) AppendPeople(known []people.Person, onlyPlayers bool) []people.Person {
	if onlyPlayers { // many times a second
		for _, player := range f.p.Attendance.Players() {
			known = append(known, people.Person{ID: player, IsPlayer: true, IsHere: f.IsHere(player)})
		}
		return known
	}
	for p := range f.p.Roster.People() {
		known = append(known, f.completed(p))
	}
	return known
}

// WithPlaces returns people with their geographic places, for estimates.
func (f Facts) WithPlaces(ids []people.ID) []estimates.Person {
	all := make([]estimates.Person, len(ids))
	for i, id := range ids {
		all[i] = estimates.Person{ID: id, At: f.p.Origins.Place(id)}
	}
	return all
}

// Counted returns the guests who are counted in and have an estimate.
func (f Facts) Counted() estimates.Counted { return f.p.Estimates.Counted(f.estimateScene()) }

func (f Facts) estimateScene() estimates.Scene {
	var guests []people.ID
	for p := range f.p.Roster.People() {
		if !p.IsPlayer || f.p.Roster.IsBrowser(p.ID) && !f.IsOfPlaces() {
			guests = append(guests, p.ID)
		}
	}
	return estimates.Scene{
		Players: f.WithPlaces(f.Active()), Guests: f.WithPlaces(guests), Rule: f.p.Settings.By,
	}
}

// Count begins or stops counting a guest in by an estimate of their pings. It returns a note for
// people.
func (p *Parts) Count(guest people.ID, isCounted bool) (note sentence.Sentence, err error) {
	if isCounted {
		return p.Estimates.Count(p.Facts().WithPlaces([]people.ID{guest})[0], p.Facts().estimateScene())
	}
	return p.Estimates.Uncount(guest), nil
}

// CountPages counts players in who have only a page, by what they have measured of places, in a round of servers.
// Where that tells too little they just come along.
func (p *Parts) CountPages(pages []people.ID) {
	for _, player := range pages {
		if !p.Estimates.IsCounted(player) {
			p.Count(player, true)
		}
	}
}

// NotePlaces keeps what players have measured of the round's places, for estimates.
func (p *Parts) NotePlaces() {
	for _, player := range p.Attendance.Players() {
		var known []estimates.Landmark
		for place, v := range p.Candidates.All() {
			if result := p.Evidence[player].At(place); result.State == discovery.Answered {
				at := estimates.Place{Country: v.Country, Lat: v.Lat, Lon: v.Lon}
				known = append(known, estimates.Landmark{Key: v.Name, Place: at, RTT: result.RTT})
			}
		}
		if len(known) > 0 {
			p.Estimates.Measured(player, known)
		}
	}
}

// AtHome returns the players as package homes needs them.
func (f Facts) AtHome() (players []homes.Player) {
	for _, p := range f.People() {
		if from := f.p.Origins.Of(p.ID); p.IsPlayer {
			players = append(players, homes.Player{Person: p, Addr: from.Addr, Beside: from.Beside()})
		}
	}
	return players
}

// ApplyEvent tells the parts of a change of the people in the room. It reports whether the room
// must be saved first.
func (p *Parts) ApplyEvent(event roster.Event) (mustSave bool) {
	switch e := event.(type) {
	case roster.Came:
		if e.WasGuest { // a player is measured, and comes from where the program is
			p.Estimates.Forget(e.ID)
			p.Origins.Forget(e.ID)
		}
		return true
	case roster.Left:
		words := ballot.All // else a second nickname would bring a second veto
		if e.IsPlayer {
			words &^= ballot.Veto
		}
		p.Ballot.Withdraw(e.ID, words)
		p.Sides.Forget(e.ID)
		p.Estimates.Forget(e.ID)
		p.Origins.Forget(e.ID)
	case roster.Removed:
		p.Lists.Withdraw(e.ID)
	}
	return false
}

// Drop forgets a player who has given up the place.
func (p *Parts) Drop(player people.ID) {
	delete(p.Evidence, player)
	p.Attendance.Forget(player)
	p.Editions.Forget(player)
	p.Origins.Forget(player)
	p.Trust.Forget(player)
	p.Nearby.Drop(player)
	p.Launches.Leave(player)
	p.Memories.Forget(player)
	p.Lines.Forget(player)
}

// WithdrawGuestVotes withdraws the votes of guests to whom the settings give no say. If isChosen,
// people who are left out have no say either.
func (p *Parts) WithdrawGuestVotes(isChosen bool) {
	electorate := p.Facts().Electorate(isChosen)
	for _, one := range electorate.People {
		if !one.IsPlayer && p.Ballot.Refusal(one.ID, electorate) != nil {
			p.Ballot.Withdraw(one.ID, ballot.Vote|ballot.Ready)
		}
	}
}

// GuestsToCount returns the guests who are counted in, even if nothing can be estimated for them.
func (f Facts) GuestsToCount() (invited []people.ID) {
	for p := range f.p.Roster.People() {
		if f.p.Estimates.IsCounted(p.ID) {
			invited = append(invited, p.ID)
		}
	}
	return invited
}

// Locate notes where a player's new connection comes from. If the network has changed, the player's
// results for hidden servers are void. If players measure the whole list, a player who joins a NAT
// group measures a part of it.
func (p *Parts) Locate(player people.ID, from origin.Origin, isMeasuring bool) {
	w := p.Evidence[player]
	if p.Origins.Come(player, from) {
		for _, server := range p.Nearby.Move(player, networkOf(from)) {
			w.Forget(server)
		}
	}
	if probed, _ := w.Progress(); isMeasuring && probed == 0 && len(p.Facts().NATGroup(player)) > 1 {
		w.Share(true)
	}
}

// networkOf returns the network that a player's program searches for servers.
func networkOf(o origin.Origin) nearby.Place {
	return nearby.Place{Public: o.Addr, AtHost: o.Home, Near: o.Near}
}
