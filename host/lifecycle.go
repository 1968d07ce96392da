package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/page"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/store"
	"muster/host/wire"
)

// lifecycle opens rooms, restores them from the store, and ends them.
type lifecycle struct {
	*surroundings
	*registry
	// ctx ends with the host's rooms, and running waits for them.
	ctx     context.Context
	running sync.WaitGroup
	// hosts returns the names of all hosts of the service.
	hosts func() []string
}

const (
	// claimsAtOnce is how many rooms are claimed or handed over at the same time; a store answers
	// them together.
	claimsAtOnce = 64
	// storeWait is how long a store may take to answer. Binding steps wait that long.
	storeWait = 10 * time.Second
)

// adopt claims the rooms that the store offers this host, until ctx ends.
func (l *lifecycle) adopt(ctx context.Context) {
	var claims sync.WaitGroup
	defer claims.Wait()
	atOnce := make(chan struct{}, claimsAtOnce)
	for code := range l.keeper.store.Adopt(ctx) {
		if l.isUnreadable(code) {
			continue
		}
		atOnce <- struct{}{}
		claims.Go(func() {
			defer func() { <-atOnce }()
			// The store offers a room once, perhaps as soon as a claim fails, or while this host's goroutine of it
			// does not know yet that the room was lost.
			l.awaitEnd(l.ctx, code)
			l.claim(code)
		})
	}
}

// claim makes a saved room this host's and starts it. If the room is over, claim forgets it. It
// does nothing while another goroutine claims the same room. An unreadable room is reported and
// left for a host that can read it.
func (l *lifecycle) claim(code string) {
	done := l.beginClaim(code)
	if done == nil {
		return
	}
	defer done()
	ctx, cancel := context.WithTimeout(l.ctx, storeWait)
	defer cancel()
	before := l.keeper.store.Find(code)
	claim, data, err := l.keeper.store.Claim(ctx, code)
	switch {
	case errors.Is(err, store.ErrElsewhere), errors.Is(err, store.ErrOver): // another host was faster
		return
	case isAway(err): // the store logs its outages once for all rooms
		l.log.Debug("room not restored", "error", err)
		return
	case err != nil:
		l.log.Error("room not restored", "error", err)
		return
	}
	restored, err := room.RestoreKept(data, l.lists.Restored, room.Kept{
		List: func(hash string) (*topology.Tree, error) { return l.lists.Kept(ctx, hash) },
		Own:  func(hash string) ([]netip.AddrPort, error) { return l.lists.OwnKept(ctx, hash) },
	})
	switch {
	case isAway(err):
		l.log.Debug("room not restored", "error", err)
		claim.Release(ctx) // another host may need it next
	case err != nil:
		l.log.Error("room not restored", "error", err)
		l.leaveAlone(code, err)
		claim.Release(ctx)
	case l.limits.Load().IsOver(restored, l.clock.Now()):
		if err := claim.End(ctx); err != nil { // the next start retries it
			l.keeper.logUndeleted("", err)
		}
	default:
		a := l.start(restored, room.Resume{}, claim, nil, netip.Addr{})
		if a == nil {
			claim.Release(l.keeper.saves)
			return
		}
		if by := l.keeper.store.Find(code).Host; before.Host != "" && before.Host != by {
			l.metrics.TakenOver(before)
			a.log.Info("room taken over", "from", before.Host, "by", by, "epoch", claim.Epoch())
		}
	}
}

// open opens a room for a network, and returns its code and the organiser's secret.
func (l *lifecycle) open(from netip.Addr, settings wire.Settings) (code, secret string, err error) {
	ctx, cancel := context.WithTimeout(l.ctx, storeWait)
	defer cancel()
	own := l.lists.KeepOwn(ctx, settings.Servers)
	for {
		keys := room.Keys{Code: l.newCode(), Link: access.NewLinkKey(), Secret: access.NewSecret()}
		if l.keeper.store.Find(keys.Code).State != store.Unknown {
			continue
		}
		opened := room.New(keys, settings, l.clock.Now())
		if own != "" {
			opened.Step(room.OwnKept{Kept: own}, l.moment()) // this has no outputs
		}
		data, err := opened.Save()
		if err != nil {
			return "", "", err
		}
		claim, err := l.keeper.store.Create(ctx, keys.Code, access.PublicID(keys.Link), data)
		switch {
		case errors.Is(err, store.ErrTaken):
			continue
		case claim == nil:
			return "", "", fmt.Errorf("host: no room opened: %w", err)
		}
		if l.start(opened, room.Tick{}, claim, err, from) == nil {
			return "", "", errors.Join(moved(), claim.End(l.keeper.saves))
		}
		if err != nil && l.keeper.mustKeep {
			l.find(keys.Code).close() // no one has its code yet
			return "", "", fmt.Errorf("host: no room opened: %w", err)
		}
		return keys.Code, keys.Secret, nil
	}
}

