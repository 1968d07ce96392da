package facts

import (
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/host/room/attendance"
	"muster/host/room/evidence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
	"muster/selection/memory"
)

// Facts tell of a room's people, settings, servers, measurements and choice. They are read only.
// They are always the present facts: a copy sees every change of the room.
type Facts struct {
	p *Parts
	// supposed are changes of the active players; see [Facts.Suppose].
	supposed []attendance.Change
}

// Facts returns the facts about the parts.
func (p *Parts) Facts() Facts { return Facts{p: p} }

// Settings returns the organiser's settings, and Tuning the experiments with the room. The caller
// must not change either.
func (f Facts) Settings() *wire.Settings { return &f.p.Settings }
func (f Facts) Tuning() *Tuning          { return &f.p.Tuning }

// Number returns the number of the round, and Measuring the time when all players were told to
// measure.
func (f Facts) Number() int              { return f.p.Number }
func (f Facts) Measuring() roomtime.Time { return f.p.Measuring }

// Refresh decides which facts about the servers to believe. Every choice begins with Refresh.
func (f Facts) Refresh() { f.p.refresh(f.Active()) }

// Servers returns the round's list with the believed facts about its servers. The caller must not
// change it. Tree returns the list's topology. Gap returns how long a server rests before it
// answers an address again.
func (f Facts) Servers() *selection.Servers { return &f.p.Servers }
func (f Facts) Tree() *topology.Tree        { return f.p.List.Tree() }
func (f Facts) Gap() time.Duration          { return f.p.Gap }

// Newest returns the newest choice, nil before there is one. It must not be changed.
func (f Facts) Newest() *selection.Selection { return f.p.Choice.Newest() }

// Names returns what people are called.
func (f Facts) Names() *people.Names { return f.p.Roster.Names() }

// Player returns the player with a name, in any letter case; empty if no player has it.
func (f Facts) Player(name string) people.ID { return f.p.Roster.Player(name) }

// IsWatched reports whether any page is open.
func (f Facts) IsWatched() bool { return f.p.Roster.IsWatched() }

// Players returns all players. Active returns the players that the round counts on, and Present the
// active players whose programs are connected.
func (f Facts) Players() []people.ID { return f.p.Attendance.Players() }
func (f Facts) Active() []people.ID  { return f.p.Attendance.Supposed(f.supposed) }
func (f Facts) Present() []people.ID { return f.p.Attendance.Present() }

// Suppose returns the facts as they will be once the room has made changes of the active players.
func (f Facts) Suppose(changes ...attendance.Change) Facts {
	return Facts{f.p, slices.Concat(f.supposed, changes)}
}

// Mark returns what the round knows of a player's attendance. CanReturn reports whether a player who
// was left out may count again; see [attendance.Register.CanReturn].
func (f Facts) Mark(player people.ID) attendance.Mark { return f.p.Attendance.Of(player) }
func (f Facts) CanReturn(player people.ID) bool       { return f.p.Attendance.CanReturn(player) }

// Away returns the players of a group who have been away for a time. NextGone returns when the next
// of the group counts as gone. Silence returns how long a player has told nothing new. See
// [attendance.Register].
func (f Facts) Away(group []people.ID, after time.Duration, now roomtime.Time) []people.ID {
	return f.p.Attendance.Away(group, after, now)
}

func (f Facts) NextGone(group []people.ID) roomtime.Time { return f.p.Attendance.NextGone(group) }

func (f Facts) Silence(player people.ID, now roomtime.Time) time.Duration {
	return f.p.Attendance.Silence(player, now)
}

// Results returns a player's own results.
func (f Facts) Results(player people.ID) evidence.Reading { return f.p.Evidence[player].Reading() }

// NATGroups groups players by their public addresses.
func (f Facts) NATGroups(players []people.ID) [][]people.ID { return f.p.Origins.Groups(players) }

// IsHidden reports whether a player cannot reach a server. HiddenFrom returns all servers that a
// player cannot reach. Around returns the servers on the player's own network.
func (f Facts) IsHidden(player people.ID, server int) bool {
	return f.p.Nearby.IsHidden(player, server)
}
func (f Facts) HiddenFrom(player people.ID) []int { return f.p.Nearby.HiddenFrom(player) }
func (f Facts) Around(player people.ID) []int     { return f.p.Nearby.Around(player) }

// Editions returns the players' versions of the room's game.
func (f Facts) Editions(players []people.ID) []selection.Edition {
	return f.p.Editions.Of(players, f.p.Settings.Game)
}

// Contradictions returns the players who contradict most others about the servers in seen; see
// [infos.Infos.Contradictions].
func (f Facts) Contradictions(seen []int) []anomaly.Anomaly { return f.p.Heard.Contradictions(seen) }

// HeardInfo returns a server's facts as a player heard them, or nil.
func (f Facts) HeardInfo(player people.ID, server int) *discovery.Info {
	return f.p.Heard.HeardInfo(player, server)
}

