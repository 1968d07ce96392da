// Package outage turns the driver's clock into room time. Room time leaves out time that must not
// count against the players: the host's own program was stopped, or most players are silent
// together. Such a silence is likely a failure of the host's line or machine, and the room pauses.
//
//	Step ────────▶ the driver's clock goes on, or the program was stopped ──▶ room time goes on, or not
//	Tick ────────▶ how much has passed, and whether the room is paused
//	UpdatePause ─▶ most are silent, or are heard again ─▶ the pause begins or ends, in words
//
// A pause is bounded, so that players who fall silent on purpose do not hold the others for long.
package outage

import (
	"cmp"
	"errors"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/roomtime"
)

const (
	// LateStep is how late a step must be to show that this program was stopped, or had no time for
	// the room. It is fifty ticks of a host, and no more than the shortest limit of a phase.
	LateStep = 5 * time.Second
	// StalledAfter is how long a connected player may report nothing. It is several times the
	// longest silence of a plan that waits for lost servers.
	StalledAfter = 20 * time.Second
	// LongestPause is how long a round pauses in all while somebody is there to wait. A line that
	// is down for a minute is up again by then. Even if more than half of the players fall silent
	// on purpose, they hold the others no longer.
	LongestPause = 2 * time.Minute
	// LongestAbsence is how long a room pauses while nobody is there: as long as programs try to
	// come back.
	LongestAbsence = 30 * time.Minute
)

// Scene counts the players that the room should hear now.
type Scene struct {
	// Players is the number of players that the round counts on. Silent is how many of them the room
	// should have heard, and did not. It is 0 in a phase that waits for nobody.
	Players, Silent int
	// IsGathering says that the group is not complete. Then nobody waits for players who have left.
	IsGathering bool
	// IsDeserted says that the group has gathered, and no player is here.
	IsDeserted bool
}

// Watch watches for outages. The zero value has seen none, in a room that opens.
type Watch struct {
	// opened is the room time of the first step, and began the driver's time then. lost is the time
	// since then that does not count. isOn says that the first step has begun.
	opened      roomtime.Time
	began, lost time.Duration
	isOn        bool
	// stepped is the driver's time of the newest step. ticked is the driver's time of the newest
	// tick, or a later time if no tick was needed before it.
	stepped, ticked time.Duration
	hasStopped      bool
	state           State
}

// State is the saved state of a watch. The room saves the room time itself.
type State struct {
	// IsPaused says that room time stands still.
	IsPaused bool `json:"on,omitempty"`
	// Held is how long the round has paused while somebody was there. Absent is how long it has
	// paused by now while nobody is.
	Held   time.Duration `json:"held,omitempty"`
	Absent time.Duration `json:"absent,omitempty"`
}

// From returns a watch of a room that goes on at a room time.
func From(now roomtime.Time) Watch { return Watch{opened: now} }

// State returns the state, to save or restore it.
func (w *Watch) State() *State { return &w.state }

// Validate returns the first fault of a saved watch, or nil.
func (s State) Validate() error {
	if s.Held < 0 || s.Absent < 0 {
		return errors.New("a pause that lasted less than no time")
	}
	return nil
}

// Step begins a step at the driver's time run, which was due at the time due. Idle is how long the
// program could save nothing just before. Step returns the room time. The first step after a
// restart is never late.
func (w *Watch) Step(run, due, idle time.Duration, isDeserted bool) roomtime.Time {
	if !w.isOn {
		w.isOn, w.began, w.stepped, w.ticked, due = true, run, run, run, run
	}
	run = max(run, w.stepped)
	needless := min(due, run) // no tick was needed until then
	if w.ticked < needless && due > w.stepped {
		if w.state.IsPaused {
			w.lose(needless-w.ticked, isDeserted)
		}
		w.ticked = needless
	}
	w.stepped = run
	late := run - due
	switch w.hasStopped = late > LateStep; {
	case w.hasStopped:
		w.lost += late
		w.ticked = run
	case idle > 0:
		w.lost += min(idle, run-w.began-w.lost)
		w.ticked = run
	}
	return w.Now()
}

