package host

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"muster/host/access"
	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
)

// registry holds the rooms that a host has, those it is about to have, and those it cannot have.
type registry struct {
	mu     sync.Mutex // guards following
	rooms  map[string]*actor
	closed bool
	// claiming are the rooms that are being claimed, each with what is closed at the end of that. fallen
	// are those whose goroutine has panicked. unreadable are rooms that this host cannot hold, with the
	// reason for people.
	claiming   map[string]chan struct{}
	fallen     map[string]bool
	unreadable map[string]*wire.Refusal
	becoming   int // rooms that are about to become standing ones
}

func newRegistry() *registry {
	return &registry{
		rooms:      map[string]*actor{},
		claiming:   map[string]chan struct{}{},
		fallen:     map[string]bool{},
		unreadable: map[string]*wire.Refusal{},
	}
}

// find returns the room with a code as people type it, or nil.
func (r *registry) find(code string) *actor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rooms[access.CanonicalCode(code)]
}

// codes returns the codes of all rooms, in order.
func (r *registry) codes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.rooms))
}

// onlyOpen returns the only room that takes players without a code, or nil.
func (r *registry) onlyOpen() (only *actor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.rooms {
		if a.open && only != nil {
			return nil
		}
		if a.open {
			only = a
		}
	}
	return only
}

func (r *registry) stages() (all []wire.Stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.rooms {
		view, _ := a.views.get()
		all = append(all, view.Snapshot.Room.Stage)
	}
	return all
}

// count returns how many rooms the host has.
func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rooms)
}

// close makes the registry refuse new rooms.
func (r *registry) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

func (r *registry) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// add adds a room and runs its goroutine, unless the registry has closed.
func (r *registry) add(a *actor, run func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.rooms[a.code] = a
	run()
	return true
}

// drop removes a room, and reports whether it was still there.
func (r *registry) drop(a *actor) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	isHere := r.rooms[a.code] == a
	if isHere {
		delete(r.rooms, a.code)
		close(a.gone)
	}
	return isHere
}

// beginClaim notes that a room is being claimed until done is called. It returns nil if another
// goroutine claims it, or if the room is here or unreadable.
func (r *registry) beginClaim(code string) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.claiming[code] != nil || r.rooms[code] != nil || r.unreadable[code] != nil {
		return nil
	}
	ended := make(chan struct{})
	r.claiming[code] = ended
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.claiming, code)
		close(ended)
	}
}

// awaitEnd waits until no goroutine has a room or claims it, or until ctx ends.
func (r *registry) awaitEnd(ctx context.Context, code string) {
	for {
		r.mu.Lock()
		ended := r.claiming[code]
		if a := r.rooms[code]; a != nil {
			ended = a.gone
		}
		r.mu.Unlock()
		if ended == nil {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// notePanic notes that a room's goroutine has panicked, and reports whether it had panicked before.
func (r *registry) notePanic(code string) (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	again = r.fallen[code]
	r.fallen[code] = true
	return again
}

// leaveAlone makes this host refuse callers for a room that it cannot hold.
func (r *registry) leaveAlone(code string, why error) {
	refusal := wire.Refuse(wire.ReasonBusy, "refused.unreadable").Advising("refused.unreadable-hint")
	if errors.Is(why, room.ErrNewer) {
		refusal.Message = "this room is on a newer Muster than this host"
		refusal.Hint = "it goes on where that Muster runs; programs and pages try again by themselves"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unreadable[code] = refusal
}

// isUnreadable reports whether this host has found that it cannot hold a saved room.
func (r *registry) isUnreadable(code string) bool { return r.whyUnreadable(code) != nil }

// whyUnreadable returns the message for callers of such a room, or nil.
func (r *registry) whyUnreadable(code string) *wire.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unreadable[code]
}

// standing returns how many standing rooms there are, and how many of them sleep.
func (r *registry) standing() (stay, sleep int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.standingNow()
}

// standingNow is standing for callers that hold the mutex.
func (r *registry) standingNow() (stay, sleep int) {
	for _, a := range r.rooms {
		view, _ := a.views.get()
		if s := &view.Snapshot.Room; s.Every != "" {
			stay++
			if !s.Ended.IsZero() {
				sleep++
			}
		}
	}
	return stay, sleep
}

// mayStay says why the host keeps no further standing room. If it does keep one, the place is
// reserved until done is called, so that no more come in at the same time.
func (r *registry) mayStay(p *public.Limits) (done func(), why *wire.Refusal) {
	if p == nil {
		return func() {}, nil
	}
	if p.Standing.Rooms == 0 {
		return nil, errNoneStay
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if stay, _ := r.standingNow(); stay+r.becoming >= p.Standing.Rooms {
		return nil, wire.Refuse(wire.ReasonFull, "refused.standing-taken", "n", p.Standing.Rooms).
			Advising("refused.standing-taken-hint")
	}
	r.becoming++
	return func() {
		r.mu.Lock()
		r.becoming--
		r.mu.Unlock()
	}, nil
}

// errNoneStay is the refusal at a host that keeps no standing rooms.
var errNoneStay = wire.Refuse(wire.ReasonAction, "refused.none-stay").Advising("refused.none-stay-hint")

// isMovable reports whether a room in a phase may move to another host just for balance. It may
// while it gathers or sleeps, because then nobody measures, votes or plays.
func isMovable(stage wire.Stage) bool { return stage == wire.Gathering }

// movable returns n rooms that may move to another host. Rooms with few people come first, because
// their people have to reconnect.
func (r *registry) movable(n int) []*actor {
	if n == 0 {
		return nil
	}
	type candidate struct {
		*actor
		people int
	}
	var all []candidate
	r.mu.Lock()
	for _, a := range r.rooms {
		view, _ := a.views.get()
		if !isMovable(view.Snapshot.Room.Stage) || a.over.Load() {
			continue
		}
		c := candidate{actor: a}
		for _, p := range view.Snapshot.People {
			if p.Connected {
				c.people++
			}
		}
		all = append(all, c)
	}
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(a.people-b.people, cmp.Compare(a.code, b.code)) })
	var some []*actor
	for _, c := range all[:min(n, len(all))] {
		some = append(some, c.actor)
	}
	return some
}
