package room

import (
	"iter"
	"slices"

	"muster/discovery"
	"muster/host/room/choice"
	"muster/host/room/roster"
	"muster/host/wire"
)

// Snapshot is what everyone may see of the room now. It shares nothing that the
// room still changes.
func (r *Room) Snapshot() wire.Snapshot {
	calendar := r.calendar.View(r.facts(r.now))
	s := wire.Snapshot{
		Room: wire.Head{
			Code: r.roster.Keys().Code, Settings: r.settings, Stage: r.phase.stage(), Since: r.since, Began: r.round.measuring, Round: r.round.number,
			Locked: r.roster.IsLocked(), Listed: len(r.round.servers.List), MostAsked: r.mostTold(), Said: r.round.servers.Said.At, Paused: r.outage.IsPaused(), Ended: calendar.Ended,
		},
		Log:     r.journal.View(),
		People:  r.people(),
		Voting:  r.round.ballot.View(r.isVoting(), r.round.options()),
		History: calendar.History,
		Lists:   r.lists.View(),
		Form:    wire.Form(),
		Meeting: calendar.Meeting,

		Standing: r.round.podium.View(r.round.number),
	}
	if v, verifying := r.phase.(*Verifying); verifying {
		s.Look = v.view(r)
	}
	s.Room.Password, s.Room.Servers, s.Room.Own = "", nil, len(r.settings.Servers)
	s.Room.Places = nil
	s.Room.Candidates, s.Sites = r.survey.View(r.placesScene())
	if s.Room.Webhook, s.Room.Posts = "", calendar.Posts; s.Room.Posts != nil {
		s.Room.Posts.To = wire.WebhookOf(r.settings.Webhook)
	}
	if search := r.round.search; search != nil {
		switch r.phase.(type) {
		case *Coordinating:
			s.Room.Search = search.View(r.settings.By)
			s.Room.Outlook = s.Room.Search.Sentence(r.settings.By)
		case *Voting: // the choice stands, and is no best so far
			s.Room.Outlook = search.View(r.settings.By).GoesOn()
		}
	}
	if w := r.waiting(); w != nil {
		s.Seats = w.view(r)
	}
	if r.round.choice.Newest() != nil {
		f := r.choiceFacts()
		s.Choice, s.WhatIf = r.round.choice.View(f), r.round.choice.ViewWhatIf(f)
		if miss := s.Choice.Miss; miss != nil {
			server := slices.IndexFunc(r.round.servers.List, func(s discovery.Server) bool { return s.Addr.String() == miss.Addr })
			for _, p := range r.round.chosenFor() {
				if result := r.round.knowledge(p).At(server); result.State == discovery.Answered {
					miss.RTT[p.name] = discovery.MS(result.RTT)
				}
			}
		}
	}
	for _, veto := range r.round.ballot.Vetoes() {
		what := veto.Map
		if what == "" {
			what = r.round.vetoedName(veto.Server)
		}
		s.Voting.Vetoes = append(s.Voting.Vetoes, veto.Player+": "+what)
	}
	switch phase := r.phase.(type) {
	case *Countdown:
		s.Voting.LaunchAt = phase.LaunchAt
	case *Failed:
		s.Room.Retry = phase.Retry
	case *Launching:
		s.Way = &wire.Way{Connect: phase.Launch.Address, QueryPort: phase.Launch.QueryPort, Server: phase.Launch.Name}
	}
	return s
}

