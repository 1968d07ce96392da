package group

import (
	"cmp"

	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/room/calendar"
	"muster/host/room/estimates"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/places"
	"muster/host/room/roster"
	"muster/host/wire"
)

// Organiser returns the organiser, as the owner of lists and decisions; a text for people if nobody
// is.
func (g *Group) Organiser() people.ID { return cmp.Or(g.Roster.Organiser(), "the organiser") }

// Places returns how many players the room takes.
func (g *Group) Places() int { return cmp.Or(g.Settings.Players, g.Settings.Most, wire.MaxPlayers) }

// Person returns somebody in the room, or nobody.
func (g *Group) Person(id people.ID) people.Person { return g.with(g.Roster.Person(id)) }

// Caller returns the person with a credential, as [roster.Roster.Caller] does.
func (g *Group) Caller(credential string) people.Person { return g.with(g.Roster.Caller(credential)) }

// People returns all people of the room, the players first.
func (g *Group) People() (all []people.Person) {
	for p := range g.Roster.People() {
		all = append(all, g.with(p))
	}
	return all
}

// with adds to a person what the roster does not know.
func (g *Group) with(p people.Person) people.Person {
	if p.IsPlayer {
		mark := g.Attendance.Of(p.ID)
		p.IsHere, p.IsLeftOut = mark.Here, mark.Out != ""
	}
	p.IsAsked, p.IsCounted = p.IsAsked && p.IsHere, !p.IsPlayer && g.Estimates.IsCounted(p.ID)
	return p
}

// Electorate returns everybody who might have a say in the choice. If isChosen, people who are
// left out have none.
func (g *Group) Electorate(isChosen bool) ballot.Electorate {
	e := ballot.Electorate{People: g.People(), GuestsVote: g.Settings.GuestsVote}
	for i := range e.People {
		e.People[i].IsLeftOut = e.People[i].IsLeftOut && isChosen
	}
	return e
}

// Refusal returns why somebody has no say in the choice, or nil. If isChosen, people who are left
// out have none.
func (g *Group) Refusal(by people.Person, isChosen bool) error {
	if !by.IsSomebody() {
		return roster.ErrNickname
	}
	return g.Ballot.Refusal(by.ID, g.Electorate(isChosen))
}

// Awaited returns the people who have said whether they come to the next date.
func (g *Group) Awaited(c *calendar.Calendar) (awaited []people.ID) {
	if g.Settings.Every == "" {
		return nil // there is no date
	}
	for p := range g.Roster.People() {
		if c.Awaits(p.Mark) {
			awaited = append(awaited, p.ID)
		}
	}
	return awaited
}

// Known appends all people that the room knows, the players first, for the calendar. If only
// players matter it appends them alone, without their names and marks.
func (g *Group) Known(known []people.Person, onlyPlayers bool) []people.Person {
	if onlyPlayers { // many times a second
		for _, player := range g.Attendance.Players() {
			known = append(known, people.Person{ID: player, IsPlayer: true, IsHere: g.IsHere(player)})
		}
		return known
	}
	for p := range g.Roster.People() {
		known = append(known, g.with(p))
	}
	return known
}

// Placed returns people with their places, for estimates.
func (r *Round) Placed(ids []people.ID) []estimates.Person {
	all := make([]estimates.Person, len(ids))
	for i, id := range ids {
		all[i] = estimates.Person{ID: id, At: r.Origins.Place(id)}
	}
	return all
}

// Counted returns the guests who are counted in and can be.
func (g *Group) Counted() estimates.Counted { return g.Estimates.Counted(g.whereabouts()) }

// whereabouts returns what estimates depend on.
func (g *Group) whereabouts() estimates.Scene {
	var guests []people.ID
	for p := range g.Roster.People() {
		if !p.IsPlayer {
			guests = append(guests, p.ID)
		}
	}
	return estimates.Scene{
		Players: g.Placed(g.Attendance.Active()), Guests: g.Placed(guests), Rule: g.Settings.By,
	}
}

