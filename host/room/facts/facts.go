package facts

import (
	"slices"
	"time"

	"muster/discovery"
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

// Facts are what is known of a room's people, settings and servers, and what was measured and
// chosen. They are read only, and always those of now: a copy sees what its room changes.
type Facts struct {
	p *Parts
	// supposed are changes of the players that count, see [Facts.Suppose].
	supposed []attendance.Change
}

// Facts returns the facts about the parts.
func (p *Parts) Facts() Facts { return Facts{p: p} }

// Settings returns the organiser's settings, and Tuning how the room decides otherwise. Neither must
// be changed.
func (f Facts) Settings() *wire.Settings { return &f.p.Settings }
func (f Facts) Tuning() *Tuning          { return &f.p.Tuning }

// Number returns the number of the round, and Measuring when everybody was told to measure.
func (f Facts) Number() int              { return f.p.Number }
func (f Facts) Measuring() roomtime.Time { return f.p.Measuring }

// Refresh decides again what to believe of the servers, as a choice does first.
func (f Facts) Refresh() { f.p.refresh(f.Active()) }

// Servers returns the round's list with what is believed of its servers, which must not be changed.
// Tree is the list's topology, and Gap how long a server of it needs peace before it answers an
// address again.
func (f Facts) Servers() *selection.Servers { return &f.p.Servers }
func (f Facts) Tree() *topology.Tree        { return f.p.List.Tree() }
func (f Facts) Gap() time.Duration          { return f.p.Gap }

// Newest returns the newest choice, nil before there is one. It must not be changed.
func (f Facts) Newest() *selection.Selection { return f.p.Choice.Newest() }

// Names returns what people are called.
func (f Facts) Names() *people.Names { return f.p.Roster.Names() }

// Player returns the player of a name, letter case apart; empty if no player has it.
func (f Facts) Player(name string) people.ID { return f.p.Roster.Player(name) }

// IsWatched reports whether any page is open.
func (f Facts) IsWatched() bool { return f.p.Roster.IsWatched() }

// Players returns all players, Active those that the round counts on, and Present those of them
// whose programs are connected now.
func (f Facts) Players() []people.ID { return f.p.Attendance.Players() }
func (f Facts) Active() []people.ID  { return f.p.Attendance.Supposed(f.supposed) }
func (f Facts) Present() []people.ID { return f.p.Attendance.Present() }

// Suppose returns the facts for the players that the round counts on once the room has made changes.
// All else stays.
func (f Facts) Suppose(changes ...attendance.Change) Facts {
	return Facts{f.p, slices.Concat(f.supposed, changes)}
}

// Mark returns what the round knows of a player's attendance. CanReturn reports whether a player who
// was left out may count again; see [attendance.Register.CanReturn].
func (f Facts) Mark(player people.ID) attendance.Mark { return f.p.Attendance.Of(player) }
func (f Facts) CanReturn(player people.ID) bool       { return f.p.Attendance.CanReturn(player) }

// Away returns the players of a group who are away for some time. NextGone is when the next of them
// will have been away for long, and Silence how long a player has told nothing new; see
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

// IsHidden reports whether a player cannot get to a server. HiddenFrom returns all such servers, and
// Around those on the player's own network.
func (f Facts) IsHidden(player people.ID, server int) bool {
	return f.p.Nearby.IsHidden(player, server)
}
func (f Facts) HiddenFrom(player people.ID) []int { return f.p.Nearby.HiddenFrom(player) }
func (f Facts) Around(player people.ID) []int     { return f.p.Nearby.Around(player) }

// Editions returns the players' versions of the room's game.
func (f Facts) Editions(players []people.ID) []selection.Edition {
	return f.p.Editions.Of(players, f.p.Settings.Game)
}

// Contradictions returns the players who contradict most others about servers that somebody looked
// at; see [infos.Infos.Contradictions].
func (f Facts) Contradictions(seen []int) []anomaly.Anomaly { return f.p.Heard.Contradictions(seen) }

// HeardInfo returns what a player heard a server say of itself, nil for nothing.
func (f Facts) HeardInfo(player people.ID, server int) *discovery.Info {
	return f.p.Heard.HeardInfo(player, server)
}

// IsByHand reports whether a player has joined the game server without Muster.
func (f Facts) IsByHand(player people.ID) bool { return f.p.Ballot.Paper(player).ByHand }

// Captain returns the person who decides for a side of a match.
func (f Facts) Captain(side wire.Side) people.ID { return f.p.Sides.Captain(side) }

// IsBelieved reports whether a player's word on servers counts.
func (f Facts) IsBelieved(player people.ID) bool { return f.p.Trust.IsBelieved(player) }

// Forecasts returns what is remembered of the list's parts, for each of some players; nil if nothing
// is.
func (f Facts) Forecasts(players []people.ID, now time.Time) [][]memory.Forecast {
	return f.p.Memories.Forecasts(f.Tree(), players, now)
}
