package host

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/demand"
	"muster/host/lists"
	"muster/host/metrics"
	"muster/host/networks"
	"muster/host/page"
	"muster/host/public"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/store"
	"muster/host/turns"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/internal/clock"
)

const (
	// tickEvery is how often a room looks at the time. publishEvery is how often it sends everyone
	// its newest state, if that has changed.
	tickEvery    = 100 * time.Millisecond
	publishEvery = 200 * time.Millisecond
	// viewBacklog is how many messages may wait for a member who still gets a new state at once.
	viewBacklog = 4
)

// actor drives one room. Only its goroutine touches the room and the members' connections; other
// goroutines post to its inbox.
//
//	inbox ─▶ step ─▶ outputs ─┬─ Save first? ─▶ saving ─▶ said once it is kept
//	                          └────────────────────────▶ said at once
//
// The room stands still while a save must finish first, and while the store cannot say for sure
// that the room is this host's. Posts wait meanwhile. See saving.go.
type actor struct {
	*surroundings
	code string
	// opener is the network that opened the room on this host; otherwise it is invalid.
	opener netip.Addr
	claim  store.Claim
	keys   room.Keys       // from the start: the secret may change
	open   bool            // joining needs no code
	ctx    context.Context // ends with the host or with the room; its cause says why
	end    context.CancelCauseFunc
	log    *slog.Logger
	views  *board[*page.View]
	// held says why the room waits for its store, once people have been told; zero while it does not.
	held  *board[sentence.Sentence]
	inbox chan func()
	done  chan struct{}  // closed when the goroutine ends
	gone  chan struct{}  // closed when the host forgets the room
	work  sync.WaitGroup // list fetches and saves
	over  atomic.Bool    // the room is over, or about to be
	// takesCode is [room.Room.TakesCode] after the newest step. People see that step only once it
	// is kept.
	takesCode atomic.Bool

	room  *room.Room
	links map[people.ID]*link // by member
	// whatIfs limits the what-ifs of the whole room, because each needs a choice. supplies limits
	// its own lists.
	whatIfs, supplies *access.Pace
	// ticked is when the room last got the time. published is when everyone last got its state, by the
	// machine's clock: people see what happens while the room's time stands still. news rings when they
	// may get the next. shown is the revision that they have, except for members with slow lines.
	ticked, published time.Time
	news              *time.Timer
	shown             int
	isBehind          bool
	saving            saving
	// plan is the search for which the room wants processor time, nil without one. turn is its
	// place in the queue, nil outside.
	plan *room.Plan
	turn *turns.Turn
	// heir is the host that gets the room, empty if any host may.
	heir string
	// watched are the servers for which the room counts in [demand.Table].
	watched []netip.AddrPort
}

// surroundings are what the rooms of a host share. A room's actor reaches nothing else of its host.
type surroundings struct {
	keeper *keeper
	lists  *lists.Lists
	source lists.Source
	// limits are the current limits for strangers, nil if the host is not public.
	limits atomic.Pointer[public.Limits]
	turns  *turns.Turns
	demand *demand.Table
	// networks is the host's memory of the distances between networks, nil if it keeps none.
	networks *networks.Memory
	metrics  *metrics.Metrics
	poster   poster
	page     page.Host
	packer   wire.Packer
	// addresses returns the host's other addresses; it may be nil.
	addresses func() []netip.AddrPort
	// here returns where the host is, empty and 0 if it does not know.
	here    func() (country string, asn uint32)
	clock   clock.Clock
	started time.Time
	log     *slog.Logger
}

// moment returns the present moment for rooms.
func (s *surroundings) moment() room.Moment {
	now := s.clock.Now()
	return room.Moment{Run: now.Sub(s.started), Wall: now}
}

// link is a member's connection, with the edition of the last view that it carried.
type link struct {
	conn     *conn.Conn
	inflates bool // the member reads packed states
	seen     int
}

// These are reasons why a room's goroutine ends, apart from the end of its host.
var (
	errOver = errors.New("host: the room is over")
	errLost = errors.New("host: the room is another host's")
	errFell = errors.New("host: the room's goroutine has panicked")
	// errGiven says that the room goes to the actor's heir, which has fewer rooms.
	errGiven = errors.New("host: the room is given to another host")
)

// closedError says why the operator has ended a room for good.
type closedError struct{ why *wire.Refusal }

func (*closedError) Error() string { return "host: the operator has closed the room" }
func (*closedError) Unwrap() error { return errOver }

