package room

import (
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/estimates"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/sides"
	"muster/host/wire"
)

// Gathering waits for the players.
type Gathering struct{ base }

func (*Gathering) traits() traits {
	return traits{name: wire.PhaseGathering, duty: attendance.Stay, sides: sides.Free, isGathering: true}
}

func (*Gathering) refuseLongLook(*Room) error { return nil }

// next returns when the place of a player who is away becomes free.
func (*Gathering) next(r *Room) (at roomtime.Time, isQuiet bool) {
	if gone := r.parts.Attendance.NextGone(r.parts.Attendance.Players()); !gone.IsZero() {
		return gone, true
	}
	return noDeadline, true
}

// joined starts the round if the group is complete.
func (*Gathering) joined(r *Room, player people.ID) {
	g := &r.parts
	r.out.lookAround(g, player)
	here := g.Attendance.Present()
	isComplete := len(here) == len(g.Attendance.Players()) && len(here) == g.Settings.Players
	if isComplete || r.seeksPlace() && r.source.State().Own.Place == "" { // nobody has to wait before measuring places
		r.beginRound(nil)
	}
}

func (*Gathering) without(r *Room, player people.ID, w Without) error { return w.bench(r, player) }

// tick frees the places of players who have been away for too long.
func (*Gathering) tick(r *Room) {
	for _, player := range r.parts.Attendance.Gone(r.now) {
		r.out.say(sentence.Of("room.gone", "player", player, "time", attendance.GoneAfter))
		r.freePlace(player, r.parts.Roster.Person(player).HasPage)
	}
}

// beginAgain puts a standing room to sleep. It frees all places, and forgets where people are. It
// forgets the people in forget altogether.
func (g *Gathering) beginAgain(r *Room, forget []people.ID) {
	r.out.mustSave = true
	for _, player := range r.parts.Attendance.Players() {
		r.freePlace(player, true)
	}
	r.parts.Estimates, r.parts.Sides = estimates.Guests{}, sides.Sides{}
	r.apply(r.parts.Roster.Drop(forget...))
	// A program or page that was away when the session ended may come back in the next one. It
	// would mistake a round of the same number for the round that it knows.
	r.parts.Round, r.failures = facts.NewRound(r.parts.Number%wire.MaxRound+1), 0
	r.assemble()
	r.source.Sleep()
	r.enter(g)
}

func (*Gathering) proceed(r *Room) error {
	if len(r.parts.Attendance.Active()) == 0 {
		r.out.say(sentence.Of("room.nobody-here"))
		return nil
	}
	r.beginRound(nil)
	return nil
}
