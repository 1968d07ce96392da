package room

import (
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/sides"
	"muster/host/room/waiting"
	"muster/host/wire"
)

// Failed is a round without a server to go to. The room tries again by itself if that can help. The
// organiser can try again at any time.
type Failed struct {
	base
	// Retry is when the room tries again by itself, zero if that cannot help.
	Retry roomtime.Time `json:"retry,omitzero"`
	// Wait is the wait for seats that ended without a seat, nil if there was none.
	Wait *waiting.Wait `json:"wait,omitempty"`
}

func (*Failed) traits() traits {
	return traits{name: wire.PhaseFailed, sides: sides.Free, canReopen: true, isBetween: true}
}

func (*Failed) refuseLongLook(*Room) error { return nil }

// next returns when the room tries again, if anybody is here.
func (f *Failed) next(r *Room) (at roomtime.Time, isQuiet bool) {
	if !f.Retry.IsZero() && r.parts.Attendance.Count(attendance.Nothing, r.now).Here > 0 {
		return f.Retry, true
	}
	return noDeadline, true
}

func (f *Failed) joined(r *Room, _ people.ID) { f.changed(r) }

func (*Failed) without(r *Room, player people.ID, w Without) error { return w.chooseWithout(r, player) }

func (*Failed) awaitSeats(r *Room, a AwaitSeats) error { return a.beginWait(r) }

func (f *Failed) unwait(r *Room, u Unwait) error {
	if f.Wait == nil || !u.Instead {
		return errNotWaiting
	}
	return u.goInstead(r)
}

func (f *Failed) view(r *Room, s *wire.Snapshot, _ *decision.Showing) {
	if s.Room.Retry = r.clocks().Of(f.Retry); !f.Retry.IsZero() {
		s.Phase.LeftMS = f.Retry.Sub(r.now).Milliseconds()
	}
	if f.Wait != nil {
		s.Seats = f.Wait.View(r.facts, r.clocks())
	}
}

func (f *Failed) isValid(g *facts.Parts) bool {
	return f.Wait == nil || (&Waiting{Wait: f.Wait}).isValid(g)
}

func (f *Failed) tick(r *Room) {
	if f.Retry.IsZero() || r.now.Before(f.Retry) || r.parts.Attendance.Count(attendance.Nothing, r.now).Here == 0 {
		return
	}
	r.out.say(sentence.Of("room.retry"))
	if len(r.parts.Servers.List) == 0 {
		r.beginRound(nil)
		return
	}
	r.nextRound()
}

func (*Failed) proceed(r *Room) error {
	r.failures = 0
	r.nextRound()
	return nil
}

// changed brings the next try forward because somebody is back, unless the room has failed too
// often.
func (f *Failed) changed(r *Room) {
	isFirst := r.parts.Attendance.Count(attendance.Nothing, r.now).Here == 1
	f.Retry = r.failures.Sooner(r.since, f.Retry, isFirst, r.now)
}

// fail ends a round without a server. Passing says that another try may succeed in a while.
func (r *Room) fail(passing bool, why sentence.Sentence) *Failed {
	if r.goesOnToPlaces() {
		r.parts.FoundNone = true
		r.out.say(why)
		r.nextRound()
		return &Failed{}
	}
	r.parts.FoundNone = false // the next try begins with servers
	r.failures++
	r.source.Stop() // a started server did not help, so the next list is the game's again
	f := &Failed{}
	r.enter(f)
	if passing && !r.failures.AreOver() {
		f.Retry = r.now.Add(r.failures.Rest())
	}
	r.parts.ForgetSaid()
	r.out.say(why)
	return f
}

// goesOnToPlaces reports whether a round of places follows a failed one, because that was one of the game's servers.
func (r *Room) goesOnToPlaces() bool {
	places, _ := r.places()
	isOfServers := r.parts.Settings.Seeks != wire.SeekPlace && !r.parts.FoundNone && !r.source.State().Started.IsValid()
	return isOfServers && len(places) > 0 && len(r.facts.Active()) > 0
}
