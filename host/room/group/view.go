package group

import (
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
)

// card returns what people see of a server, without the players' versions.
func (r *Round) card(server int) wire.ServerCard {
	if server < 0 {
		return wire.ServerCard{}
	}
	return wire.CardOf(r.Servers.List[server], r.Servers.Info(server))
}

// Card returns what people see of a server, and which players have another version.
func (g *Group) Card(server int) wire.ServerCard {
	card := g.card(server)
	card.Mark(g.Servers.Info(server), g.Editions.Of(g.Attendance.Players(), g.Settings.Game))
	return card
}

// Announced returns a server for an announcement to outsiders: by its name.
func (r *Round) Announced(server int) *wire.AnnouncedServer {
	card := r.card(server)
	return &wire.AnnouncedServer{Name: card.Name, Map: card.Map}
}

// ViewPeople returns the players first, then those with only a page. If isChosen, people who are
// left out have no say.
func (g *Group) ViewPeople(isChosen bool) []wire.Person {
	people, mates := []wire.Person{}, g.natGroups()
	for _, name := range g.Attendance.Players() {
		mark, way := g.Attendance.Of(name), g.Launches.Way(name)
		person := wire.Person{
			Name: name, Peer: true, Connected: mark.Here, Done: mark.Done, LeftOut: mark.Out != "",
			Version: g.Editions.Version(name, g.Settings.Game), Launch: way.State, Detail: way.Detail,
			Doubt: g.Trust.Reason(name, &g.Servers), Country: g.Origins.Of(name).Country,
		}
		person.Probed, person.Answered = g.knowledge(name, mates).Progress()
		if able, isKnown := g.Launches.Can(name, g.Settings.Game); isKnown && mark.Here {
			person.Able, person.Unable, person.TypesPassword = able.Why.IsZero(), able.Why, able.TypesPassword
		}
		people = append(people, person)
	}
	scene, stands := g.whereabouts(), g.Choice.Newest()
	if !isChosen {
		stands = nil
	}
	for _, guest := range scene.Guests {
		if !g.Roster.Person(guest.Name).IsAway() {
			people = append(people, wire.Person{Name: guest.Name, Estimate: g.Estimates.View(guest, scene, stands)})
		}
	}
	electorate := g.Electorate(isChosen)
	for i := range people {
		person, p := &people[i], g.Roster.Person(people[i].Name)
		b := g.Ballot.Paper(p.Name)
		person.Arrival, person.Organiser, person.Page, person.Ready, person.Vetoed = p.Arrival, p.IsOrganiser, p.HasPage, b.Ready, b.Vetoed
		person.Side = g.SideOf(p.Name)
		person.Guest, person.Asked = !p.IsPlayer && !p.IsOrganiser, p.IsAsked && person.Connected
		if person.Somewhere = p.IsSomewhere; p.IsSomewhere {
			person.Country = ""
		}
		person.NoSay = !p.IsPlayer && g.Settings.GuestsVote && g.Ballot.Refusal(p.Name, electorate) != nil
		if b.Vote != nil {
			person.Vote = hostport.Text(g.Servers.List[*b.Vote].Addr)
		}
		if b.ByHand && person.Launch != wire.LaunchStarted {
			person.Launch, person.Detail = wire.LaunchByHand, sentence.Sentence{}
		}
	}
	return people
}

// ViewVetoes returns the vetoes with their authors.
func (r *Round) ViewVetoes() []string {
	vetoes := []string{}
	for _, veto := range r.Ballot.Vetoes() {
		what := veto.Map
		if what == "" {
			what = r.Called(veto.Server)
		}
		vetoes = append(vetoes, veto.Player+": "+what)
	}
	return vetoes
}
