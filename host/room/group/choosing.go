package group

import (
	"slices"

	"muster/discovery"
	"muster/host/room/choice"
	"muster/host/room/infos"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// Say notes a server's word about itself, as a player heard it; an empty name is the host.
func (r *Round) Say(by string, server int, info discovery.Info, now roomtime.Time) {
	r.Heard.Hear(by, server, info, now.Sub(r.Measuring))
}

// RefreshFacts decides again which facts about the servers to believe, if different players count
// now, or the settings want different servers. The words of players who have left this moment still
// count.
func (g *Group) RefreshFacts() {
	s, players, active := &g.Settings, g.Attendance.Players(), g.Attendance.Active()
	voices := make([]infos.Voice, len(players))
	for i, name := range players {
		voices[i] = infos.Voice{
			Name: name, Results: g.Evidence[name], Counts: g.Trust.IsBelieved(name),
			Alone: len(active) == 1 && name == active[0],
		}
	}
	wanted := infos.Wanted{Map: s.Map, Mode: s.Mode, Version: s.Version, Mod: s.Mod, Tags: s.Tags, MaxBots: s.MaxBots}
	g.Heard.Attend(voices, wanted)
}

// Infos takes servers' words about themselves, as a player heard them. It returns the number of a
// server that the list does not have, or -1.
func (r *Round) Infos(by string, infos wire.Infos, now roomtime.Time) (stranger int) {
	for i := range infos.Servers {
		if server := infos.Servers[i].Server; server >= len(r.Servers.List) {
			return server
		}
	}
	for i := range infos.Servers {
		r.Say(by, infos.Servers[i].Server, infos.Servers[i].Info, now)
	}
	return -1
}

// Criteria returns the criteria of settings for a server, for some of the players.
func (g *Group) Criteria(s wire.Settings, players []string) selection.Criteria {
	c := choice.Criteria(s, g.Tuning.Spare)
	if !s.AnyVersion {
		c.Editions = g.Editions.Of(players, g.Settings.Game)
	}
	if c.Sides = g.sidesFor(players); len(c.Sides) == 0 {
		c.Sides = g.Tuning.Sides
	}
	c.Seats = max(s.Players, g.SeatsFor(players))
	c.Weights = g.Tuning.Weights
	c.Vetoes, c.Keep = g.Ballot.Vetoes(), g.Choice.Previous()
	c.Ours, c.Hidden = g.Lists.Ours(), g.Lists.Hidden(g.Servers.List, g.OrganiserName())
	c.Blacklist = append(c.Blacklist, g.Trust.Blacklist(&g.Servers)...)
	return c
}

// Basis returns the basis of a choice for players, or for some of them, without the guests who are
// counted in.
func (g *Group) Basis(players []string) selection.Basis {
	b := selection.Basis{Servers: g.Servers, Table: g.Table(players), Criteria: g.Criteria(g.Settings, players)}
	b.Criteria.Seats, b.Guests = g.Settings.Players, len(g.Counted().Names())
	b.Along = Filtered(g.Attendance.Players(), g.IsHere)
	return b
}

// Full returns the basis of a choice for players, with the guests who are counted in.
func (g *Group) Full(players []string) selection.Basis {
	return g.Counted().In(g.Basis(players).For(players))
}

// IsHere reports whether a player's program is connected.
func (g *Group) IsHere(name string) bool { return g.Attendance.Of(name).Here }

// SeatsFor returns how many seats players need, with all who come along without a say.
func (g *Group) SeatsFor(players []string) int {
	along := Filtered(g.Attendance.Players(), func(name string) bool {
		return g.IsHere(name) && !slices.Contains(players, name)
	})
	return len(players) + len(g.Counted().Names()) + len(along)
}

// Select returns the choice for players as of now.
func (g *Group) Select(players []string) selection.Selection {
	g.RefreshFacts()
	return g.Choice.Try(g.Full(players))
}

// Against returns the reason why a server does not suit players, or nil if none is known.
func (g *Group) Against(server int, players []string) *selection.Cause {
	g.RefreshFacts()
	criteria := g.Criteria(g.Settings, players)
	criteria.Keep, criteria.Top, criteria.Reasons = g.Servers.List[server].Addr, 1, -1
	return selection.NewFilter(g.Servers, criteria).Select(g.Table(players)).Keep.Culled
}