// IsByHand reports whether a player has joined the game server without Muster.
func (f Facts) IsByHand(player people.ID) bool { return f.p.Ballot.Paper(player).ByHand }

// Captain returns the person who decides for a side of a match.
func (f Facts) Captain(side wire.Side) people.ID {
	if side == "" {
		return f.Organiser()
	}
	return f.p.Sides.Captain(side)
}

// IsBelieved reports whether a player's word on servers counts.
func (f Facts) IsBelieved(player people.ID) bool { return f.p.Trust.IsBelieved(player) }

// Forecasts returns, for each player, the remembered or usual RTTs to parts of the list. It is nil if there
// are none.
func (f Facts) Forecasts(players []people.ID, now time.Time) [][]memory.Forecast {
	from := func(player people.ID) string { return f.p.Origins.Place(player).Country }
	return f.p.Memories.Forecasts(f.Tree(), players, from, now)
}

// ChosenFor returns the active players that the newest choice is for.
func (f Facts) ChosenFor() []people.ID {
	return people.Filtered(f.Active(), func(player people.ID) bool {
		return slices.Contains(f.p.Choice.Newest().Players, string(player))
	})
}

// Measured returns the active players who have measured something; see [Facts.HasMeasured].
func (f Facts) Measured() []people.ID {
	groups := f.natGroups()
	return people.Filtered(f.Active(), func(player people.ID) bool { return f.hasMeasured(groups[player]) })
}

// HasMeasured reports whether a player, or another one behind the same address, has measured
// anything.
func (f Facts) HasMeasured(player people.ID) bool { return f.hasMeasured(f.NATGroup(player)) }

func (f Facts) hasMeasured(mates []people.ID) bool {
	return slices.ContainsFunc(mates, func(mate people.ID) bool {
		probed, _ := f.p.Evidence[mate].Progress()
		return probed > 0
	})
}

// IndexOf returns the index of the server with an address, or -1. The address comes from people or
// files.
func (f Facts) IndexOf(addr netip.AddrPort) int {
	return slices.IndexFunc(f.p.Servers.List, func(s discovery.Server) bool { return s.Addr == addr })
}

// Called returns people's name for a server that they know by its address.
func (f Facts) Called(addr netip.AddrPort) string {
	if server := f.IndexOf(addr); server >= 0 {
		return f.p.Servers.Called(server)
	}
	return hostport.Text(addr)
}

// NATGroup returns the players behind a player's address, including the player.
func (f Facts) NATGroup(player people.ID) []people.ID { return f.natGroups()[player] }

// natGroups returns the players behind each player's address.
func (f Facts) natGroups() map[people.ID][]people.ID {
	groups := make(map[people.ID][]people.ID, len(f.p.Evidence))
	for _, group := range f.p.Origins.Groups(f.p.Attendance.Players()) {
		for _, player := range group {
			groups[player] = group
		}
	}
	return groups
}

// Knowledge returns the measurements of a player and of those behind the same address.
func (f Facts) Knowledge(player people.ID) evidence.Knowledge {
	return f.knowledge(player, f.natGroups())
}

// KnowledgeOf is [Facts.Knowledge] for several players.
func (f Facts) KnowledgeOf(players []people.ID) map[people.ID]evidence.Knowledge {
	of, groups := make(map[people.ID]evidence.Knowledge, len(players)), f.natGroups()
	for _, player := range players {
		of[player] = f.knowledge(player, groups)
	}
	return of
}

func (f Facts) knowledge(player people.ID, groups map[people.ID][]people.ID) evidence.Knowledge {
	return evidence.KnowledgeOf(f.p.Evidence[player], f.p.Evidence.Of(groups[player]))
}

// Table returns the players' measurements, for a choice among them.
func (f Facts) Table(players []people.ID) *selection.Table {
	columns, groups := make([]evidence.Column, len(players)), f.natGroups()
	for i, player := range players {
		columns[i] = evidence.Column{
			Player:    player,
			Knowledge: f.knowledge(player, groups),
			Raised:    f.p.Trust.Raised(player),
			Hidden:    f.p.Nearby.HiddenFrom(player),
		}
	}
	return evidence.Table(len(f.p.Servers.List), columns)
}

// Asked yields the servers that somebody has asked. It may yield a server several times.
func (f Facts) Asked(yield func(int) bool) {
	for _, player := range f.p.Attendance.Players() {
		w := f.p.Evidence[player]
		for _, probe := range w.Probes() { // even one that does not count
			if !yield(probe.Server) {
				return
			}
		}
		for server := range w.Servers() {
			if !yield(server) {
				return
			}
		}
	}
}

// ListFor returns the list with the addresses that are right for a player.
func (f Facts) ListFor(player people.ID) wire.List {
	return wire.List{Round: f.p.Number, Servers: f.p.Nearby.ListFor(player, f.p.Servers.List)}
}
