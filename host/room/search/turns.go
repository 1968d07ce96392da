package search

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/room/roomtime"
)

// slowTurn is how long a room waits for its turn before it tells people.
const slowTurn = 5 * time.Second

// Turns is a room's wait for the processor time of its search's rounds. The host gives it in turns
// to all rooms that search.
type Turns struct {
	// since is when the room asked for the turn that it waits for, zero without one.
	since  roomtime.Time
	isTold bool
	// waited is how long the measuring had waited for turns before that.
	waited time.Duration
}

// Await waits for a turn. It reports whether the room has to ask for one, and returns a note for
// people who wait, or nothing.
func (t *Turns) Await(isBackground bool, now roomtime.Time) (isNew bool, note sentence.Sentence) {
	if isNew = t.since.IsZero(); isNew {
		t.since = now
	}
	if !isBackground && !t.isTold && now.Sub(t.since) >= slowTurn {
		t.isTold = true
		note = sentence.Of("room.queue")
	}
	return isNew, note
}

// Take takes the turn.
func (t *Turns) Take(now roomtime.Time) { *t = Turns{waited: t.Waited(now)} }

// Waited returns how long the measuring has waited for turns.
func (t *Turns) Waited(now roomtime.Time) time.Duration {
	if t.since.IsZero() {
		return t.waited
	}
	return t.waited + now.Sub(t.since)
}

// Begin begins another measuring. The room still waits for a turn that it has asked for.
func (t *Turns) Begin() { t.waited = 0 }
