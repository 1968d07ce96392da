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

	"muster/host/access"
	"muster/host/crowds"
	"muster/host/lists"
	"muster/host/metrics"
	"muster/host/page"
	"muster/host/public"
	"muster/host/room"
	"muster/host/store"
	"muster/host/turns"
	"muster/host/wire"
	"muster/host/wire/conn"
)

const (
	// tickEvery is how often a room looks at the time, and publishEvery how often
	// it tells everyone its newest state, if it changed.
	tickEvery    = 100 * time.Millisecond
	publishEvery = 200 * time.Millisecond
	// viewBacklog is how many messages may wait for a member who still is sent
	// the newest state. Whoever is slower misses states, never the last one.
	viewBacklog = 4
)

// actor drives one room: only its goroutine touches the room and the members'
// connections. Everyone else posts what happened.
//
//	inbox ─▶ step ─▶ outputs ─┬─ Save first? ─▶ saving ─▶ said once it is kept
//	                          └────────────────────────▶ said at once
//
// While something waits to be kept, and while the store cannot say for sure that the
// room is this host's, nothing happens to the room: what is posted waits. See saving.go.
type actor struct {
	*surroundings
	code string
	// opener is the network that opened the room, if it did so here; invalid otherwise.
	opener netip.Addr
	claim  store.Claim
	keys   room.Keys       // of its beginning: the secret may change
	open   bool            // joining needs no code
	ctx    context.Context // ends with the host or with the room; its cause says why
	end    context.CancelCauseFunc
	log    *slog.Logger
	views  *board[*page.View]
	inbox  chan func()
	done   chan struct{}  // closed when the goroutine has ended
	work   sync.WaitGroup // list fetches and saves
	over   atomic.Bool    // it is, or about to be
	// takesCode is [room.Room.TakesCode] as of the newest step, which people are shown only
	// once it is kept.
	takesCode atomic.Bool

	room  *room.Room
	links map[string]*link // by member
	// whatIfs are those of the whole room: each is a choice to be made. So are supplies.
	whatIfs, supplies *access.Pace
	// ticked and published are when the room last had the time and everyone its newest
	// state, shown is the room's revision that they have, but for those whose lines are
	// behind.
	ticked, published time.Time
	shown             int
	isBehind          bool
	saving            saving
	// plan is what the room wants processor time for, nil without such a wish, and turn
	// its place in the queue, nil outside.
	plan *room.Plan
	turn *turns.Turn
	// heir is the host that the room is given to, empty if that may be any.
	heir string
	// watched are the servers for which the room counts in [crowds.Crowds].
	watched []netip.AddrPort
}

// surroundings are what the rooms of a host share. A room's actor reaches no more of its host.
type surroundings struct {
	keeper *keeper
	lists  *lists.Lists
	source lists.Source
	// limits are what strangers may now, nil if the host is not public.
	limits  atomic.Pointer[public.Limits]
	turns   *turns.Turns
	crowds  *crowds.Crowds
	metrics *metrics.Metrics
	poster  poster
	page    page.Host
	// addresses are where else the host is reached; nil knows none.
	addresses func() []netip.AddrPort
	log       *slog.Logger
}

// link is a member's connection, and the edition of the view that it carried last.
type link struct {
	conn *conn.Conn
	seen int
}

// Why a room's goroutine ends, beside that its host does.
var (
	errOver = errors.New("host: the room is over")
	errLost = errors.New("host: the room is another host's")
	errFell = errors.New("host: the room's goroutine has panicked")
	// errGiven: the room goes to the actor's heir, which has fewer rooms.
	errGiven = errors.New("host: the room is given to another host")
)

