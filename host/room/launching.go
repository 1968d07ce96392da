package room

import (
	"muster/host/room/launch"
	"muster/host/wire"
)

// Launching is the launch and the time after it.
type Launching struct {
	Launch wire.Launch `json:"launch"`
	Server int         `json:"server"`
}

func (*Launching) stage() wire.Stage { return wire.Launching }
func (*Launching) tick(*Room)        {}
func (*Launching) proceed(r *Room)   { r.nextRound() }

// launch sends everyone to the chosen server.
func (r *Room) launch(server int) {
	l := &Launching{Launch: launch.To(r.round.number, r.settings, &r.round.servers, server), Server: server}
	r.enter(l)
	r.failures = 0
	r.round.search = nil // what it knew can be made anew
	ranked := *r.round.choice.Newest().Chosen
	for _, other := range r.round.choice.Newest().Ranking {
		if other.Server == server {
			ranked = other
		}
	}
	played := wire.Played{
		Round: r.round.number, At: r.now, Game: r.settings.Game, Server: l.Launch.Name, Connect: l.Launch.Address,
		By: r.round.choice.Newest().By, MeanMS: ranked.MeanMS, MaxMS: ranked.MaxMS, Players: r.round.choice.Newest().Players,
	}
	if info := r.round.servers.Info(server); info != nil {
		played.Map = info.Map
	}
	trip := r.calendar.Play(played, r.round.servers.List[server].Country, ranked.RTT, r.facts(r.now))
	r.roster.Keep(trip.Regulars...)
	if trip.IsElsewhere { // programs take nobody to two servers in a round unasked
		r.round.launches.Again(r.now, names(r.round.players)...)
	}
	r.note("everyone to %s: %.0f ms on average, %.0f at worst", l.Launch.Name, ranked.MeanMS, ranked.MaxMS)
	r.do(Publish{})
	for _, p := range r.round.players {
		r.send(p, l.launchFor(r, p))
	}
	if trip.IsNew {
		a := wire.Announcement{Kind: wire.AnnouncedChoice, Server: r.round.announced(server)}
		a.Server.MeanMS, a.Server.MaxMS = ranked.MeanMS, ranked.MaxMS
		for _, name := range r.round.choice.Newest().Players {
			a.Players = append(a.Players, wire.AnnouncedPlayer{Name: name, PingMS: ranked.RTT[name]})
		}
		r.follow(r.calendar.Announce(a, r.facts(r.now))...)
	}
	r.round.forgetSaid()
}

// launchFor is the launch with the address that is right for a player.
func (l *Launching) launchFor(r *Room, p *player) wire.Launch {
	connect, beside := r.round.hearsay.Connect(p.name, l.Server, &r.round.servers), r.round.nearby.Addresses(p.name)[l.Server]
	return r.round.launches.For(p.name, l.Launch, connect, r.round.servers.List[l.Server].Addr, beside)
}

// Reopen opens a player's own game once more: it did not start, or was closed.
type Reopen struct{}

func (Reopen) do(r *Room, by caller) error {
	l, launching := r.phase.(*Launching)
	asker := launch.Asker{Name: by.Name}
	var p *player
	if by.IsSomebody() {
		p = r.round.player(by.Name)
	}
	if p != nil {
		asker = launch.Asker{Name: p.name, Plays: true, Here: r.round.mark(p).Here}
	}
	if err := r.round.launches.Reopen(asker, launching, r.now); err != nil {
		return err
	}
	r.send(p, l.launchFor(r, p))
	return nil
}
