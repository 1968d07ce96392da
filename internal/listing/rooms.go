package listing

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
)

// Rooms fetches games' server lists for a host's rooms. A list that was fetched to test its source serves a round that
// starts soon after.
type Rooms struct {
	Sources
	Games game.Table
	// Public returns this network's public address, if known.
	Public func() netip.Addr
	// Warn tells the organiser what could not be fetched.
	Warn func(...error)

	// Once makes one of many hosts fetch a list for all, and returns the list and its time. If it is nil, each host
	// fetches its own.
	Once func(ctx context.Context, game string, fetch func(context.Context) (List, error)) (List, time.Time, error)

	// until ends fetches that go on when nobody waits any more. work counts them.
	until context.Context
	work  sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	newest map[string]fetched
	// flights are the running fetches, one a game. failed are recent failures.
	flights map[string]*flight
	failed  map[string]failure
	// tried is when each game's newest fetch ended.
	tried map[string]time.Time
}

// flight is a running fetch for any number of waiting rooms.
type flight struct {
	done chan struct{} // closed at its end
	list List
	err  error
}

// failure is why a list could not be fetched, and when.
type failure struct {
	err error
	at  time.Time
}

// fetched is a game's list, and when it was fetched.
type fetched struct {
	List
	hidden []lan.Server // those that only the local network reaches
	at     time.Time
}

const (
	// FreshFor is how long a list is as good as a new one.
	FreshFor = time.Minute
	// patience is how long a room with an old list waits for a new one. fetchTime bounds a fetch: several masters,
	// asked twice each.
	patience  = 10 * time.Second
	fetchTime = time.Minute
	// failureRest is how long a failed source is left alone.
	failureRest = 10 * time.Second
	// oldAfter is the age of a list at which people are told its age.
	oldAfter = 5 * time.Minute
)

// Begin makes fetches end with ctx. It returns a function that waits for them.
func (r *Rooms) Begin(ctx context.Context) (wait func()) {
	r.until = ctx
	return r.work.Wait
}

// Fetch gets a new list for a game.
func (r *Rooms) Fetch(ctx context.Context, g game.Game) (List, error) {
	listing, near, err := r.Game(ctx, g)
	if err != nil {
		return List{}, err
	}
	r.Warn(listing.Warnings...)
	hidden, public := splitByReach(near)
	list := List{With(listing.Servers, public), listing.Said}
	r.Say("%s", Describe(list.Servers, hidden, g))
	r.keep(g, fetched{list, hidden, time.Now()})
	return list, nil
}

// keep stores a list, unless a newer one is known.
func (r *Rooms) keep(g game.Game, f fetched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest == nil {
		r.newest = make(map[string]fetched)
	}
	if !f.at.Before(r.newest[g.ID].at) {
		r.newest[g.ID] = f
	}
}

