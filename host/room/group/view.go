package group

import (
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/estimates"
	"muster/host/room/people"
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
	card, editions := g.card(server), g.Editions.Of(g.Attendance.Players(), g.Settings.Game)
	for i := range editions {
		editions[i].Player = g.Roster.Names().Text(editions[i].Player)
	}
	card.Mark(g.Servers.Info(server), editions)
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
	views, mates := []wire.Person{}, g.natGroups()
	electorate, names := g.Electorate(isChosen), g.Roster.Names()
	scene, stands := g.whereabouts(), g.Choice.Newest()
	if !isChosen {
		stands = nil
	}
	for _, p := range electorate.People {
		b, view := g.Ballot.Paper(p.ID), wire.Person{
			Name: p.Name, Peer: p.IsPlayer, Arrival: p.Arrival, Organiser: p.IsOrganiser, Page: p.HasPage,
			Guest: !p.IsPlayer && !p.IsOrganiser, Somewhere: p.IsSomewhere, Side: g.SideOf(p.ID),
		}
		switch {
		case p.IsPlayer:
			g.viewPlayer(&view, p, mates, names)
		case p.IsAway():
			continue
		default:
			view.Estimate = g.Estimates.View(estimates.Person{ID: p.ID, At: g.Origins.Place(p.ID)}, scene, stands)
			view.NoSay = g.Settings.GuestsVote && g.Ballot.Refusal(p.ID, electorate) != nil
		}
		view.Ready, view.Vetoed = b.Ready, b.Vetoed
		if b.Vote != nil {
			view.Vote = hostport.Text(g.Servers.List[*b.Vote].Addr)
		}
		if b.ByHand && view.Launch != wire.LaunchStarted {
			view.Launch, view.Detail = wire.LaunchByHand, sentence.Sentence{}
		}
		views = append(views, view)
	}
	return views
}

// viewPlayer adds what a player's program tells.
func (g *Group) viewPlayer(v *wire.Person, p people.Person, mates map[people.ID][]people.ID, names *people.Names) {
	mark, way := g.Attendance.Of(p.ID), g.Launches.Way(p.ID)
	v.Connected, v.Done, v.LeftOut, v.Asked = mark.Here, mark.Done, mark.Out != "", p.IsAsked
	v.Version, v.Launch, v.Detail = g.Editions.Version(p.ID, g.Settings.Game), way.State, way.Detail
	v.Doubt = names.Word(g.Trust.Reason(p.ID, &g.Servers))
	if !p.IsSomewhere {
		v.Country = g.Origins.Of(p.ID).Country
	}
	v.Probed, v.Answered = g.knowledge(p.ID, mates).Progress()
	if able, isKnown := g.Launches.Can(p.ID, g.Settings.Game); isKnown && mark.Here {
		v.Able, v.Unable, v.TypesPassword = able.Why.IsZero(), able.Why, able.TypesPassword
	}
}

// ViewVetoes returns the vetoes with their authors.
func (r *Round) ViewVetoes(names *people.Names) []string {
	vetoes := []string{}
	for _, veto := range r.Ballot.Vetoes() {
		what := veto.Map
		if what == "" {
			what = r.Called(veto.Server)
		}
		vetoes = append(vetoes, names.Text(veto.Player)+": "+what)
	}
	return vetoes
}
