package host

import (
	"context"
	"errors"
	"time"

	"muster/host/room"
	"muster/host/store"
)

const (
	// saveEvery bounds how often a room that changes all the time is written. What could
	// not be is tried again after that, twice that, … longestRest.
	saveEvery   = 2 * time.Second
	longestRest = 30 * time.Second
	// awayRest is how long a room that waits for its store lets that be.
	awayRest = 500 * time.Millisecond
	// holdAfter is how long what binds may take to be kept until people are told what
	// they wait for.
	holdAfter = time.Second
)

// held is what people read while their room waits.
const held = "the host cannot keep just now what happens here: everything waits, nothing is lost, and it goes on by itself"

// saving is how a room gets into the store:
//
//	step ─▶ binds ─▶ Save ─┬─ kept ───────────────────────▶ said
//	                       ├─ the disk takes nothing ─┬─ on a player's own computer ─▶ said, and that it is not kept
//	                       │                          └─ on a public host ─▶ again, until it is kept
//	                       ├─ nobody knows (ErrAway) ─────▶ again, until somebody does
//	                       └─ another's room (ErrFenced) ─▶ never said: the goroutine ends
//
// On a player's own computer the evening is worth more than its record. On a public host
// strangers rely on what they were told, as with a store that is out of reach.
//
// What does not bind is saved now and then, behind what happens.
type saving struct {
	// saved is the room's revision that the store has, and savedAt when a save last began.
	saved   int
	savedAt time.Time
	// done takes what comes of a save under way, which is of a revision; nil without one.
	done     chan error
	revision int
	// unsaved is how often in a row the disk took nothing.
	unsaved int
	// lost: another host has the room.
	lost bool

	// binding is what a step came to that is not kept yet, nil without one; it is in
	// the room's revision of boundAt.
	binding *outcome
	boundAt int
	// since is when the room began to wait, zero while it does not, and isHeld says that
	// people know.
	since  time.Time
	isHeld bool
}

// bind begins to keep what a step came to, which is said when that is done.
func (a *actor) bind(result outcome) {
	s := &a.saving
	s.binding, s.boundAt = &result, a.room.Revision()
	if s.done == nil { // or it is the next
		a.write(time.Now())
	}
}

// await reports whether the room waits for its store, tells people so if it takes long,
// and returns when to look again. It has what waits be kept.
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

// hold tells everyone that the room waits, above what they were shown last: what has
// happened since is not to be seen.
func (a *actor) hold() {
	a.saving.isHeld = true
	if view, _ := a.views.get(); view.Edition > 0 { // somebody may have seen something
		a.show(view.Held(held))
	}
}

// resume has the room go on after it has waited.
func (a *actor) resume(now time.Time) {
	s := &a.saving
	if s.since.IsZero() {
		return
	}
	waited := now.Sub(s.since)
	s.since = time.Time{}
	if s.isHeld {
		s.isHeld, a.shown = false, -1
		a.step(room.Waited{For: waited}, asker{})
		a.publish()
	}
}

// due is when a room of a revision is to be saved, although nothing binds; zero if it
// need not be, or a save is under way.
func (s *saving) due(revision int) time.Time {
	if s.done != nil || revision == s.saved {
		return time.Time{}
	}
	return s.savedAt.Add(min(saveEvery<<min(s.unsaved, 8), longestRest))
}

// write begins to put the room into the store, while no other save is under way: a slow
// one holds up nobody but who waits for it.
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

// written takes what came of a save. The room tells people when the disk takes nothing,
// and when it does again.
func (a *actor) written(err error) {
	s := &a.saving
	s.done = nil
	away := isAway(err)
	switch {
	case err == nil:
		s.saved = s.revision
		a.keeper.disk.keeps(a.code, time.Now())
		if s.unsaved > 0 && !a.keeper.mustKeep {
			a.room.Step(room.Stored{}, time.Now())
		}
		s.unsaved = 0
	case errors.Is(err, store.ErrFenced):
		a.lose()
		return
	case away: // the store has its own word in the log, unless it only takes no rooms
		a.log.Debug("room not saved", "error", err)
		if trusted, _ := a.keeper.store.Trust(); trusted && a.ctx.Err() == nil {
			a.keeper.disk.fails(a.code, err, time.Now(), true)
		}
	default:
		a.log.Debug("room not saved", "error", err)
		a.keeper.disk.fails(a.code, err, time.Now(), a.keeper.mustKeep)
		s.saved = -1 // also if it is as before: nobody has seen the disk take it
		if s.unsaved++; s.unsaved == 1 && !a.keeper.mustKeep {
			a.room.Step(room.Stored{Trouble: whyNot(err)}, time.Now())
		}
		away = a.keeper.mustKeep
	}
	result := s.binding
	if result == nil {
		return
	}
	// A process that was stopped in between is to look again whose the room is.
	trusted, _ := a.keeper.store.Trust()
	switch {
	case s.revision < s.boundAt: // it was a save of before
		a.write(time.Now())
	case !away && trusted:
		s.binding = nil
		a.say(*result)
	}
}

// isAway reports whether a store was out of reach, and may or may not have done as it was
// told.
func isAway(err error) bool {
	return errors.Is(err, store.ErrAway) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// handOver saves the room a last time, and lets any host have it.
func (a *actor) handOver() {
	a.keeper.handing <- struct{}{} // so many at once
	defer func() { <-a.keeper.handing }()
	s := &a.saving
	s.binding = nil // nobody hears of it, and it is kept
	if s.done != nil {
		a.written(<-s.done)
	}
	if a.room.Revision() != s.saved {
		a.write(time.Now())
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
		a.log.Info("room given to a host with fewer", "to", a.heir)
	}
}
