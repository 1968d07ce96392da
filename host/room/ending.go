package room

import (
	"math"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/captains"
	"muster/host/room/group"
	"muster/host/room/launch"
	"muster/host/room/roomtime"
	"muster/host/room/waiting"
	"muster/host/wire"
)

// Launching is the launch and the time after it.
type Launching struct {
	Launch wire.Launch `json:"launch"`
	Server int         `json:"server"`
}

func (*Launching) stage() wire.Stage { return wire.Launching }
func (*Launching) tick(*Room)        {}
func (*Launching) proceed(r *Room) error {
	r.nextRound()
	return nil
}

// begin sends everyone to the server.
func (l *Launching) begin(r *Room) {
	g, server := &r.group, l.Server
	l.Launch = launch.To(g.Number, g.Settings, &g.Servers, server)
	r.enter(l)
	r.failures = 0
	r.out.learn(g)
	r.probing.Forget() // it can be built again
	newest := g.Choice.Newest()
	ranked := *newest.Chosen
	for _, other := range newest.Ranking {
		if other.Server == server {
			ranked = other
		}
	}
	played := wire.Played{
		Round: g.Number, At: r.wall, Game: g.Settings.Game, Server: l.Launch.Name, Connect: l.Launch.Address,
		Country: g.Servers.List[server].Country, By: newest.By, MeanMS: ranked.MeanMS, MaxMS: ranked.MaxMS,
		Players: newest.Players, RTT: map[string]float64{}, Voted: voters(g), Match: g.ViewMatch(),
	}
	if played.Match != nil {
		captains.View(g, played.Match, r.face())
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
	trip := r.calendar.Play(played, ranked.RTT, r.facts(r.wall))
	g.Roster.Keep(trip.Regulars...)
	players := g.Attendance.Players()
	if trip.IsElsewhere { // no program takes a player to two servers in a round unasked
		g.Launches.Again(r.now, players...)
	}
	r.out.says(sentence.Of("room.launch", "server", l.Launch.Name,
		"ms", math.RoundToEven(ranked.MeanMS), "worst", math.RoundToEven(ranked.MaxMS)))
	for _, player := range players {
		l.take(r, player)
	}
	if trip.IsNew {
		a := wire.Announcement{Kind: wire.AnnouncedChoice, Server: g.Announced(server)}
		a.Server.MeanMS, a.Server.MaxMS = ranked.MeanMS, ranked.MaxMS
		for _, name := range newest.Players {
			a.Players = append(a.Players, wire.AnnouncedPlayer{Name: name, PingMS: ranked.RTT[name]})
		}
		a.Match = wire.RecordOf("", g.Settings.Name, played)
		r.follow(r.calendar.Announce(a, r.facts(r.wall))...)
	}
	g.ForgetSaid()
}

// voters returns the people who have voted in the round.
func voters(g *group.Group) (names []string) {
	for p := range g.Roster.People() {
		if g.Ballot.Paper(p.Name).Vote != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// take sends a player the launch, with the address that is right for the player.
func (l *Launching) take(r *Room, player string) {
	g := &r.group
	r.out.publish()
	r.out.brief(g, player)
	connect, beside := g.Heard.Connect(player, l.Server, &g.Servers), g.Nearby.Addresses(player)[l.Server]
	r.out.send(player, g.Launches.For(player, l.Launch, connect, g.Servers.List[l.Server].Addr, beside))
}

// Reopen opens a player's own game once more: it did not start, or was closed.
type Reopen struct{}

func (Reopen) do(r *Room, by caller) error {
	l, launching := r.phase.(*Launching)
	asker := launch.Asker{Name: by.Name, Plays: by.IsPlayer, Here: by.IsPlayer && r.group.Attendance.Of(by.Name).Here}
	if err := r.group.Launches.Reopen(asker, launching, r.now); err != nil {
		return err
	}
	l.take(r, by.Name)
	return nil
}

// Failed is a round without a server to go to. The room tries again by itself where
// that can help, and the organiser at any time.
type Failed struct {
	// Retry is the time of that; zero if nothing has changed that could help.
	Retry roomtime.Time `json:"retry,omitzero"`
	// waited is the wait for seats that was given up, if that is why.
	waited *waiting.Wait
}

func (*Failed) stage() wire.Stage { return wire.Failed }

func (f *Failed) tick(r *Room) {
	if f.Retry.IsZero() || r.now.Before(f.Retry) || r.group.Attendance.Count(attendance.Nothing, r.now).Here == 0 {
		return
	}
	r.out.says(sentence.Of("room.retry"))
	if len(r.group.Servers.List) == 0 {
		(&Listing{}).begin(r)
		return
	}
	r.nextRound()
}

func (*Failed) proceed(r *Room) error {
	r.failures = 0
	r.nextRound()
	return nil
}

// changed lets the room try again when somebody is back, unless it has tried too often.
func (f *Failed) changed(r *Room) {
	isFirst := r.group.Attendance.Count(attendance.Nothing, r.now).Here == 1
	f.Retry = r.failures.Sooner(r.since, f.Retry, isFirst, r.now)
}

// fail ends a round without a server. Passing says that another try may go well in a while.
func (r *Room) fail(passing bool, why sentence.Sentence) {
	r.failures++
	r.source.Stop() // it did not help: the next list is the game's again
	f := &Failed{}
	r.enter(f)
	if passing && !r.failures.AreOver() {
		f.Retry = r.now.Add(r.failures.Rest())
	}
	r.group.ForgetSaid()
	r.out.says(why)
	r.out.passOn(r.survey.BeginOnce(r.group.SurveyScene(), r.now))
}