// Count counts a guest in by an estimate of their pings, or no longer. It returns a note for
// people.
func (g *Group) Count(guest people.ID, isCounted bool) (note sentence.Sentence, err error) {
	if isCounted {
		return g.Estimates.Count(g.Placed([]people.ID{guest})[0], g.whereabouts())
	}
	return g.Estimates.Uncount(guest), nil
}

// SurveyScene returns the facts about the group for a survey of places.
func (g *Group) SurveyScene() places.Scene {
	sc := places.Scene{Places: g.Settings.Places, Selection: g.Choice.Newest(), Criteria: g.Settings.Criteria()}
	sc.Criteria.Weights = byID(g, g.Tuning.Weights)
	turns := map[people.ID]int{}
	for _, natGroup := range g.Origins.Groups(g.Attendance.Players()) {
		for turn, player := range natGroup {
			turns[player] = turn
		}
	}
	for _, p := range g.People() {
		if from := g.Origins.Of(p.ID); p.IsPlayer {
			sc.Players = append(sc.Players, places.Player{Person: p, Addr: from.Addr, Beside: from.Beside(), Turn: turns[p.ID]})
		}
	}
	return sc
}

// Follow applies a change of the people in the room. It reports whether the room must be saved for
// it.
func (g *Group) Follow(event roster.Event) (binds bool) {
	switch e := event.(type) {
	case roster.Came:
		if e.WasGuest { // a player is measured, and comes from where the program is
			g.Estimates.Forget(e.ID)
			g.Origins.Forget(e.ID)
		}
		return true
	case roster.Left:
		words := ballot.All // else a second nickname would bring a second veto
		if e.IsPlayer {
			words &^= ballot.Veto
		}
		g.Ballot.Withdraw(e.ID, words)
		g.Sides.Forget(e.ID)
		g.Estimates.Forget(e.ID)
		g.Origins.Forget(e.ID)
	case roster.Removed:
		g.Lists.Withdraw(e.ID)
	}
	return false
}

// Drop forgets a player whose place is free.
func (g *Group) Drop(player people.ID) {
	delete(g.Evidence, player)
	g.Attendance.Forget(player)
	g.Editions.Forget(player)
	g.Origins.Forget(player)
	g.Trust.Forget(player)
	g.Nearby.Drop(player)
	g.Launches.Leave(player)
	g.Memories.Forget(player)
}

// Silence withdraws the words of guests who have no say by the settings. If isChosen, people who
// are left out have none.
func (g *Group) Silence(isChosen bool) {
	for p := range g.Roster.People() {
		if !p.IsPlayer && g.Ballot.Refusal(p.ID, g.Electorate(isChosen)) != nil {
			g.Ballot.Withdraw(p.ID, ballot.Vote|ballot.Ready)
		}
	}
}

// Invited returns the guests that somebody wants counted in.
func (g *Group) Invited() (invited []people.ID) {
	for p := range g.Roster.People() {
		if g.Estimates.IsCounted(p.ID) {
			invited = append(invited, p.ID)
		}
	}
	return invited
}

// Locate notes where a player's new connection comes from. In another network the results for
// hidden servers are void. If the players measure the list whole, a player who comes beside others
// measures a part.
func (g *Group) Locate(player people.ID, from origin.Origin, isMeasuring bool) {
	w := g.Evidence[player]
	if g.Origins.Come(player, from) {
		for _, server := range g.Nearby.Move(player, placeOf(from)) {
			w.Forget(server)
		}
	}
	if probed, _ := w.Progress(); isMeasuring && probed == 0 && len(g.NATGroup(player)) > 1 {
		w.Share(true)
	}
}

// placeOf returns the network where a player's program looks around.
func placeOf(o origin.Origin) nearby.Place {
	return nearby.Place{Public: o.Addr, AtHost: o.Home, Near: o.Near}
}
