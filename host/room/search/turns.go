package search

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/room/roomtime"
)

// slowTurn is how long a room waits for its turn before it tells people.
const slowTurn = 5 * time.Second

// Turns is a room's wait for processor time. The rooms of a host that search take turns.
type Turns struct {
	// since is when the room asked for a turn, zero if it waits for none. isTold notes that people
	// know.
	since  roomtime.Time
	isTold bool
	// waited is how long the measuring has waited for earlier turns.
	waited time.Duration
}

// Await waits for a turn. It reports whether the room has to ask for one, and may return a note for
// people.
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
