package facts

import (
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/evened"
	"muster/host/room/people"
	"muster/host/room/sides"
	"muster/host/wire"
	"muster/selection"
)

// sideLookTime is the length of a long look that a side has asked for, if the organiser has set
// none.
const sideLookTime = 20 * time.Second

// IsLookOfSide reports whether a side, and not the organiser, has asked for the long look.
func (f Facts) IsLookOfSide() bool {
	return f.p.Settings.LongLook == 0 && f.p.Settings.IsMatch() && f.p.Sides.HasAsked()
}

// LookTime returns how long everyone looks at the finalists, 0 for a moment.
func (f Facts) LookTime() time.Duration {
	if f.IsLookOfSide() {
		return sideLookTime
	}
	return time.Duration(f.p.Settings.LongLook)
}

// SideOf returns a person's side in a match.
func (f Facts) SideOf(id people.ID) wire.Side {
	if !f.p.Settings.IsMatch() {
		return ""
	}
	return f.p.Sides.Of(id)
}

// SettleSides gives each side of a match a captain if it has none. It returns notes for people.
func (p *Parts) SettleSides() []sentence.Sentence {
	if !p.Settings.IsMatch() {
		return nil
	}
	return p.Facts().SideNotes(p.Sides.Settle(p.Attendance.Players()))
}

// SideNotes returns notes on changes of a match's sides.
func (f Facts) SideNotes(changes []sides.Change) (notes []sentence.Sentence) {
	if !f.p.Settings.IsMatch() {
		return nil
	}
	for _, c := range changes {
		switch {
		case c.IsCaptain:
			notes = append(notes, sentence.Of("room.captain", "player", c.ID, "side", f.p.Settings.Called(c.Side)))
		case c.Side == "":
			notes = append(notes, sentence.Of("room.no-side", "player", c.ID))
		default:
			notes = append(notes, sentence.Of("room.side", "player", c.ID, "side", f.p.Settings.Called(c.Side)))
		}
	}
	return notes
}

// sidesFor returns the sides of players for a choice. Outside a match nobody has a side.
func (f Facts) sidesFor(players []people.ID) map[string]selection.Side {
	sides := map[string]selection.Side{}
	for _, player := range players {
		switch f.SideOf(player) {
		case wire.SideA:
			sides[string(player)] = selection.SideA
		case wire.SideB:
			sides[string(player)] = selection.SideB
		}
	}
	return sides
}

// excess returns by how much players' pings exceed what their lines and memories suggest, in a match.
func (f Facts) excess(table *selection.Table) map[string]selection.Excess {
	if !f.p.Settings.IsMatch() {
		return nil
	}
	isOutside := func(player people.ID) bool {
		from := f.p.Origins.Of(player)
		return from.Addr.IsValid() && !from.Home
	}
	return f.p.Lines.Found(f.p.Servers.List, table, isOutside, f.p.Memories.Own)
}

// Landmarks returns the servers that everybody in a match measures because they stand near the host.
func (f Facts) Landmarks() []int {
	if !f.p.Settings.IsMatch() {
		return nil
	}
	return f.p.Lines.Landmarks(f.p.Servers.List)
}

// ViewMatch returns the match as everyone sees it, nil in a room without one.
func (f Facts) ViewMatch() *wire.Match {
	s := &f.p.Settings
	if !s.IsMatch() {
		return nil
	}
	return &wire.Match{
		BestOf: s.BestOf(), Camps: f.p.Sides.Camps([2]string{s.SideA, s.SideB}, f.p.Roster.Names()),
		Moves: []wire.Move{}, Servers: []wire.MatchServer{}, Maps: []wire.MatchMap{},
		Evened: f.p.Evened.View(f.p.Captains(), f.p.Roster.Names()),
	}
}

// Captains returns the captains of the sides that have one.
func (p *Parts) Captains() evened.Captains {
	captains := evened.Captains{}
	for _, side := range []wire.Side{wire.SideA, wire.SideB} {
		if captain := p.Sides.Captain(side); captain != "" {
			captains[side] = captain
		}
	}
	return captains
}

// CanDelay reports whether the program of anybody on a side can hold the game's packets.
func (f Facts) CanDelay() bool {
	return slices.ContainsFunc(f.Present(), func(player people.ID) bool { return f.SideOf(player) != "" && f.p.Holds(player) })
}

// Holds reports whether a player's program can hold the game's packets.
func (p *Parts) Holds(player people.ID) bool {
	able, isKnown := p.Launches.Can(player, p.Settings.Game)
	return isKnown && able.Delays
}
