package room

import "time"

// aheadMost is how far ahead of the time something may have been noted.
const aheadMost = 5 * time.Minute

// rightTimes puts right what was noted by a clock that was ahead, or has been set back since,
// over a restart of the host too. Else the room would be used, keep nicknames, take what is
// old for new and wait, until that clock's time has come. Of what was noted nobody knows when
// it was: it was just now where something waits for what follows, and long ago where it would
// be taken for new. Dates, history and log are what people read, and stay.
func (r *Room) rightTimes() {
	moments := []*time.Time{&r.opened, &r.since, &r.group.Measuring}
	var stale []*time.Time
	r.survey.SetRight(r.now)
	r.group.Attendance.SetRight(r.now)
	r.group.Roster.SetRight(r.now)
	for _, at := range moments {
		if at.Sub(r.now) > aheadMost {
			*at = r.now
		}
	}
	r.group.Nearby.SetRight(r.now)
	r.decision.SetRight(r.now)
	switch phase := r.phase.(type) {
	case *Voting:
		stale = append(stale, &phase.Looked)
	case *Countdown: // which ends by itself
		stale = append(stale, &phase.Looked)
	case *Waiting:
		phase.watch.SetRight(r.now)
	case *Failed:
		phase.Retry = r.failures.SetRight(phase.Retry, r.now)
	}
	for _, at := range stale {
		if at.After(r.now) {
			*at = time.Time{}
		}
	}
}
