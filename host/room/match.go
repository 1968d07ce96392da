package room

import (
	"muster/discovery/sentence"
	"muster/host/room/nickname"
	"muster/host/room/sides"
	"muster/host/wire"
)

// The actions about the sides of a match.
type (
	// TakeSide puts the caller on a side, or on neither. The organiser puts anybody on one; a
	// captain picks from people on neither.
	TakeSide struct {
		Side wire.Side `json:"side"`
		// Name is the other person, empty for the caller.
		Name string `json:"name"`
	}
	// NameCaptain makes a player the captain of their side.
	NameCaptain struct {
		Name string `json:"name"`
	}
	// AskLook asks, for the caller's side, that everyone looks at the servers for long before
	// captains move. The first captain's clock begins again after it.
	AskLook struct{}
)

var (
	errNoMatch = wire.Refuse(wire.ReasonAction, "refused.no-match")
	errNoSide  = wire.Refuse(wire.ReasonMalformed, "refused.no-side")
	errLookNow = wire.Refuse(wire.ReasonAction, "refused.look-now")
	errMoved   = wire.Refuse(wire.ReasonAction, "refused.match-moved")
)

// refuseFoul returns an error for an order against the other side, once a match's captains have
// moved. The organiser may be on a side, and could name the other side's captain, remove its
// people, or hide a server.
func (r *Room) refuseFoul(a Action, by caller) error {
	if !r.phase.traits().isBanning || !r.parts.Bans.HasMoved() {
		return nil
	}
	sides, isFoul := &r.parts.Sides, false
	sideOf := func(name string) wire.Side { return sides.Of(r.parts.Roster.Called(name).ID) }
	isOther := func(name string) bool { return sideOf(name) != "" && sideOf(name) != sides.Of(by.ID) }
	switch a := a.(type) {
	case Remove:
		isFoul = isOther(a.Name)
	case Forget:
		isFoul = isOther(a.Name)
	case NameCaptain:
		side := sideOf(a.Name)
		isFoul = side != "" && sides.Captain(side) != by.ID && by.IsOrganiser
	case Bring:
		isFoul = len(a.Hidden) > 0
	case Hide, Strike:
		isFoul = true
	}
	if isFoul {
		return errMoved
	}
	return nil
}

func (a TakeSide) do(r *Room, by caller) error {
	g := &r.parts
	one := by
	if a.Name != "" {
		one = g.Roster.Called(a.Name)
	}
	switch {
	case !g.Settings.IsMatch():
		return errNoMatch
	case !a.Side.IsValid():
		return errNoSide
	case a.Name == "" && !by.IsSomebody():
		return errNickname
	case !one.IsSomebody():
		return wire.Refuse(wire.ReasonAction, "refused.not-present", "name", nickname.Clean(a.Name))
	}
	changes, err := g.Sides.Set(by, one.ID, a.Side, r.phase.traits().sides, r.now)
	tellSides(r, changes)
	return err
}

func (a NameCaptain) do(r *Room, by caller) error {
	g := &r.parts
	if !g.Settings.IsMatch() {
		return errNoMatch
	}
	changes, err := g.Sides.HandOn(by, g.Roster.Called(a.Name).ID, g.Attendance.Players())
	tellSides(r, changes)
	return err
}

// tellSides tells people about changes of the sides. A change of sides ends a running search.
func tellSides(r *Room, changes []sides.Change) {
	if len(changes) == 0 {
		return
	}
	r.out.mustSave = true
	r.out.say(r.facts.SideNotes(changes)...)
	if !changes[0].IsCaptain && r.parts.Settings.IsMatch() {
		r.endSearch()
	}
}

func (AskLook) do(r *Room, by caller) error {
	g := &r.parts
	if !g.Settings.IsMatch() {
		return errNoMatch
	}
	if err := r.phase.refuseLongLook(r); err != nil {
		return err
	}
	side, err := g.Sides.Ask(by.ID)
	if err != nil {
		return err
	}
	r.phase.beginLongLook(r, sentence.Of("room.side-looks", "player", by.ID, "side", g.Settings.Called(side)))
	return nil
}