// people are the players first, then those with only a page.
func (r *Room) people() []wire.Person {
	people := []wire.Person{}
	for _, p := range r.round.players {
		person := wire.Person{
			Name: p.name, Peer: true, Connected: r.round.mark(p).Here,
			Done: r.round.mark(p).Done, LeftOut: r.round.mark(p).Out != "", Version: r.editions.Version(p.name, r.settings.Game),
		}
		person.Probed, person.Answered = r.round.knowledge(p).Progress()
		way := r.round.launches.Way(p.name)
		person.Launch, person.Detail = way.State, way.Detail
		if able, isKnown := r.round.launches.Can(p.name, r.settings.Game); isKnown && r.round.mark(p).Here {
			person.Able, person.Unable, person.TypesPassword = able.Why == "", able.Why, able.TypesPassword
		}
		person.Doubt, person.Country = r.round.trust.Reason(p.name, &r.round.servers), r.round.origins.Of(p.name).Country
		people = append(people, person)
	}
	scene, stands := r.whereabouts(), r.round.choice.Newest()
	if r.phase.stage() != wire.Chosen {
		stands = nil
	}
	for _, g := range scene.Guests {
		if !r.roster.Person(g.Name).IsAway() {
			people = append(people, wire.Person{Name: g.Name, Estimate: r.estimates.View(g, scene, stands)})
		}
	}
	electorate := r.electorate()
	for i := range people {
		person, p := &people[i], r.roster.Person(people[i].Name)
		b := r.round.ballot.Paper(p.Name)
		person.Arrival, person.Organiser, person.Page, person.Ready, person.Vetoed = p.Arrival, p.IsOrganiser, p.HasPage, b.Ready, b.Vetoed
		person.Guest, person.Asked = !p.IsPlayer && !p.IsOrganiser, p.IsAsked && person.Connected
		if person.Somewhere = p.IsSomewhere; p.IsSomewhere {
			person.Country = ""
		}
		person.NoSay = !p.IsPlayer && r.settings.GuestsVote && r.round.ballot.Refusal(p.Name, electorate) != nil
		if b.Vote != nil {
			person.Vote = r.round.servers.List[*b.Vote].Addr.String()
		}
		if b.ByHand && person.Launch != wire.LaunchStarted {
			person.Launch, person.Detail = wire.LaunchByHand, ""
		}
	}
	return people
}

// choiceFacts returns what people see with a choice.
func (r *Room) choiceFacts() choice.Facts {
	players := names(r.round.players)
	f := choice.Facts{
		Servers: r.round.servers, Editions: r.editions.Of(players, r.settings.Game), Players: players,
		Limits: r.settings.Limits, IsOpen: r.mayDecideAgain(), Stands: *r.round.choice.Newest(), Target: -1,
	}
	if f.Stands.Chosen != nil {
		f.Target = r.round.ballot.Favourite(r.round.options())
		if launching, is := r.phase.(*Launching); is {
			f.Target = launching.Server
		}
		f.Stands = r.round.ballot.Decide(f.Stands, f.Target, r.isVoting())
	}
	if most, is := r.round.trust.Weightiest(r.round.choice.Newest()); is {
		f.Weightiest = most
	}
	f.Others = r.adviseWait()
	if n := r.worthAsking(); n > 0 {
		f.Others = append(f.Others, wire.Advice{Text: r.round.budget.Offer(r.terms(), n), Action: "more", Argument: wire.Argument{Servers: n}})
	}
	return f
}

// card is what people see of a server, and which players have another version.
func (r *Room) card(server int) wire.ServerCard {
	card := cardOf(r.round.servers, server)
	card.Mark(r.round.servers.Info(server), r.editions.Of(names(r.round.players), r.settings.Game))
	return card
}

// Traces are the players' probes of the round in the order in which they ended,
// by name. They are not to be changed; those of a player only become more.
func (r *Room) Traces() iter.Seq2[string, []discovery.Result] {
	return func(yield func(string, []discovery.Result) bool) {
		for _, p := range r.round.players {
			if !yield(p.name, p.witness.Probes()) {
				return
			}
		}
	}
}

// Tokens returns those that open players' places.
func (r *Room) Tokens() []string { return r.roster.Tokens() }

// Badge is that of [roster.Badge].
type Badge = roster.Badge

// Digest is that of [roster.Digest].
type Digest = roster.Digest

// DigestOf returns the digest of a credential.
func DigestOf(credential string) Digest { return roster.DigestOf(credential) }

// Badges returns what each credential may do; see [roster.Roster.Badges].
func (r *Room) Badges() map[Digest]Badge {
	password := ""
	if l, isLaunching := r.phase.(*Launching); isLaunching {
		password = l.Launch.Password
	}
	var counted []string
	for p := range r.roster.People() {
		if r.estimates.IsCounted(p.Name) {
			counted = append(counted, p.Name)
		}
	}
	return r.roster.Badges(password, r.settings.Every != "", counted)
}
