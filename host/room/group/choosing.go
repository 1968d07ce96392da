package group

import (
	"slices"

	"muster/discovery"
	"muster/host/room/choice"
	"muster/host/room/infos"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// Say notes a server's word about itself, as a player heard it; nobody is the host.
func (r *Round) Say(by people.ID, server int, info discovery.Info, now roomtime.Time) {
	r.Heard.Hear(by, server, info, now.Sub(r.Measuring))
}

// RefreshFacts decides again which facts about the servers to believe, if different players count
// now, or the settings want different servers. The words of players who have left this moment still
// count.
func (g *Group) RefreshFacts() {
	s, players, active := &g.Settings, g.Attendance.Players(), g.Attendance.Active()
	voices := make([]infos.Voice, len(players))
	for i, player := range players {
		voices[i] = infos.Voice{
			Player: player, Results: g.Evidence[player], Counts: g.Trust.IsBelieved(player),
			Alone: len(active) == 1 && player == active[0],
		}
	}
	wanted := infos.Wanted{Map: s.Map, Mode: s.Mode, Version: s.Version, Mod: s.Mod, Tags: s.Tags, MaxBots: s.MaxBots}
	g.Heard.Attend(voices, wanted)
}

// Infos takes servers' words about themselves, as a player heard them. It returns the number of a
// server that the list does not have, or -1.
func (r *Round) Infos(by people.ID, infos wire.Infos, now roomtime.Time) (stranger int) {
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
func (g *Group) Criteria(s wire.Settings, players []people.ID) selection.Criteria {
	c := choice.Criteria(s, g.Tuning.Spare)
	if !s.AnyVersion {
		c.Editions = g.Editions.Of(players, g.Settings.Game)
	}
	if c.Sides = g.sidesFor(players); len(c.Sides) == 0 {
		c.Sides = byID(g, g.Tuning.Sides)
	}
	c.Seats = max(s.Players, g.SeatsFor(players))
	c.Weights = byID(g, g.Tuning.Weights)
	c.Vetoes, c.Keep = g.Ballot.Vetoes(), g.Choice.Previous()
	c.Ours, c.Hidden = g.Lists.Ours(), g.Lists.Hidden(g.Servers.List, g.Organiser())
	c.Blacklist = append(c.Blacklist, g.Trust.Blacklist(&g.Servers)...)
	return c
}

// byID returns what a tuning says of players by their names.
func byID[V any](g *Group, named map[string]V) map[string]V {
	if len(named) == 0 {
		return nil
	}
	of := make(map[string]V, len(named))
	for name, value := range named {
		of[string(g.Roster.Player(name))] = value
	}
	return of
}

// Basis returns the basis of a choice for players, or for some of them, without the guests who are
// counted in.
func (g *Group) Basis(players []people.ID) selection.Basis {
	b := selection.Basis{Servers: g.Servers, Table: g.Table(players), Criteria: g.Criteria(g.Settings, players)}
	b.Criteria.Seats, b.Guests = g.Settings.Players, len(g.Counted().Guests())
	b.Along = people.Texts(people.Filtered(g.Attendance.Players(), g.IsHere))
	return b
}

// Full returns the basis of a choice for players, with the guests who are counted in.
func (g *Group) Full(players []people.ID) selection.Basis {
	return g.Counted().In(g.Basis(players).For(people.Texts(players)))
}

// IsHere reports whether a player's program is connected.
func (g *Group) IsHere(player people.ID) bool { return g.Attendance.Of(player).Here }

// SeatsFor returns how many seats players need, with all who come along without a say.
func (g *Group) SeatsFor(players []people.ID) int {
	along := people.Filtered(g.Attendance.Players(), func(player people.ID) bool {
		return g.IsHere(player) && !slices.Contains(players, player)
	})
	return len(players) + len(g.Counted().Guests()) + len(along)
}

// Select returns the choice for players as of now.
func (g *Group) Select(players []people.ID) selection.Selection {
	g.RefreshFacts()
	return g.Choice.Try(g.Full(players))
}

// Against returns the reason why a server does not suit players, or nil if none is known.
func (g *Group) Against(server int, players []people.ID) *selection.Cause {
	g.RefreshFacts()
	criteria := g.Criteria(g.Settings, players)
	criteria.Keep, criteria.Top, criteria.Reasons = g.Servers.List[server].Addr, 1, -1
	return selection.NewFilter(g.Servers, criteria).Select(g.Table(players)).Keep.Culled
}
