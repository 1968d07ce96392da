package room

import (
	"fmt"
	"time"

	"muster/host/room/seats"
	"muster/host/wire"
)

// Failed is a round without a server to go to. The room tries again by itself where
// that can help, and the organiser at any time.
type Failed struct {
	// Retry is when; zero if nothing has changed that could help.
	Retry time.Time `json:"retry,omitzero"`
	// waited is the wait for seats that was given up, if that is why.
	waited *seats.Watch
}

func (*Failed) stage() wire.Stage { return wire.Failed }

func (f *Failed) tick(r *Room) {
	if f.Retry.IsZero() || r.now.Before(f.Retry) || !r.group.Attendance.IsUsed() {
		return
	}
	r.note("trying again")
	if len(r.group.Servers.List) == 0 {
		r.list()
		return
	}
	r.nextRound()
}

func (*Failed) proceed(r *Room) {
	r.failures = 0
	r.nextRound()
}

// changed lets the room try again, if it has not too often, because something is no longer as
// it was: somebody is back.
func (f *Failed) changed(r *Room) {
	f.Retry = r.failures.Sooner(r.since, f.Retry, r.group.Attendance.Here() == 1, r.now)
}

// fail ends a round without a server. Passing says that the same may go well in a while.
func (r *Room) fail(passing bool, format string, args ...any) {
	r.failures++
	r.source.Stop() // it was of no use: the next list is the game's again
	f := &Failed{}
	r.enter(f)
	if passing && !r.failures.AreOver() {
		f.Retry = r.now.Add(r.failures.Rest())
	}
	r.group.ForgetSaid()
	r.note("%s", fmt.Sprintf(format, args...))
	r.surveys(r.survey.BeginOnce(r.group.SurveyScene(), r.now))
}