// run serves the room until the host ends, another host has the room, or the room is over.
func (a *actor) run(first room.Input) {
	defer a.leave()
	defer func() {
		if fault := recover(); fault != nil { // one room must not take the others down
			a.log.Error("room panicked", "fault", fault, "stack", string(debug.Stack()))
			a.end(errFell)
		}
	}()
	a.step(first, asker{})
	alarm := a.clock.NewTimer(0)
	defer alarm.Stop()
	a.news = time.NewTimer(0)
	defer a.news.Stop()
	var late func() // runs as soon as the room is known to be ours
	search := func() {
		if a.turn != nil { // unless it gave the turn back while it waited
			a.search()
		}
	}
	for a.ctx.Err() == nil {
		trusted, changed := a.keeper.store.Trust()
		now, inbox := a.clock.Now(), a.inbox
		next, waits := a.await(now, trusted)
		switch {
		case a.isLost():
			continue
		case waits:
			inbox = nil
		case late != nil:
			late()
			late = nil
			continue
		default:
			if next = a.goOn(now); a.saving.binding != nil {
				continue
			}
		}
		alarm.Reset(a.clock.Until(next))
		unkept := a.claim.Unkept()
		if a.saving.saved < 0 {
			unkept = nil // the next save is due anyway
		}
		given := a.enqueue(waits)
		select { // the select below draws, and a step before the result would wait for one save more
		case err := <-a.saving.done:
			a.written(err)
			continue
		default:
		}
		select { // others wait for the processor that the turn holds
		case <-given:
			late = search
			continue
		default:
		}
		select {
		case <-unkept:
			a.saving.saved = -1
		case act := <-inbox:
			late = act
		case <-given:
			late = search
		case err := <-a.saving.done:
			a.written(err)
		case <-alarm.C:
		case <-a.news.C:
		case <-changed:
		case <-a.claim.Lost():
		case <-a.ctx.Done():
		}
	}
}

// isLost reports whether another host has the room, and then ends its goroutine here.
func (a *actor) isLost() bool {
	select {
	case <-a.claim.Lost():
		a.lose()
		return true
	default:
		return false
	}
}

// lose ends the goroutine of a room that another host has.
func (a *actor) lose() {
	a.metrics.Lost()
	a.log.Info("room taken over by another host")
	a.saving.binding, a.saving.lost = nil, true // nobody may be told it any longer
	a.end(errLost)
}

// enqueue puts the room in the queue if it plans a search, and returns the channel for its turn.
// While the room waits for its store, it leaves the turn to others.
func (a *actor) enqueue(waits bool) (given <-chan struct{}) {
	switch {
	case waits && a.turn != nil:
		a.turn.Over()
		a.turn = nil
	case !waits && a.turn == nil && a.plan != nil:
		a.turn = a.turns.Wait(*a.plan)
	}
	if a.turn == nil {
		return nil
	}
	return a.turn.Given()
}

// search runs the room's plan, because its turn has come.
func (a *actor) search() {
	defer a.turn.Over()
	a.metrics.Waited(a.turn.Waited())
	a.plan, a.turn = nil, nil
	a.step(room.Turn{}, asker{})
}

// mute returns the players whose programs do not even answer pings.
func (a *actor) mute() (mute []people.ID) {
	for player, l := range a.links {
		if l.conn.Silence() > room.QuietAfter {
			mute = append(mute, player)
		}
	}
	return mute
}

// lines returns the lowest round trips of the players' connections, and where the host is.
func (a *actor) lines() room.Lines {
	seen := room.Lines{RoundTrips: map[people.ID]time.Duration{}}
	seen.At.Country, seen.At.ASN = a.here()
	for player, l := range a.links {
		seen.RoundTrips[player] = l.conn.RoundTrip()
	}
	return seen
}

