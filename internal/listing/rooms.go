package listing

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/lan"
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

	mu     sync.Mutex // guards following
	newest map[string]fetched
}

// fetched is a game's list, and when it was had.
type fetched struct {
	servers []discovery.Server
	hidden  []lan.Server // that only the local network reaches
	at      time.Time
}

// freshFor is how long a list is as good as a new one.
const freshFor = time.Minute

// Fetch gets a new list of a game.
func (r *Rooms) Fetch(ctx context.Context, g game.Game) ([]discovery.Server, error) {
	listing, near, err := r.Game(ctx, g)
	if err != nil {
		return nil, err
	}
	r.Warn(listing.Warnings...)
	hidden, public := apart(near)
	servers := With(listing.Servers, public)
	r.Say("%s", Describe(servers, hidden, g))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest == nil {
		r.newest = make(map[string]fetched)
	}
	r.newest[g.ID] = fetched{servers, hidden, time.Now()}
	return servers, nil
}

// List is the newest list to be had of a game.
func (r *Rooms) List(ctx context.Context, id string) ([]discovery.Server, error) {
	g, err := r.Games.Find(id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	old, known := r.newest[g.ID]
	r.mu.Unlock()
	age := time.Since(old.at)
	if known && (age < freshFor || r.HasStdin()) {
		return old.servers, nil
	}
	servers, err := r.Fetch(ctx, g)
	if err != nil && known {
		r.Warn(fmt.Errorf("taking the list of %v ago: %w", age.Round(time.Minute), err))
		return old.servers, nil
	}
	return servers, err
}

// Local are the servers of the local network in the newest list of a game.
func (r *Rooms) Local(id string) []room.LocalServer {
	r.mu.Lock()
	defer r.mu.Unlock()
	newest := r.newest[id]
	return local(newest.hidden, newest.servers, r.Public())
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
	var choices []wire.Game
	for _, g := range r.Games.All() {
		if _, err := g.Queries(r.Masters...); err == nil || len(r.Files) > 0 {
			choices = append(choices, wire.Game{ID: g.ID, Name: g.Name})
		}
	}
	return choices
}
