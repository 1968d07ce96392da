package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/lan"
	"muster/host"
	"muster/internal/game"
)

// lists fetches games' server lists for the rooms. What was fetched to see that
// it can be had serves a round that starts soon after.
type lists struct {
	*hosting
	games game.Table

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

func (l *lists) fetch(ctx context.Context, g game.Game) ([]discovery.Server, error) {
	listing, near, err := l.sources.all(ctx, l.screen, g)
	if err != nil {
		return nil, err
	}
	l.screen.warn(listing.Warnings)
	hidden, public := apart(near)
	servers := withThose(listing.Servers, public)
	l.screen.say("%s", describe(servers, hidden, g))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newest[g.ID] = fetched{servers, hidden, time.Now()}
	return servers, nil
}

// forRoom is the newest list to be had of a game.
func (l *lists) forRoom(ctx context.Context, id string) ([]discovery.Server, error) {
	g, err := l.games.Find(id)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	old, known := l.newest[g.ID]
	l.mu.Unlock()
	age := time.Since(old.at)
	if known && (age < freshFor || slices.Contains(l.sources.files, standardInput)) {
		return old.servers, nil
	}
	servers, err := l.fetch(ctx, g)
	if err != nil && known {
		l.screen.warn([]error{fmt.Errorf("taking the list of %v ago: %w", age.Round(time.Minute), err)})
		return old.servers, nil
	}
	return servers, err
}

// neighbours are the servers of the local network in the newest list of a game.
func (l *lists) neighbours(id string) []host.Neighbour {
	l.mu.Lock()
	defer l.mu.Unlock()
	newest := l.newest[id]
	return neighbours(newest.hidden, newest.servers, l.publicAddress())
}

// choices are the games that an organiser may switch to: those whose servers
// come from where this host gets its lists.
func (l *lists) choices() []host.Choice {
	var choices []host.Choice
	for _, g := range l.games.All() {
		if _, err := g.Queries(l.sources.masters...); err == nil || len(l.sources.files) > 0 {
			choices = append(choices, host.Choice{ID: g.ID, Name: g.Name})
		}
	}
	return choices
}

// eof is a standard input on which nothing is typed.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