// run serves the room until the host ends, the room is another host's, or it is over.
func (a *actor) run(first room.Input) {
	defer a.leave()
	defer func() {
		if fault := recover(); fault != nil { // which is no reason to take all other rooms down
			a.log.Error("room panicked", "fault", fault, "stack", string(debug.Stack()))
			a.end(errFell)
		}
	}()
	a.step(first, asker{})
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	var late func() // what is to be done as soon as the room is known to be ours
	for a.ctx.Err() == nil {
		trusted, changed := a.keeper.store.Trust()
		now, inbox := time.Now(), a.inbox
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
		alarm.Reset(time.Until(next))
		select {
		case act := <-inbox:
			late = act
		case <-a.queues(waits):
			late = func() {
				if a.turn != nil { // it has given it back if it had to wait meanwhile
					a.search()
				}
			}
		case err := <-a.saving.done:
			a.written(err)
		case <-alarm.C:
		case <-changed:
		case <-a.claim.Lost():
		case <-a.ctx.Done():
		}
	}
}

// isLost reports whether the room is another host's, and ends its goroutine here then.
func (a *actor) isLost() bool {
	select {
	case <-a.claim.Lost():
		a.lose()
		return true
	default:
		return false
	}
}

// lose ends the goroutine of a room that is another host's.
func (a *actor) lose() {
	a.log.Info("room taken over by another host")
	a.saving.binding, a.saving.lost = nil, true // it is nobody's word any more
	a.end(errLost)
}

