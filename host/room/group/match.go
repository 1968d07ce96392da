package group

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/sides"
	"muster/host/wire"
	"muster/selection"
)

// askedLook is how long everyone looks at the finalists if a side asks for a long look and the
// organiser has set no time.
const askedLook = 20 * time.Second

// IsLookOfSide reports whether everyone looks for long because a side has asked, and not the
// organiser.
func (g *Group) IsLookOfSide() bool {
	return g.Settings.LongLook == 0 && g.Settings.IsMatch() && g.Sides.HasAsked()
}

// LookTime returns how long everyone looks at the finalists, 0 for a moment.
func (g *Group) LookTime() time.Duration {
	if g.IsLookOfSide() {
		return askedLook
	}
	return time.Duration(g.Settings.LongLook)
}

// SideOf returns a person's side in a match.
func (g *Group) SideOf(id people.ID) wire.Side {
	if !g.Settings.IsMatch() {
		return ""
	}
	return g.Sides.Of(id)
}

// SettleSides gives each side of a match a captain if it has none. It returns notes for people.
func (g *Group) SettleSides() []sentence.Sentence {
	if !g.Settings.IsMatch() {
		return nil
	}
	return g.TellSides(g.Sides.Settle(g.Attendance.Players()))
}

// TellSides says changes of a match's sides.
func (g *Group) TellSides(changes []sides.Change) (notes []sentence.Sentence) {
	if !g.Settings.IsMatch() {
		return nil
	}
	for _, c := range changes {
		switch {
		case c.IsCaptain:
			notes = append(notes, sentence.Of("room.captain", "player", c.ID, "side", g.Settings.Called(c.Side)))
		case c.Side == "":
			notes = append(notes, sentence.Of("room.no-side", "player", c.ID))
		default:
			notes = append(notes, sentence.Of("room.side", "player", c.ID, "side", g.Settings.Called(c.Side)))
		}
	}
	return notes
}

// sidesFor returns the sides of players for a choice. In other rooms nobody has one.
func (g *Group) sidesFor(players []people.ID) map[string]selection.Side {
	sides := map[string]selection.Side{}
	for _, player := range players {
		switch g.SideOf(player) {
		case wire.SideA:
			sides[string(player)] = selection.SideA
		case wire.SideB:
			sides[string(player)] = selection.SideB
		}
	}
	return sides
}

// ViewMatch returns the match as everyone sees it, nil in other rooms.
func (g *Group) ViewMatch() *wire.Match {
	s := &g.Settings
	if !s.IsMatch() {
		return nil
	}
	return &wire.Match{
		BestOf: s.BestOf(), Camps: g.Sides.Camps([2]string{s.SideA, s.SideB}, g.Roster.Names()),
		Moves: []wire.Move{}, Servers: []wire.MatchServer{}, Maps: []wire.MatchMap{},
	}
}
