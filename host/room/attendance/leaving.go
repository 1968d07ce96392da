package attendance

import (
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

// Gone returns the players who have been away for so long that others may have their places.
func (r *Register) Gone(now roomtime.Time) []people.ID {
	return r.filtered(func(m *mark) bool { return !m.Here && now.Sub(m.Heard) > GoneAfter })
}

// NextGone returns when the next of the players counts as gone, zero if all are here.
func (r *Register) NextGone(players []people.ID) (next roomtime.Time) {
	for _, player := range players {
		m := r.mark(player)
		if gone := m.Heard.Add(GoneAfter); !m.Here && (next.IsZero() || gone.Before(next)) {
			next = gone
		}
	}
	return next
}

// Away returns the players of a group who have been away for at least a time.
func (r *Register) Away(group []people.ID, after time.Duration, now roomtime.Time) []people.ID {
	return people.Filtered(group, func(player people.ID) bool {
		m := r.mark(player)
		return !m.Here && now.Sub(m.Heard) >= after
	})
}

// Absent returns the players of a voting group who are away, and the ones among them who have been
// away for so long that they have left. If most are away, our own line is the likely cause. Then
// nobody has left before a pause of the room would end.
func (r *Register) Absent(group []people.ID, pause time.Duration, now roomtime.Time) (away, left []people.ID) {
	away = people.Filtered(group, func(player people.ID) bool { return !r.mark(player).Here })
	after := LeftAfter
	if 2*len(away) > len(group) {
		after = pause
	}
	return away, r.Away(away, after, now)
}

// GoOnWithout leaves out the players of a voting group who have left, unless all have. IsComplete
// says that all others are here.
func (r *Register) GoOnWithout(group []people.ID, pause time.Duration, now roomtime.Time) (left []people.ID, isComplete bool) {
	away, left := r.Absent(group, pause, now)
	if len(left) == len(group) {
		return nil, false
	}
	r.LeaveOut(Left, left...)
	r.Miss(LeftAfter, left...) // limits the say of players who come and go
	return left, len(away) == len(left)
}

// Follow gives the rest of a voting group time to come back. It does so when a player returns after
// most were away, because a line that comes up again does not bring everyone at once.
func (r *Register) Follow(player people.ID, group []people.ID, now roomtime.Time) {
	away := people.Filtered(group, func(player people.ID) bool { return !r.mark(player).Here })
	if slices.Contains(group, player) && 2*len(away) <= len(group) && 2*(len(away)+1) > len(group) {
		r.Await(now, away...)
	}
}

// CanReturn reports whether a player who has left a vote may have a say again.
func (r *Register) CanReturn(player people.ID) bool {
	m := r.mark(player)
	return m.Out != "" && !m.Out.IsFirm() && m.Missed > 0 && m.Missed <= maxMissed
}
