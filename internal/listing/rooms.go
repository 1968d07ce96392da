package listing

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/game"
)

// Rooms fetches games' server lists for a host's rooms. What was fetched to see
// that it can be had serves a round that starts soon after.
type Rooms struct {
	Sources
	Games game.Table
	// Public is this network's public address, as far as it is known.
	Public func() netip.Addr
	// Warn shows the organiser what could not be fetched.
	Warn func(...error)

	// Once has one of many hosts fetch a list for all, and returns it with the time at
	// which it was had; nil has each host fetch its own.
	Once func(ctx context.Context, game string, fetch func(context.Context) (List, error)) (List, time.Time, error)

	// until ends what fetches go on when nobody waits any more, and work are those.
	until context.Context
	work  sync.WaitGroup

	mu     sync.Mutex // guards following
	newest map[string]fetched
	// flights are the fetches under way, one a game, and failed those that came to
	// nothing lately.
	flights map[string]*flight
	failed  map[string]failure
}

// flight is a fetch under way that any number of rooms wait for.
type flight struct {
	done chan struct{} // closed at its end
	list List
	err  error
}

// failure is why a list could not be had, and when.
type failure struct {
	err error
	at  time.Time
}

// fetched is a game's list, and when it was had.
type fetched struct {
	List
	hidden []lan.Server // that only the local network reaches
	at     time.Time
}

const (
	// FreshFor is how long a list is as good as a new one.
	FreshFor = time.Minute
	// patience is how long a room waits for a new list if there is an old one, and
	// fetchTime how long a fetch goes on: several masters, asked twice each.
	patience  = 10 * time.Second
	fetchTime = time.Minute
	// failureRest is how long a source that gave nothing is left alone.
	failureRest = 10 * time.Second
	// oldAfter is the age from which people are told of it.
	oldAfter = 5 * time.Minute
)

// Begin has fetches end with ctx. Wait, which it returns, waits for them.
func (r *Rooms) Begin(ctx context.Context) (wait func()) {
	r.until = ctx
	return r.work.Wait
}

// Fetch gets a new list of a game.
func (r *Rooms) Fetch(ctx context.Context, g game.Game) (List, error) {
	listing, near, err := r.Game(ctx, g)
	if err != nil {
		return List{}, err
	}
	r.Warn(listing.Warnings...)
	hidden, public := apart(near)
	list := List{With(listing.Servers, public), listing.Said}
	r.Say("%s", Describe(list.Servers, hidden, g))
	r.keep(g, fetched{list, hidden, time.Now()})
	return list, nil
}

// keep takes over a list, unless a newer one is known.
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

// List is the newest list to be had of a game. However many rooms want one, it is
// fetched once, and a source that hangs holds nobody up for longer than [patience] who
// can have an old list, and no other game.
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
		r.Warn(fmt.Errorf("taking the %s list of %v ago: %w", g.Name, time.Since(old.at).Round(time.Minute), err))
		return old.Servers, nil
	}
	return nil, told(err)
}

var errSlow = errors.New("the new one is slow to come")

// join is the list that is known of a game, and the fetch under way for a newer one,
// which it starts if need be; nil if the known one is good enough.
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
		r.flights, r.failed = map[string]*flight{}, map[string]failure{}
	}
	r.flights[g.ID] = under
	r.work.Go(func() { r.fly(g, under) })
	return old, isKnown, under
}

// fly fetches a list for all who wait for it.
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
		if len(under.list.Servers) > 0 { // an older one beside the error, if there is none that is newer
			r.keep(g, fetched{List: under.list, at: at})
			under.err = nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.flights, g.ID)
	if delete(r.failed, g.ID); under.err != nil {
		r.failed[g.ID] = failure{under.err, time.Now()}
	}
	close(under.done)
}

// Age says of the newest list of a game how old it is, if people should know.
func (r *Rooms) Age(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, is := r.newest[id]
	if age := time.Since(known.at); is && age >= oldAfter && !r.HasStdin() {
		return fmt.Sprintf("the list of servers is %v old: no newer one is to be had now", age.Round(time.Minute))
	}
	return ""
}

// Said is what the newest list of a game says of its servers.
func (r *Rooms) Said(id string) discovery.Said {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest[id].Said
}

// Local are the servers of the local network in the newest list of a game.
func (r *Rooms) Local(id string) []room.LocalServer {
	r.mu.Lock()
	defer r.mu.Unlock()
	newest := r.newest[id]
	return local(newest.hidden, newest.Servers, r.Public())
}

// neighbours are the hidden servers around as a room knows them. The one server here of
// a port that the list has at this network's public address is that very server:
// the router leads there.
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

// Choices are the games that an organiser may switch to: those whose servers come
// from where this host gets its lists.
func (r *Rooms) Choices() []wire.Game {
	user, _ := r.user() // an error is told when a list is fetched
	var choices []wire.Game
	for _, g := range r.Games.All() {
		if _, err := g.Sources(user, r.Masters...); err == nil || len(r.Files) > 0 {
			choices = append(choices, wire.Game{ID: g.ID, Name: g.Name, Silent: g.Silent})
		}
	}
	return choices
}