// List returns the newest available list for a game. It fetches the list once for any number of
// rooms. A source that hangs delays a room with an old list for at most [patience], and other games
// not at all.
func (r *Rooms) List(ctx context.Context, id string) ([]discovery.Server, error) {
	g, err := r.Games.Find(id)
	if err != nil {
		return nil, err
	}
	old, isKnown, under := r.join(g)
	if under == nil {
		return old.Servers, nil
	}
	var enough <-chan time.Time
	if isKnown {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		enough = timer.C
	}
	err = errSlow
	select {
	case <-under.done:
		if err = under.err; err == nil {
			return under.list.Servers, nil
		}
	case <-enough:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if isKnown {
		r.Warn(hint.Say("list.older", "game", g.Name, "age", time.Since(old.at).Round(time.Minute), "why", err))
		return old.Servers, nil
	}
	return nil, forRoom(err)
}

var errSlow error = hint.Say("list.slow")

// join returns the known list for a game, and the running fetch for a newer one, which it starts if necessary. The
// fetch is nil if the known list is good enough.
func (r *Rooms) join(g game.Game) (old fetched, isKnown bool, under *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, isKnown = r.newest[g.ID]; isKnown && (time.Since(old.at) < FreshFor || r.HasStdin()) {
		return old, true, nil
	}
	if under = r.flights[g.ID]; under != nil {
		return old, isKnown, under
	}
	under = &flight{done: make(chan struct{})}
	if f := r.failed[g.ID]; time.Since(f.at) < failureRest {
		under.err = f.err
		close(under.done)
		return old, isKnown, under
	}
	if r.flights == nil {
		r.flights, r.failed, r.tried = map[string]*flight{}, map[string]failure{}, map[string]time.Time{}
	}
	r.flights[g.ID] = under
	r.work.Go(func() { r.fly(g, under) })
	return old, isKnown, under
}

func (r *Rooms) fly(g game.Game, under *flight) {
	until := r.until
	if until == nil {
		until = context.Background()
	}
	ctx, cancel := context.WithTimeout(until, fetchTime)
	defer cancel()
	if r.Once == nil {
		under.list, under.err = r.Fetch(ctx, g)
	} else {
		var at time.Time
		under.list, at, under.err = r.Once(ctx, g.ID, func(ctx context.Context) (List, error) { return r.Fetch(ctx, g) })
		if len(under.list.Servers) > 0 { // an older list came with the error, because no newer one is available
			r.keep(g, fetched{List: under.list, at: at})
			under.err = nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.flights, g.ID)
	r.tried[g.ID] = time.Now()
	if delete(r.failed, g.ID); under.err != nil {
		r.failed[g.ID] = failure{under.err, time.Now()}
	}
	close(under.done)
}

// Age says how old the newest list for a game is, if people should know.
func (r *Rooms) Age(id string) (says sentence.Sentence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, is := r.newest[id]
	if age := time.Since(known.at); is && age >= oldAfter && !r.HasStdin() {
		return sentence.Of("list.old", "age", age.Round(time.Minute))
	}
	return says
}

// watchedFor is how long after a fetch operators see what became of it. A list that no room asks for
// may be old.
const watchedFor = time.Hour

// Watch returns how old the newest list is of each game that was fetched lately, and for how many of
// the games that failed.
func (r *Rooms) Watch() (ages map[string]time.Duration, failing int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ages = map[string]time.Duration{}
	for id, at := range r.tried {
		if time.Since(at) >= watchedFor {
			continue
		}
		if known, is := r.newest[id]; is {
			ages[id] = time.Since(known.at)
		}
		if _, is := r.failed[id]; is {
			failing++
		}
	}
	return ages, failing
}

// Said returns the facts in the newest list for a game.
func (r *Rooms) Said(id string) discovery.Said {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest[id].Said
}

// Local returns the servers of the local network in the newest list for a game.
func (r *Rooms) Local(id string) []room.LocalServer {
	r.mu.Lock()
	defer r.mu.Unlock()
	newest := r.newest[id]
	return local(newest.hidden, newest.Servers, r.Public())
}

// local returns the hidden servers nearby as a room knows them. If the list has a port at this network's public
// address, and only one server here has that port, they are the same server: the router leads there.
func local(near []lan.Server, listed []discovery.Server, public netip.Addr) []room.LocalServer {
	var list []room.LocalServer
	for _, s := range near {
		n := room.LocalServer{Addr: s.Addr, Networks: s.Networks, Info: s.Info}
		outside := netip.AddrPortFrom(public, s.Addr.Port())
		rivals := slices.ContainsFunc(near, func(o lan.Server) bool { return o.Addr != s.Addr && o.Addr.Port() == s.Addr.Port() })
		if !rivals && slices.ContainsFunc(listed, func(l discovery.Server) bool { return l.Addr == outside }) {
			n.Public = outside
		}
		list = append(list, n)
	}
	return list
}

// Choices returns the games that an organiser may switch to: those whose servers come from this host's sources.
func (r *Rooms) Choices() []wire.Game {
	user, _ := r.user() // the error is reported when a list is fetched
	var choices []wire.Game
	for _, g := range r.Games.All() {
		if _, err := g.Sources(user, r.Masters...); err == nil || len(r.Files) > 0 {
			choices = append(choices, g.Choice())
		}
	}
	return choices
}
