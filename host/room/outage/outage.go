// Package outage decides which time does not count against the players: while the host's own
// program was stopped, and while most players are silent together. It is likely our line or our
// machine then, so the room pauses instead of blaming them.
//
//	Step ──▶ the program was stopped ─────────────▶ a time that did not count
//	Tick ──▶ the room is paused ──────────────────▶ a time that did not count
//	Weigh ─▶ most are silent, or are heard again ─▶ the pause begins or ends, in words
//
// Whoever drives a [Watch] adds a time that did not count to every moment from which it reckons
// a limit. A pause is bounded: players who fall silent on purpose do not hold the others longer.
package outage

import (
	"errors"
	"fmt"
	"time"
)

const (
	// LateStep is how late a step is if this program was stopped, or had no time for the room:
	// fifty ticks of a host, and no more than the shortest limit of a phase.
	LateStep = 5 * time.Second
	// StalledAfter is how long a connected player may report nothing: several times the longest
	// silence of a plan that waits for lost servers.
	StalledAfter = 20 * time.Second
	// LongestPause is how long a round pauses in all while somebody is there to wait: a line that
	// is down for a minute is up again by then, and more than half of the players, should they
	// fall silent together on purpose, hold the others no longer.
	LongestPause = 2 * time.Minute
	// LongestAbsence is how long a room pauses while nobody is there: as long as programs try to
	// come back.
	LongestAbsence = 30 * time.Minute
)

// Scene is who should be heard now.
type Scene struct {
	// Players is how many the round counts on. Silent is how many of them should have been heard
	// and were not; in a phase that waits for nobody that is 0.
	Players, Silent int
	// IsGathering says that the group is not complete: it does not wait for one who has left.
	IsGathering bool
	// IsDeserted says that none of a group that has gathered is there.
	IsDeserted bool
}

// Watch is what is known of outages. The zero value has seen none.
type Watch struct {
	// stepped is when the newest step was, and ticked the newest tick, or the last moment until
	// which none was needed.
	stepped, ticked time.Time
	hasStopped      bool
	isPaused        bool
	// held is how long the round has paused while somebody was there, and absent how long it has
	// by now while nobody is.
	held, absent time.Duration
}

// Step begins a step that was due at a time, or is the first after a restart if due is zero. It
// returns the time that did not count.
func (w *Watch) Step(now, due time.Time, isDeserted bool) (lost time.Duration) {
	idle := due // nobody had to tick until then
	if now.Before(due) {
		idle = now
	}
	if w.ticked.Before(idle) && due.After(w.stepped) {
		if w.isPaused && !w.ticked.IsZero() {
			lost = idle.Sub(w.ticked)
			w.hold(lost, isDeserted)
		}
		w.ticked = idle
	}
	w.stepped = now
	late := now.Sub(due)
	if w.hasStopped = late > LateStep && !due.IsZero(); w.hasStopped {
		lost += late
		w.ticked = now
	}
	return lost
}

// HasStopped reports whether this program was stopped before the step under way. It has heard
// nobody then, and cannot tell who was silent.
func (w *Watch) HasStopped() bool { return w.hasStopped }

// Idle takes a time in which the program could keep nothing, and returns how much of it did not
// count, and was not returned by [Watch.Step] already.
func (w *Watch) Idle(d time.Duration) (lost time.Duration) {
	if w.hasStopped {
		return 0
	}
	w.ticked = w.stepped
	return d
}

// Tick lets time pass, in the step under way. It returns how much has passed since the last tick
// and whether that did not count.
func (w *Watch) Tick(isDeserted bool) (passed time.Duration, isLost bool) {
	if !w.ticked.IsZero() {
		passed = max(0, w.stepped.Sub(w.ticked))
	}
	w.ticked = w.stepped
	if w.isPaused {
		w.hold(passed, isDeserted)
	}
	return passed, w.isPaused
}

func (w *Watch) hold(d time.Duration, isDeserted bool) {
	if isDeserted {
		w.absent += d
	} else {
		w.held += d
	}
}

// Weigh begins or ends a pause. It returns what to tell people, or nothing. If isOver, the silent
// are waited for anew: on lines that come up again not all come back at once.
func (w *Watch) Weigh(s Scene) (note string, isOver bool) {
	if !s.IsDeserted {
		w.absent = 0
	}
	pauses, most := w.pauses(s)
	switch {
	case pauses && !w.isPaused && s.Silent == s.Players:
		note = "nobody is heard any more: that is likely our line, and the clock stands still until somebody is back"
	case pauses && !w.isPaused:
		note = fmt.Sprintf("%d of %d players fell silent together: that is likely our line, and the clock stands still for up to %v",
			s.Silent, s.Players, (LongestPause - w.held).Round(time.Second))
	case !pauses && w.isPaused && most:
		note = "waited long enough: the clock goes on"
	case !pauses && w.isPaused:
		note, isOver = "the clock goes on", true
		w.held += StalledAfter
	}
	w.isPaused = pauses
	return note, isOver
}

// pauses reports whether the room should pause, and whether most players are silent.
func (w *Watch) pauses(s Scene) (pauses, most bool) {
	most = 2*s.Silent > s.Players && !(s.IsGathering && s.Silent == 1)
	return most && w.held < LongestPause && w.absent < LongestAbsence, most
}

// Next reports whether a pause goes on, and when it ends although nobody comes back. If
// isSettled, [Watch.Weigh] would change nothing before.
func (w *Watch) Next(s Scene) (pauses bool, ends time.Time, isSettled bool) {
	pauses, _ = w.pauses(s)
	rest := LongestPause - w.held
	if s.IsDeserted {
		rest = LongestAbsence - w.absent
	}
	return pauses, w.stepped.Add(rest), pauses == w.isPaused && (w.absent == 0 || s.IsDeserted)
}

// IsPaused reports whether time stands still.
func (w *Watch) IsPaused() bool { return w.isPaused }

// Resume goes on after the host was away: until somebody is weighed nobody is silent.
func (w *Watch) Resume() { w.ticked, w.isPaused = w.stepped, false }

// Begin forgets the pauses of before: each list of servers has its own.
func (w *Watch) Begin() { w.isPaused, w.held, w.absent = false, 0, 0 }

// Saved is a watch at rest. Its clock is not saved: see [Watch.Resume].
type Saved struct {
	On     bool          `json:"on,omitempty"`
	Held   time.Duration `json:"held,omitempty"`
	Absent time.Duration `json:"absent,omitempty"`
}

// Save returns the section of the saved room.
func (w *Watch) Save() Saved { return Saved{w.isPaused, w.held, w.absent} }

// Restore returns the watch that was saved.
func Restore(s Saved) (Watch, error) {
	if s.Held < 0 || s.Absent < 0 {
		return Watch{}, errors.New("a pause that lasted less than no time")
	}
	return Watch{isPaused: s.On, held: s.Held, absent: s.Absent}, nil
}
