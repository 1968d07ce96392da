package group

import (
	"time"

	"muster/discovery/sentence"
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
func (g *Group) SideOf(name string) wire.Side {
	if !g.Settings.IsMatch() {
		return ""
	}
	return g.Sides.Of(name)
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
			notes = append(notes, sentence.Of("room.captain", "player", c.Name, "side", g.Settings.Called(c.Side)))
		case c.Side == "":
			notes = append(notes, sentence.Of("room.no-side", "player", c.Name))
		default:
			notes = append(notes, sentence.Of("room.side", "player", c.Name, "side", g.Settings.Called(c.Side)))
		}
	}
	return notes
}

// sidesFor returns the sides of players for a choice. In other rooms nobody has one.
func (g *Group) sidesFor(players []string) map[string]selection.Side {
	sides := map[string]selection.Side{}
	for _, name := range players {
		switch g.SideOf(name) {
		case wire.SideA:
			sides[name] = selection.SideA
		case wire.SideB:
			sides[name] = selection.SideB
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
		BestOf: s.BestOf(), Camps: g.Sides.Camps([2]string{s.SideA, s.SideB}),
		Moves: []wire.Move{}, Servers: []wire.MatchServer{}, Maps: []wire.MatchMap{},
	}
}

// names returns the names of all people that the room knows.
func (g *Group) names() (names []string) {
	for p := range g.Roster.People() {
		names = append(names, p.Name)
	}
	return names
}
