package group

import (
	"cmp"

	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/room/calendar"
	"muster/host/room/estimates"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/places"
	"muster/host/room/roomtime"
	"muster/host/room/roster"
	"muster/host/wire"
)

// OrganiserName returns the name under which the organiser's lists are kept.
func (g *Group) OrganiserName() string { return cmp.Or(g.Roster.Organiser(), "the organiser") }

// Places returns how many players the room takes.
func (g *Group) Places() int { return cmp.Or(g.Settings.Players, g.Settings.Most, wire.MaxPlayers) }

// Electorate returns everybody who might have a say in the choice. If isChosen, people who are
// left out have none.
func (g *Group) Electorate(isChosen bool) ballot.Electorate {
	e := ballot.Electorate{GuestsVote: g.Settings.GuestsVote}
	for one := range g.Roster.People() {
		person := ballot.Person{
			Name: one.Name, Organiser: one.IsOrganiser, Guest: !one.IsPlayer, From: one.From, Page: one.HasPage,
		}
		if one.IsPlayer {
			mark := g.Attendance.Of(one.Name)
			person.LeftOut, person.Asked = mark.Out != "" && isChosen, mark.Here && one.IsAsked
		} else {
			person.Counted = g.Estimates.IsCounted(one.Name)
		}
		e.People = append(e.People, person)
	}
	return e
}

// Refusal returns why somebody has no say in the choice, or nil. If isChosen, people who are left
// out have none.
func (g *Group) Refusal(by roster.Caller, isChosen bool) error {
	if !by.IsSomebody() {
		return roster.ErrNickname
	}
	return g.Ballot.Refusal(by.Name, g.Electorate(isChosen))
}