// newCode draws a room's code.
func (l *lifecycle) newCode() string {
	rooms, p := l.count(), l.limits.Load()
	switch {
	case p == nil:
		return access.NewCode(rooms)
	default:
		rooms *= max(1, len(l.hosts())) // each of them has about as many
	}
	return access.NewPublicCode(rooms)
}

// start gives a room its goroutine, which first applies an input, before anyone can enter. The
// store has the room in this state, or could not keep it yet. start returns nil if the host is
// ending.
func (l *lifecycle) start(r *room.Room, first room.Input, claim store.Claim, storeTrouble error, opener netip.Addr) *actor {
	keys, shows := r.Keys(), r.View()
	a := &actor{
		surroundings: l.surroundings, code: keys.Code, opener: opener, keys: keys, claim: claim, open: r.Settings().Open,
		log:     l.log.With("room", access.PublicID(keys.Link)),
		whatIfs: access.NewPace(whatIfsAtOnce, whatIfEvery), supplies: access.NewPace(suppliesAtOnce, supplyEvery),
		held: newBoard(sentence.Sentence{}), views: newBoard(&page.View{
			Snapshot: shows.Snapshot,
			Badges:   shows.Badges,
		}), inbox: make(chan func()), done: make(chan struct{}), gone: make(chan struct{}), room: r, links: map[people.ID]*link{},
	}
	a.ctx, a.end = context.WithCancelCause(l.ctx)
	a.shown = -1
	a.takesCode.Store(r.TakesCode())
	a.saving = saving{revision: r.Revision(), savedAt: l.clock.Now()}
	a.written(storeTrouble)
	if !l.add(a, func() { l.keeper.unhanded.Add(1); l.running.Go(func() { a.run(first); l.ended(a) }) }) {
		return nil
	}
	l.metrics.Rooms.Inc()
	return a
}

// ended removes a room whose goroutine has ended. If the room is over, the store keeps only its
// tombstone. If the room panicked, it restarts once from its last save.
func (l *lifecycle) ended(a *actor) {
	isOver := errors.Is(context.Cause(a.ctx), errOver)
	a.over.Store(isOver)
	for isOver {
		ctx, cancel := context.WithTimeout(l.keeper.saves, storeWait)
		err := a.claim.End(ctx)
		cancel()
		l.forget(a)
		if err == nil || errors.Is(err, store.ErrFenced) { // a fenced room is another host's to forget
			l.keeper.disk.noteSaved(a.code, l.clock.Now())
			return
		}
		l.keeper.logUndeleted(a.code, err)
		select {
		case <-l.clock.After(longestRest):
		case <-l.ctx.Done():
			return
		}
	}
	l.keeper.disk.noteSaved(a.code, l.clock.Now()) // it is another host's, or the next start saves it
	switch context.Cause(a.ctx) {
	case errFell:
	case errGiven:
		l.forget(a)
		for l.keeper.store.Find(a.code).State == store.Here && rest(l.ctx, time.Second) { // it could not be given away
			l.claim(a.code)
			if l.find(a.code) != nil {
				return
			}
		}
		return
	default:
		l.forget(a)
		return
	}
	if l.notePanic(a.code) {
		l.leaveAlone(a.code, errFell)
	}
	l.forget(a)
	a.claim.Release(l.keeper.saves)
	l.claim(a.code)
}

// forget removes a room from the host.
func (l *lifecycle) forget(a *actor) {
	if l.drop(a) {
		l.metrics.Rooms.Dec()
	}
}

// keys returns what admits people to a room; empty if there is no such room.
func (l *lifecycle) keys(code string) room.Keys {
	a := l.find(code)
	keys, _ := ask(a, func() room.Keys { return a.room.Keys() })
	return keys
}
