package room

import (
	"errors"
	"net/netip"
	"time"

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
	connect := r.round.connect(server)
	l := &Launching{
		Launch: wire.Launch{
			Round: r.round.number, Game: r.settings.Game, Address: connect.String(), QueryPort: queryPort(r.round.servers.List[server].Addr, connect),
			Name: r.round.serverName(server), Password: r.settings.Password,
		},
		Server: server,
	}
	r.enter(l)
	r.failures = 0
	r.round.search = nil // what it knew can be made anew
	ranked := *r.round.selection.Chosen
	for _, other := range r.round.selection.Ranking {
		if other.Server == server {
			ranked = other
		}
	}
	played := wire.Played{
		Round: r.round.number, At: r.now, Game: r.settings.Game, Server: l.Launch.Name, Connect: l.Launch.Address,
		By: r.round.selection.By, MeanMS: ranked.MeanMS, MaxMS: ranked.MaxMS, Players: r.round.selection.Players,
	}
	if info := r.round.servers.Info(server); info != nil {
		played.Map = info.Map
	}
	trip := r.calendar.Play(played, r.round.servers.List[server].Country, ranked.RTT, r.facts(r.now))
	r.roster.Keep(trip.Regulars...)
	for _, p := range r.round.players {
		if trip.IsElsewhere { // programs take nobody to two servers in a round unasked
			p.opensAgain(r.now)
		}
	}
	r.note("everyone to %s: %.0f ms on average, %.0f at worst", l.Launch.Name, ranked.MeanMS, ranked.MaxMS)
	r.do(Publish{})
	for _, p := range r.round.players {
		r.send(p, l.launchFor(r, p))
	}
	if trip.IsNew {
		a := wire.Announcement{Kind: wire.AnnouncedChoice, Server: r.round.announced(server)}
		a.Server.MeanMS, a.Server.MaxMS = ranked.MeanMS, ranked.MaxMS
		for _, name := range r.round.selection.Players {
			a.Players = append(a.Players, wire.AnnouncedPlayer{Name: name, PingMS: ranked.RTT[name]})
		}
		r.follow(r.calendar.Announce(a, r.facts(r.now))...)
	}
	r.round.forgetSaid()
}

// queryPort is the port at which a server is asked, 0 if players connect to the same.
func queryPort(asked, connect netip.AddrPort) uint16 {
	if asked.Port() == connect.Port() {
		return 0
	}
	return asked.Port()
}

// launchFor is the launch with the address that is right for a player.
func (l *Launching) launchFor(r *Room, p *player) wire.Launch {
	launch, connect, asked := l.Launch, r.round.connectFor(p, l.Server), r.round.servers.List[l.Server].Addr
	if local, is := r.round.nearby.Addresses(p.name)[l.Server]; is {
		connect, asked = netip.AddrPortFrom(local.Addr(), connect.Port()), local
	}
	launch.Address, launch.QueryPort = connect.String(), queryPort(asked, connect)
	if !p.again.IsZero() {
		launch.Again = p.again.UnixMilli()
	}
	return launch
}

// Reopen has a player's own game opened once more: it did not start, or was closed.
type Reopen struct{}

func (Reopen) do(r *Room, by caller) error {
	l, launching := r.phase.(*Launching)
	var p *player
	if by.IsSomebody() {
		p = r.round.player(by.Name)
	}
	switch {
	case p == nil:
		return errors.New("only who has a program running can have the game opened")
	case !launching:
		return errors.New("nobody is on the way just now")
	case !r.round.mark(p).Here:
		return errors.New("your program is away: start it again, and it goes there by itself")
	case p.launch == wire.LaunchAsking:
		return errors.New("your program asks already: say yes there")
	}
	p.opensAgain(r.now)
	r.send(p, l.launchFor(r, p))
	return nil
}

// opensAgain has the player's game opened once more. The program takes no earlier word than it
// was given, whatever the clock says since.
func (p *player) opensAgain(now time.Time) {
	if next := p.again.Add(time.Millisecond); now.Before(next) {
		now = next
	}
	p.again = now
}

// heard notes how far a player got.
func (*Launching) heard(r *Room, p *player, launched wire.Launched) {
	if launched.State == p.launch && launched.Detail == p.detail {
		return
	}
	p.launch, p.detail = launched.State, launched.Detail
	switch p.launch {
	case wire.LaunchStarted:
		r.note("%s is on the way", p.name)
	case wire.LaunchDeclined:
		r.note("%s stays behind", p.name)
	case wire.LaunchByHand:
		r.note("%s joins by hand", p.name)
	case wire.LaunchFailed:
		r.note("%s could not start %s: %s", p.name, r.gameName(), p.detail)
	}
}

// gameName is what people call the room's game, as far as the room knows.
func (r *Room) gameName() string {
	if own := r.settings.OwnGame; own != nil && own.ID == r.settings.Game && own.Name != "" {
		return own.Name
	}
	return r.settings.Game
}

// said notes whether a player's machine can start a game.
func (p *player) said(r *Room, m wire.Able) {
	isNews := m != p.able
	p.able = m
	if isNews && m.Why != "" && m.Game == r.settings.Game && r.round.mark(p).Here {
		r.note("%s cannot start %s: %s", p.name, r.gameName(), m.Why)
	}
}