// Now returns the room time of the newest step.
func (w *Watch) Now() roomtime.Time {
	now := cmp.Or(w.opened, roomtime.Opening).Add(w.stepped - w.began - w.lost)
	if w.state.IsPaused {
		now = now.Add(w.ticked - w.stepped)
	}
	return now
}

// lose leaves the length of a pause out of room time.
func (w *Watch) lose(d time.Duration, isDeserted bool) {
	w.lost += d
	if isDeserted {
		w.state.Absent += d
	} else {
		w.state.Held += d
	}
}

// HasStopped reports whether this program was stopped before the step under way. Then it has heard
// nobody, and cannot tell which players were silent.
func (w *Watch) HasStopped() bool { return w.hasStopped }

// Tick lets time pass in the current step. It returns the time since the last tick, and whether a
// pause swallows this time.
func (w *Watch) Tick(isDeserted bool) (passed time.Duration, isLost bool) {
	passed = w.stepped - w.ticked
	w.ticked = w.stepped
	if w.state.IsPaused {
		w.lose(passed, isDeserted)
	}
	return passed, w.state.IsPaused
}

// UpdatePause begins or ends a pause. It returns a note for people, or nothing. isOver says that
// most players are back. Then the room waits for the others again, because on a line that comes up
// again not all come back at once.
func (w *Watch) UpdatePause(s Scene) (note sentence.Sentence, isOver bool) {
	if !s.IsDeserted {
		w.state.Absent = 0
	}
	pauses, most := w.shouldPause(s)
	switch {
	case pauses && !w.state.IsPaused && s.Silent == s.Players:
		note = sentence.Of("room.silent-all")
	case pauses && !w.state.IsPaused:
		note = sentence.Of("room.silent-some", "silent", s.Silent, "players", s.Players,
			"time", (LongestPause - w.state.Held).Round(time.Second))
	case !pauses && w.state.IsPaused && most:
		note = sentence.Of("room.clock-waited")
	case !pauses && w.state.IsPaused:
		note, isOver = sentence.Of("room.clock-on"), true
		w.state.Held += StalledAfter
	}
	w.state.IsPaused = pauses
	return note, isOver
}

// shouldPause reports whether the room should pause, and whether most players are silent.
func (w *Watch) shouldPause(s Scene) (pauses, most bool) {
	most = 2*s.Silent > s.Players && !(s.IsGathering && s.Silent == 1)
	return most && w.state.Held < LongestPause && w.state.Absent < LongestAbsence, most
}

// Next reports whether the room should pause, and how soon a pause ends even if nobody comes back.
// If isSettled, [Watch.UpdatePause] would change nothing before.
func (w *Watch) Next(s Scene) (pauses bool, ends time.Duration, isSettled bool) {
	pauses, _ = w.shouldPause(s)
	ends = LongestPause - w.state.Held
	if s.IsDeserted {
		ends = LongestAbsence - w.state.Absent
	}
	return pauses, ends, pauses == w.state.IsPaused && (w.state.Absent == 0 || s.IsDeserted)
}

// IsPaused reports whether time stands still.
func (w *Watch) IsPaused() bool { return w.state.IsPaused }

// Resume goes on after the host was away. Nobody is silent until the next [Watch.UpdatePause].
func (w *Watch) Resume() {
	if w.state.IsPaused {
		w.lost += w.stepped - w.ticked
	}
	w.ticked, w.state.IsPaused = w.stepped, false
}

// Begin forgets earlier pauses, because each list of servers has its own.
func (w *Watch) Begin() {
	if w.state.IsPaused {
		w.Resume()
	}
	w.state.Held, w.state.Absent = 0, 0
}
