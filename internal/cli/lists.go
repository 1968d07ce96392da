package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/internal/game"
)

// lists fetches the game's server list for the rooms. What was fetched to see
// that it can be had serves a round that starts soon after.
type lists struct {
	*hosting
	game game.Game

	mu      sync.Mutex // guards following
	servers []discovery.Server
	at      time.Time
}

// freshFor is how long a list is as good as a new one.
const freshFor = time.Minute

func (l *lists) fetch(ctx context.Context) ([]discovery.Server, error) {
	listing, err := l.sources.list(ctx, l.game, l.streams.In)
	if err != nil {
		return nil, err
	}
	l.screen.warn(listing.Warnings)
	l.screen.say("%s", describe(listing.Servers, l.game))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers, l.at = listing.Servers, time.Now()
	return l.servers, nil
}

// forRoom is the newest list to be had.
func (l *lists) forRoom(ctx context.Context, _ string) ([]discovery.Server, error) {
	l.mu.Lock()
	servers, age := l.servers, time.Since(l.at)
	l.mu.Unlock()
	if age < freshFor || slices.Contains(l.sources.files, "-") {
		return servers, nil
	}
	fetched, err := l.fetch(ctx)
	if err != nil {
		l.screen.warn([]error{fmt.Errorf("taking the list of %v ago: %w", age.Round(time.Minute), err)})
		return servers, nil
	}
	return fetched, nil
}

// eof is a standard input on which nothing is typed.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
