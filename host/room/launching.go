package room

import (
	"math"
	"slices"

	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/room/calendar"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/launch"
	"muster/host/room/moving"
	"muster/host/room/people"
	"muster/host/room/sides"
	"muster/host/room/waiting"
	"muster/host/wire"
)

// Launching is the launch and the time after it.
type Launching struct {
	base
	Launch wire.Launch `json:"launch"`
	Server int         `json:"server"`
	// Moving is what becomes of the people since.
	Moving moving.Watch `json:"moving,omitzero"`
}

func (*Launching) traits() traits {
	return traits{name: wire.PhaseLaunching, sides: sides.Afterwards, isBetween: true, isSent: true}
}

func (l *Launching) launch() *wire.Launch { return &l.Launch }

func (l *Launching) joined(r *Room, player people.ID) {
	if r.parts.Launches.Awaits(player) {
		l.sendThere(r, player)
	} else {
		tellDelay(r, player)
	}
}

// awaitSeats begins a wait for players who found no seat.
func (l *Launching) awaitSeats(r *Room, a AwaitSeats) error {
	wait, err := waiting.BeginOutside(r.facts, a.Names, l.Server, r.now)
	if err != nil {
		return err
	}
	for _, player := range wait.Outside() {
		r.parts.Ballot.Withdraw(player, ballot.ByHand)
	}
	(&Waiting{Back: l, Wait: wait}).begin(r)
	return nil
}

func (l *Launching) view(r *Room, s *wire.Snapshot, showing *decision.Showing) {
	s.Way = &wire.Way{Connect: l.Launch.Address, QueryPort: l.Launch.QueryPort, Server: l.Launch.Name}
	s.Moving, showing.Target = l.viewMoving(r), l.Server
}

func (l *Launching) isValid(g *facts.Parts) bool {
	return hasChoice(g) && l.Server >= 0 && l.Server < len(g.Servers.List) && l.Moving.Validate(len(g.Servers.List)) == nil
}

func (*Launching) proceed(r *Room) error {
	r.nextRound()
	return nil
}

// goThere ends the round at a server of its list, or at a place.
func (r *Room) goThere(server int) {
	if r.facts.IsOfPlaces() {
		(&Placed{Server: server}).begin(r)
		return
	}
	(&Launching{Server: server}).begin(r)
}

// begin sends everyone to the server.
func (l *Launching) begin(r *Room) {
	g, server := &r.parts, l.Server
	l.Launch = launch.To(g.Number, g.Settings, &g.Servers, server)
	r.enter(l)
	r.out.learn(g)
	r.probing.EndSearch() // a later search begins from the results
	trip, post := r.arrive(server, wire.Played{Server: l.Launch.Name, Connect: l.Launch.Address})
	players := g.Attendance.Players()
	l.beginEven(r)
	if trip.IsElsewhere { // otherwise programs ignore a second launch in a round
		g.Launches.Again(r.now, players...)
	}
	r.out.say(sentence.Of("room.launch", "server", l.Launch.Name,
		"ms", math.RoundToEven(post.Server.MeanMS), "worst", math.RoundToEven(post.Server.MaxMS)))
	for _, player := range players {
		l.sendThere(r, player)
	}
	l.Moving = moving.Begin(people.Filtered(players, func(player people.ID) bool {
		return slices.Contains(g.Choice.Newest().Players, string(player))
	}), l.scene(r))
	if trip.IsNew {
		r.follow(r.calendar.Announce(post, r.dates(r.wall))...)
	}
	g.ForgetSaid()
}

// arrive writes down where the round has led. It returns how that compares with earlier rounds, and the
// announcement for people who are away. Both have names in place of IDs.
func (r *Room) arrive(server int, played wire.Played) (calendar.Trip, wire.Announcement) {
	g := &r.parts
	r.failures = 0
	newest := g.Choice.Newest().Named(g.Roster.Names().Text)
	ranked := *newest.Chosen
	for _, other := range newest.Ranking {
		if other.Server == server {
			ranked = other
		}
	}
	played.Round, played.At, played.Game, played.Country = g.Number, r.wall, g.Settings.Game, g.Servers.List[server].Country
	played.By, played.MeanMS, played.MaxMS = newest.By, ranked.MeanMS, ranked.MaxMS
	played.Players, played.RTT, played.Voted = newest.Players, map[string]float64{}, voters(g)
	played.Match = r.decision.ViewMatch(r.facts, r.clocks())
	if played.Match != nil {
		played.Excess = newest.Excess
		played.Match.Turn, played.Match.Servers = nil, []wire.MatchServer{} // only what was decided stays
	}
	for name, ms := range ranked.RTT {
		if newest.Estimated[name] == 0 {
			played.RTT[name] = ms
		}
	}
	if info := g.Servers.Info(server); info != nil {
		played.Map = info.Map
	}
	trip := r.calendar.Play(played, ranked.RTT, r.dates(r.wall))
	g.Roster.Keep(trip.Regulars...)
	a := wire.Announcement{Kind: wire.AnnouncedChoice, Server: r.facts.Announced(server)}
	a.Server.IsPlace = played.IsPlace
	a.Server.MeanMS, a.Server.MaxMS = ranked.MeanMS, ranked.MaxMS
	for _, name := range newest.Players {
		a.Players = append(a.Players, wire.AnnouncedPlayer{Name: name, PingMS: ranked.RTT[name]})
	}
	a.Match = wire.RecordOf("", g.Settings.Name, played)
	return trip, a
}

// sendThere sends a player the launch, with the address at which the player reaches the server.
func (l *Launching) sendThere(r *Room, player people.ID) {
	g, server, to := &r.parts, l.Moving.Place(player, l.Server), l.Launch
	if server != l.Server {
		to = launch.To(g.Number, g.Settings, &g.Servers, server)
	}
	r.out.publish()
	r.out.brief(g, player)
	tellDelay(r, player)
	connect, beside := g.Heard.Connect(player, server, &g.Servers), g.Nearby.Addresses(player)[server]
	r.out.send(player, g.Launches.For(player, to, connect, g.Servers.List[server].Addr, beside))
}

// voters returns the names of the people who have voted in the round.
func voters(g *facts.Parts) (names []string) {
	for p := range g.Roster.People() {
		if g.Ballot.Paper(p.ID).Vote != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// Reopen opens the caller's game once more, because it did not start, or was closed.
type Reopen struct{}

func (Reopen) do(r *Room, by caller) error {
	if err := r.parts.Launches.Reopen(by, r.phase.launch() != nil, r.now); err != nil {
		return err
	}
	r.phase.sendThere(r, by.ID)
	return nil
}