// Awaited returns the people who have said whether they come to the next date.
func (g *Group) Awaited(c *calendar.Calendar) (names []string) {
	if g.Settings.Every == "" {
		return nil // there is no date
	}
	for p := range g.Roster.People() {
		if c.Awaits(p.Mark) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Known appends all people that the room knows, the players first, for the calendar. If only
// players matter it appends them alone, without keys.
func (g *Group) Known(people []calendar.Person, onlyPlayers bool, now roomtime.Clocks) []calendar.Person {
	if onlyPlayers { // many times a second
		for _, player := range g.Attendance.Players() {
			people = append(people, calendar.Person{Name: player, IsPlayer: true, IsConnected: g.IsHere(player)})
		}
		return people
	}
	for p := range g.Roster.People() {
		people = append(people, calendar.Person{
			Key: p.Mark, Name: p.Name, Arrival: p.Arrival, Seen: now.Of(p.Seen), HasPage: p.HasPage,
			IsPlayer: p.IsPlayer, IsConnected: p.IsPlayer && g.IsHere(p.Name),
			IsRegular: p.IsRegular, IsOrganiser: p.IsOrganiser,
		})
	}
	return people
}

// Placed returns people with their places, for estimates.
func (r *Round) Placed(names []string) []estimates.Person {
	all := make([]estimates.Person, len(names))
	for i, name := range names {
		all[i] = estimates.Person{Name: name, At: r.Origins.Place(name)}
	}
	return all
}

// Counted returns the guests who are counted in and can be.
func (g *Group) Counted() estimates.Counted { return g.Estimates.Counted(g.whereabouts()) }

// whereabouts returns what estimates depend on.
func (g *Group) whereabouts() estimates.Scene {
	var guests []string
	for p := range g.Roster.People() {
		if !p.IsPlayer {
			guests = append(guests, p.Name)
		}
	}
	return estimates.Scene{
		Players: g.Placed(g.Attendance.Active()), Guests: g.Placed(guests), Rule: g.Settings.By,
	}
}

// Count counts a guest in by an estimate of their pings, or no longer. It returns a note for
// people.
func (g *Group) Count(guest string, isCounted bool) (note sentence.Sentence, err error) {
	if isCounted {
		return g.Estimates.Count(g.Placed([]string{guest})[0], g.whereabouts())
	}
	return g.Estimates.Uncount(guest), nil
}

// SurveyScene returns the facts about the group for a survey of places.
func (g *Group) SurveyScene() places.Scene {
	sc := places.Scene{Places: g.Settings.Places, Selection: g.Choice.Newest(), Criteria: g.Settings.Criteria()}
	sc.Criteria.Weights = g.Tuning.Weights
	turns := map[string]int{}
	for _, natGroup := range g.Origins.Groups(g.Attendance.Players()) {
		for turn, name := range natGroup {
			turns[name] = turn
		}
	}
	for _, name := range g.Attendance.Players() {
		mark, from := g.Attendance.Of(name), g.Origins.Of(name)
		sc.Players = append(sc.Players, places.Player{
			Name: name, Connected: mark.Here, LeftOut: mark.Out != "",
			Addr: from.Addr, Beside: from.Beside(), Turn: turns[name],
		})
	}
	return sc
}

// Follow applies a change of somebody's name. It reports whether the room must be saved for it.
func (g *Group) Follow(event roster.Event) (binds bool) {
	switch e := event.(type) {
	case roster.Came:
		if e.Was != "" {
			g.Ballot.Rename(e.Was, e.Name)
			g.Sides.Rename(e.Was, e.Name)
			g.Bans.Rename(e.Was, e.Name)
			g.Estimates.Forget(e.Was)
			g.Origins.Forget(e.Was)
		}
		if e.Was != e.Name {
			g.Lists.Come(e.Name, e.Owner)
		}
		if e.Was != "" {
			g.Lists.Rename(e.Was, e.Name)
		}
		return true
	case roster.Renamed:
		if w := g.Evidence[e.From]; w != nil {
			delete(g.Evidence, e.From)
			g.Evidence[e.To] = w
		}
		g.Attendance.Rename(e.From, e.To)
		g.Nearby.Rename(e.From, e.To)
		g.Ballot.Rename(e.From, e.To)
		g.Sides.Rename(e.From, e.To)
		g.Bans.Rename(e.From, e.To)
		g.Editions.Rename(e.From, e.To)
		g.Estimates.Rename(e.From, e.To)
		g.Origins.Rename(e.From, e.To)
		g.Trust.Rename(e.From, e.To)
		g.Launches.Rename(e.From, e.To)
		g.Memories.Rename(e.From, e.To)
		if e.From != e.To {
			g.Lists.Come(e.To, "")
			g.Lists.Rename(e.From, e.To)
		}
		return true
	case roster.Left:
		words := ballot.All // else a new name would bring a second veto
		if e.IsPlayer {
			words &^= ballot.Veto
		}
		g.Ballot.Withdraw(e.Name, words)
		g.Sides.Forget(e.Name)
		g.Estimates.Forget(e.Name)
		g.Lists.Leave(e.Name, e.Owners...)
		g.Origins.Forget(e.Name)
	case roster.Removed:
		g.Lists.Withdraw(e.Name)
	}
	return false
}

// Drop forgets a player whose place is free.
func (g *Group) Drop(name string) {
	delete(g.Evidence, name)
	g.Attendance.Forget(name)
	g.Editions.Forget(name)
	g.Origins.Forget(name)
	g.Trust.Forget(name)
	g.Nearby.Drop(name)
	g.Launches.Leave(name)
	g.Memories.Forget(name)
}

// Silence withdraws the words of guests who have no say by the settings. If isChosen, people who
// are left out have none.
func (g *Group) Silence(isChosen bool) {
	for p := range g.Roster.People() {
		if !p.IsPlayer && g.Ballot.Refusal(p.Name, g.Electorate(isChosen)) != nil {
			g.Ballot.Withdraw(p.Name, ballot.Vote|ballot.Ready)
		}
	}
}

// Invited returns the names of the guests that somebody wants counted in.
func (g *Group) Invited() (names []string) {
	for p := range g.Roster.People() {
		if g.Estimates.IsCounted(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Locate notes where a player's new connection comes from. In another network the results for
// hidden servers are void. If the players measure the list whole, a player who comes beside others
// measures a part.
func (g *Group) Locate(name string, from origin.Origin, isMeasuring bool) {
	w := g.Evidence[name]
	if g.Origins.Come(name, from) {
		for _, server := range g.Nearby.Move(name, placeOf(from)) {
			w.Forget(server)
		}
	}
	if probed, _ := w.Progress(); isMeasuring && probed == 0 && len(g.NATGroup(name)) > 1 {
		w.Share(true)
	}
}

// placeOf returns the network where a player's program looks around.
func placeOf(o origin.Origin) nearby.Place {
	return nearby.Place{Public: o.Addr, AtHost: o.Home, Near: o.Near}
}
