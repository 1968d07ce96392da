package facts

import (
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/estimates"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

// card returns a server as people see it, without the players' versions.
func (f Facts) card(server int) wire.ServerCard {
	if server < 0 {
		return wire.ServerCard{}
	}
	return wire.CardOf(f.p.Servers.List[server], f.p.Servers.Info(server))
}

// Card returns a server as people see it, with the players who have another version.
func (f Facts) Card(server int) wire.ServerCard {
	card := f.card(server)
	card.Mark(f.p.Servers.Info(server), f.NamedEditions())
	return card
}

// NamedEditions returns the players' versions of the game, with names in place of IDs.
func (f Facts) NamedEditions() []selection.Edition {
	all := f.Editions(f.Players())
	for i := range all {
		all[i].Player = f.Names().Text(all[i].Player)
	}
	return all
}

// Announced returns a server for an announcement to outsiders, by name and map alone.
func (f Facts) Announced(server int) *wire.AnnouncedServer {
	card := f.card(server)
	return &wire.AnnouncedServer{Name: card.Name, Map: card.Map}
}

// ViewPeople returns the people as everyone sees them, the players first. If isChosen, people who
// are left out have no say.
func (f Facts) ViewPeople(isChosen bool) []wire.Person {
	views, mates := []wire.Person{}, f.natGroups()
	electorate, scene, stands := f.Electorate(isChosen), f.estimateScene(), f.Newest()
	if !isChosen {
		stands = nil
	}
	for _, p := range electorate.People {
		b, view := f.p.Ballot.Paper(p.ID), wire.Person{
			Name: p.Name, Peer: p.IsPlayer, Browser: p.IsPlayer && f.p.Roster.IsBrowser(p.ID), Arrival: p.Arrival, Organiser: p.IsOrganiser, Page: p.HasPage,
			Guest: !p.IsPlayer && !p.IsOrganiser, Somewhere: p.HidesCountry, Side: f.SideOf(p.ID),
		}
		switch {
		case p.IsPlayer:
			if f.viewPlayer(&view, p, mates); f.p.Roster.IsBrowser(p.ID) && !f.IsOfPlaces() {
				view.Estimate = f.p.Estimates.View(estimates.Person{ID: p.ID, At: f.p.Origins.Place(p.ID)}, scene, stands)
			}
		case p.IsAway():
			continue
		default:
			view.Estimate = f.p.Estimates.View(estimates.Person{ID: p.ID, At: f.p.Origins.Place(p.ID)}, scene, stands)
			view.NoSay = f.p.Settings.GuestsVote && f.p.Ballot.Refusal(p.ID, electorate) != nil
		}
		view.Ready, view.Vetoed = b.Ready, b.Vetoed
		if b.Vote != nil {
			view.Vote = hostport.Text(f.p.Servers.List[*b.Vote].Addr)
		}
		if b.ByHand && view.Launch != wire.LaunchStarted {
			view.Launch, view.Detail = wire.LaunchByHand, sentence.Sentence{}
		}
		views = append(views, view)
	}
	return views
}

// viewPlayer adds the facts that a player's program tells.
func (f Facts) viewPlayer(v *wire.Person, p people.Person, mates map[people.ID][]people.ID) {
	mark, way := f.p.Attendance.Of(p.ID), f.p.Launches.Progress(p.ID)
	v.Connected, v.Done, v.LeftOut, v.Asked = mark.Here, mark.Done, mark.Out != "", p.IsAsked
	v.Version, v.Launch, v.Detail = f.p.Editions.Version(p.ID, f.p.Settings.Game), way.State, way.Detail
	v.Doubt = f.Names().Word(f.p.Trust.Reason(p.ID, &f.p.Servers))
	if !p.HidesCountry {
		v.Country = f.p.Origins.Of(p.ID).Country
	}
	v.Probed, v.Answered = f.knowledge(p.ID, mates).Progress()
	if able, isKnown := f.p.Launches.Can(p.ID, f.p.Settings.Game); isKnown && mark.Here {
		v.Able, v.Unable, v.TypesPassword, v.Delays = able.Why.IsZero(), able.Why, able.TypesPassword, able.Delays
	}
}

// ViewVetoes returns the vetoes with their authors.
func (f Facts) ViewVetoes() []string {
	vetoes := []string{}
	for _, veto := range f.p.Ballot.Vetoes() {
		what := veto.Map
		if what == "" {
			what = f.Called(veto.Server)
		}
		vetoes = append(vetoes, f.Names().Text(veto.Player)+": "+what)
	}
	return vetoes
}
