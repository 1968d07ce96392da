package host

import (
	"context"
	"errors"
	"time"

	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/store"
)

const (
	// saveEvery bounds how often a room that changes all the time is written. After a failure
	// the next try comes after that time, then twice that, and so on up to longestRest.
	saveEvery   = 2 * time.Second
	longestRest = 30 * time.Second
	// awayRest is how long a room that waits for its store pauses between tries.
	awayRest = 500 * time.Millisecond
	// holdAfter is how long a binding step may take to be saved before people are told why they
	// wait.
	holdAfter = time.Second
)

// heldSentence is what people read while their room waits.
var heldSentence = sentence.Of("refused.held")

// saving saves a room in the store:
//
//	step ─▶ binds ─▶ Save ─┬─ kept ───────────────────────▶ said
//	                       ├─ the disk takes nothing ─┬─ on a player's own computer ─▶ said, and that it is not kept
//	                       │                          └─ on a public host ─▶ again, until it is kept
//	                       ├─ nobody knows (ErrAway) ─────▶ again, until somebody does
//	                       └─ another's room (ErrFenced) ─▶ never said: the goroutine ends
//
// On a player's own computer the session matters more than its record. On a public host strangers
// rely on what they were told, as they do with a store that is out of reach.
//
// Steps that do not bind are saved now and then, in the background.
type saving struct {
	// saved is the revision of the room that the store has, and savedAt when a save last began.
	saved   int
	savedAt time.Time
	// done receives the result of the running save of revision. It is nil while no save runs.
	done     chan error
	revision int
	// unsaved is how many saves in a row the disk has refused.
	unsaved int
	// lost says that another host has the room.
	lost bool

	// binding is the outcome of a step that must be saved before it is told, nil if there is none.
	// It belongs to the room's revision boundAt.
	binding *outcome
	boundAt int
	// since is when the room began to wait, zero while it does not. isHeld says that people have
	// been told.
	since  time.Time
	isHeld bool
}

// bind begins to save the outcome of a step, which takes effect once it is saved.
func (a *actor) bind(result outcome) {
	s := &a.saving
	s.binding, s.boundAt = &result, a.room.Revision()
	if s.done == nil { // otherwise the next save has it
		a.write(a.clock.Now())
	}
}

// await reports whether the room waits for its store, and returns when to look again. It starts the
// save that is needed, and tells people if the wait takes long.
func (a *actor) await(now time.Time, trusted bool) (next time.Time, waits bool) {
	s := &a.saving
	if trusted && s.binding == nil {
		a.resume(now)
		return next, s.binding != nil
	}
	if s.since.IsZero() {
		s.since = now
	}
	if !s.isHeld && (!trusted || now.Sub(s.since) >= holdAfter) {
		a.hold()
	}
	next = s.since.Add(holdAfter)
	if s.isHeld {
		next = now.Add(longestRest)
	}
	if trusted && s.done == nil {
		again := s.savedAt.Add(awayRest)
		if !now.Before(again) {
			a.write(now)
		} else if again.Before(next) {
			next = again
		}
	}
	return next, true
}

// hold tells everyone that the room waits, on top of the last view. Nobody may see what has
// happened since.
func (a *actor) hold() {
	a.saving.isHeld = true
	view, _ := a.views.get()
	if view.Edition > 0 {
		a.show(view.Held(heldSentence), atOnce)
		a.held.show(heldSentence)
		return
	}
	// The room has just come here, and nobody is told anything yet. But programs may ask for it.
	held := *view
	held.Snapshot.Room.Held = heldSentence
	a.views.show(&held)
}

// resume makes the room go on after it has waited.
func (a *actor) resume(now time.Time) {
	s := &a.saving
	if s.since.IsZero() {
		return
	}
	waited := now.Sub(s.since)
	s.since = time.Time{}
	if s.isHeld {
		s.isHeld, a.shown = false, -1
		if why, _ := a.held.get(); !why.IsZero() {
			a.held.show(sentence.Sentence{})
		}
		a.step(room.Waited{For: waited}, asker{})
		a.publish(atOnce)
	}
}

// due returns when to save a revision to which nothing binds. It is zero if the store has it, or if
// a save is running.
func (s *saving) due(revision int) time.Time {
	if s.done != nil || revision == s.saved {
		return time.Time{}
	}
	return s.savedAt.Add(min(saveEvery<<min(max(s.unsaved-1, 0), 8), longestRest))
}

// write begins a save, while no other runs. A slow save delays only people who wait for it.
func (a *actor) write(now time.Time) {
	s := &a.saving
	s.savedAt, s.revision = now, a.room.Revision()
	done := make(chan error, 1)
	s.done = done
	data, err := a.room.Save()
	if err != nil {
		done <- err
		return
	}
	a.work.Go(func() {
		ctx, cancel := context.WithTimeout(a.keeper.saves, storeWait)
		defer cancel()
		done <- a.claim.Save(ctx, data)
	})
}

// written handles the result of a save. The room tells people when the disk fails, and when it
// works again.
func (a *actor) written(err error) {
	s := &a.saving
	s.done = nil
	away := isAway(err)
	switch {
	case err == nil:
		s.saved = s.revision
		a.keeper.disk.noteSaved(a.code, a.clock.Now())
		if s.unsaved > 0 && !a.keeper.mustKeep {
			a.room.Step(room.Stored{}, a.moment())
		}
		s.unsaved = 0
	case errors.Is(err, store.ErrFenced):
		a.lose()
		return
	case away: // the store logs its own outages, unless it only lacks space
		a.log.Debug("room not saved", "error", err)
		if trusted, _ := a.keeper.store.Trust(); trusted && a.ctx.Err() == nil {
			a.keeper.disk.noteFailure(a.code, err, a.clock.Now(), true)
		}
	default:
		a.log.Debug("room not saved", "error", err)
		a.keeper.disk.noteFailure(a.code, err, a.clock.Now(), a.keeper.mustKeep)
		s.saved = -1 // even without a change, because the disk has not confirmed it
		if s.unsaved++; s.unsaved == 1 && !a.keeper.mustKeep {
			a.room.Step(room.Stored{Trouble: whyNot(err)}, a.moment())
		}
		away = a.keeper.mustKeep
	}
	result := s.binding
	if result == nil {
		return
	}
	// A process that was stopped in between must check again who owns the room.
	trusted, _ := a.keeper.store.Trust()
	switch {
	case s.revision < s.boundAt: // it was an earlier save
		a.write(a.clock.Now())
	case !away && trusted:
		s.binding = nil
		a.say(*result)
	}
}

// isAway reports whether a store was out of reach, so that it is unknown whether it did its work.
func isAway(err error) bool {
	return errors.Is(err, store.ErrAway) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// handOver saves the room a last time, and releases it.
func (a *actor) handOver() {
	a.keeper.handing <- struct{}{} // limits how many do so at once
	defer func() { <-a.keeper.handing }()
	s := &a.saving
	s.binding = nil // it is saved, but nobody is told
	if s.done != nil {
		a.written(<-s.done)
	}
	if a.room.Revision() != s.saved {
		a.write(a.clock.Now())
		a.written(<-s.done)
	}
	if s.lost {
		return
	}
	ctx, cancel := context.WithTimeout(a.keeper.saves, storeWait)
	defer cancel()
	if err := a.claim.Give(ctx, a.heir); err != nil && !errors.Is(err, store.ErrFenced) {
		a.log.Warn("room not released", "error", err)
		return
	}
	if a.heir != "" {
		a.log.Info("room given to another host", "to", a.heir)
	}
}