// queues has the room wait for its turn if it plans something, and returns what it waits
// for. While the room waits for its store, others have theirs.
func (a *actor) queues(waits bool) (given <-chan struct{}) {
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

// search has the room plan, as it is its turn.
func (a *actor) search() {
	defer a.turn.Over()
	a.metrics.Waited(a.turn.Waited())
	a.plan, a.turn = nil, nil
	a.step(room.Turn{}, asker{})
}

// mute returns the players whose programs do not even answer pings.
func (a *actor) mute() (names []string) {
	for name, l := range a.links {
		if l.conn.Silence() > room.QuietAfter {
			names = append(names, name)
		}
	}
	return names
}

// goOn does what it is time for, and returns when it is time again: a room in which
// nothing happens costs nothing.
func (a *actor) goOn(now time.Time) (next time.Time) {
	ends := a.limits.Load().EndsAt(a.room, now)
	if a.room.Use(now).IsOver || !ends.IsZero() && !now.Before(ends) {
		a.end(errOver)
	}
	watches := a.room.Watches()
	crowds := a.crowds.Move(a.code, a.watched, watches)
	a.watched = watches
	if next = latest(a.room.Next(), a.ticked.Add(tickEvery)); !now.Before(next) {
		a.ticked = now
		a.step(room.Tick{Crowds: crowds, Mute: a.mute()}, asker{})
		next = latest(a.room.Next(), now.Add(tickEvery))
	}
	if !ends.IsZero() {
		next = earliest(next, ends)
	}
	if a.room.Revision() != a.shown || a.isBehind {
		news := a.published.Add(publishEvery)
		if !now.Before(news) {
			a.published = now
			a.publish()
			news = now.Add(publishEvery)
		}
		if a.room.Revision() != a.shown || a.isBehind {
			next = earliest(next, news)
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

// post has the room's goroutine do something, unless there is no room, or it has
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

// ask is post for what has a result; the zero value if the room has ended.
func ask[T any](a *actor, act func() T) (result T, ok bool) {
	answer := make(chan T, 1)
	if !a.post(func() { answer <- act() }) {
		return result, false
	}
	select {
	case result = <-answer:
		return result, true
	case <-a.done: // by a panic
		return result, false
	}
}

// close ends the room for good.
func (a *actor) close() {
	a.over.Store(true)
	a.post(func() { a.step(room.Close{}, asker{}) })
}

// leave ends the room's goroutine in good order: everything saved, the room left to
// whoever is to have it, everyone told, nobody left running.
func (a *actor) leave() {
	defer close(a.done)
	if a.turn != nil {
		a.turn.Over()
	}
	a.crowds.Move(a.code, a.watched, nil)
	why := moved()
	switch context.Cause(a.ctx) {
	case errLost, errFell:
	case errOver:
		why = room.Closed(a.code)
	default:
		a.handOver()
	}
	for _, l := range a.links {
		l.conn.Send(*why)
		l.conn.Close(why)
	}
	a.work.Wait()
}

// moved is what players hear whose room has another host from now on, or the same
// again once that has been restarted.
func moved() *wire.Refusal {
	return &wire.Refusal{
		Reason:  wire.ReasonMoved,
		Message: "the room goes on at another host, or once this one is back",
		Hint:    "programs and pages come back by themselves",
	}
}

// tooLate is what those hear who come when this goroutine has ended.
func (a *actor) tooLate() *wire.Refusal {
	if a.over.Load() || context.Cause(a.ctx) == errOver {
		return room.Closed(a.code)
	}
	return moved()
}

// asker is who waits for what an input comes to: the connection that says hello, and
// what is to be called once everything is kept and said.
type asker struct {
	by   *conn.Conn
	tell func(answer any, err error)
}

// step has something happen to the room, and does what comes of it in order, once it is
// kept if it binds.
func (a *actor) step(in room.Input, who asker) {
	began, phase := time.Now(), a.room.Stage()
	outputs, err := a.room.Step(in, began)
	a.takesCode.Store(a.room.TakesCode())
	a.metrics.Stepped(a.room, in, phase, began)
	result := outcome{outputs, err, who}
	if len(outputs) > 0 {
		if _, binds := outputs[0].(room.Save); binds {
			result.outputs = outputs[1:]
			a.bind(result)
			return
		}
	}
	a.say(result)
}

// outcome is what a Step of the room came to.
type outcome struct {
	outputs []room.Output
	err     error
	who     asker
}

// say does what a step came to.
func (a *actor) say(result outcome) {
	var answer any
	for _, o := range result.outputs {
		switch o := o.(type) {
		case room.Publish:
			a.publish()
		case room.Admit:
			if old := a.links[o.Player]; old != nil {
				replaced := wire.Refusal{Reason: wire.ReasonReplaced, Message: o.Player + " came back on another connection"}
				old.conn.Send(replaced)
				old.conn.Close(replaced)
			}
			a.links[o.Player] = &link{conn: result.who.by}
			a.isBehind = true
			answer = o.Player
		case room.Send:
			a.send(o)
		case room.Dismiss:
			if l := a.links[o.Player]; l != nil {
				l.conn.Send(o.Why)
				l.conn.Close(o.Why)
				delete(a.links, o.Player)
			}
		case room.Renamed:
			if l := a.links[o.From]; l != nil {
				delete(a.links, o.From)
				a.links[o.To] = l
			}
		case room.Fetch:
			settings := a.room.Settings()
			a.work.Go(func() {
				listed := a.lists.Fetch(a.ctx, a.source, a.limits.Load(), o, settings)
				a.post(func() { a.step(listed, asker{}) })
			})
		case room.Plan:
			a.plan = &o
		case room.Announce:
			a.announce(o.Announcement)
		case room.Answer:
			answer = o.Document
		}
	}
	if result.who.tell != nil {
		result.who.tell(answer, result.err)
	}
}

// query has something asked of the room, and waits for what comes of it. While the room
// waits for its store it is refused.
func (a *actor) query(in room.Input, by *conn.Conn) (answer any, err error) {
	type result struct {
		answer any
		err    error
	}
	told := make(chan result, 1)
	act := func() {
		a.step(in, asker{by, func(answer any, err error) {
			a.publish()
			told <- result{answer, err}
		}})
	}
	for posted := false; !posted; {
		view, changed := a.views.get()
		if view.Snapshot.Room.Held != "" {
			return nil, busy()
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
	case r := <-told: // at the last moment
		return r.answer, r.err
	default:
		return nil, a.tooLate()
	}
}