// goOn does what is due, and returns when the next thing is due. An idle room costs nothing.
func (a *actor) goOn(now time.Time) (next time.Time) {
	ends := a.limits.Load().EndsAt(a.room, now)
	if a.room.Use(now).IsOver || !ends.IsZero() && !now.Before(ends) {
		a.end(errOver)
	}
	watches := a.room.Watches()
	demand := a.demand.Move(a.code, a.watched, watches)
	a.watched = watches
	if next = latest(a.room.Next(), a.ticked.Add(tickEvery)); !now.Before(next) {
		a.ticked = now
		a.step(room.Tick{Demand: demand, Mute: a.mute(), Lines: a.lines()}, asker{})
		next = latest(a.room.Next(), now.Add(tickEvery))
	}
	if !ends.IsZero() {
		next = earliest(next, ends)
	}
	if a.room.Revision() != a.shown || a.isBehind {
		wait := publishEvery - time.Since(a.published)
		if wait <= 0 {
			a.published, wait = time.Now(), publishEvery
			a.publish(inTurn)
		}
		if a.room.Revision() != a.shown || a.isBehind {
			a.news.Reset(wait)
		}
	}
	if save := a.saving.due(a.room.Revision()); !save.IsZero() && now.Before(save) {
		next = earliest(next, save)
	} else if !save.IsZero() {
		a.write(now)
	}
	return next
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// post runs a function on the room's goroutine, and reports false if there is no room or it has
// ended.
func (a *actor) post(act func()) bool {
	if a == nil {
		return false
	}
	select {
	case a.inbox <- act:
		return true
	case <-a.ctx.Done():
		return false
	}
}

// ask is post for a function with a result. ok is false if the room has ended.
func ask[T any](a *actor, act func() T) (result T, ok bool) {
	answer := make(chan T, 1)
	if !a.post(func() { answer <- act() }) {
		return result, false
	}
	select {
	case result = <-answer:
		return result, true
	case <-a.done: // the room panicked
		return result, false
	}
}

// close ends the room for good.
func (a *actor) close() {
	a.over.Store(true)
	a.post(func() { a.step(room.Close{}, asker{}) })
}

// closeFor ends the room for good, and tells people why.
func (a *actor) closeFor(why *wire.Refusal) {
	a.over.Store(true)
	a.post(func() {
		a.step(room.Close{Why: why}, asker{})
		a.end(&closedError{why})
	})
}

// leave ends the room's goroutine in good order: everything is saved, the room is released to its
// next host, everyone is told, and no goroutine is left.
func (a *actor) leave() {
	defer close(a.done)
	if a.turn != nil {
		a.turn.Over()
	}
	a.demand.Move(a.code, a.watched, nil)
	why := moved()
	switch cause := context.Cause(a.ctx); {
	case cause == errLost, cause == errFell:
	case errors.Is(cause, errOver):
		why = a.tooLate()
	default:
		a.handOver()
	}
	a.keeper.unhanded.Done()
	if context.Cause(a.ctx) == context.Canceled {
		<-a.keeper.goodbyes.Done()
	}
	if view, _ := a.views.get(); a.isBehind {
		a.show(view, atOnce) // nobody misses the last state
	}
	a.send(room.Send{Message: *why})
	for _, l := range a.links {
		l.conn.Close(why)
	}
	a.work.Wait()
}

// newest returns the newest state. It is held if, for all that this host knows, another host may have
// gone on: the room's goroutine ends here, or has not yet heard that the lease has ended, as when the
// machine was suspended.
func (a *actor) newest() wire.Snapshot {
	view, _ := a.views.get()
	s := view.Snapshot
	trusted, _ := a.keeper.store.Trust()
	if cause := context.Cause(a.ctx); !errors.Is(cause, errOver) && (cause != nil || !trusted) {
		s.Room.Held = heldSentence
	}
	return s
}

// moved returns the message for players whose room is about to have another host, or the same host
// after a restart.
func moved() *wire.Refusal {
	return wire.Refuse(wire.ReasonMoved, "refused.moved").Advising("refused.come-back-hint")
}

// tooLate returns the message for callers who come after the actor's goroutine has ended.
func (a *actor) tooLate() *wire.Refusal {
	cause, operators := context.Cause(a.ctx), (*closedError)(nil)
	switch {
	case errors.As(cause, &operators):
		return operators.why
	case a.over.Load() || errors.Is(cause, errOver):
		return room.Closed(a.code)
	}
	return moved()
}

// query applies a request to the room, and waits for its answer. It is refused while the room waits
// for its store.
func (a *actor) query(in room.Input, by *link) (answer any, err error) {
	type result struct {
		answer any
		err    error
	}
	told := make(chan result, 1)
	act := func() {
		a.step(in, asker{by, func(answer any, err error) {
			a.publish(inTurn)
			told <- result{answer, err}
		}})
	}
	for posted := false; !posted; {
		why, changed := a.held.get() // that changes seldom: who waits keeps their place in the inbox's queue
		if !why.IsZero() {
			return nil, &wire.Refusal{Reason: wire.ReasonBusy, Says: why}
		}
		select {
		case a.inbox <- act:
			posted = true
		case <-changed:
		case <-a.ctx.Done():
			return nil, a.tooLate()
		}
	}
	select {
	case r := <-told:
		return r.answer, r.err
	case <-a.done:
	}
	select {
	case r := <-told: // it came at the last moment
		return r.answer, r.err
	default:
		return nil, a.tooLate()
	}
}
