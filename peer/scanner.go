package peer

import (
	"context"
	"sync"
	"time"

	"muster/discovery"
)

// scanner lends its prober, and so its sockets and their place in a home
// router's table, to one task at a time.
type scanner struct {
	newProber func(game string, rests func(time.Duration)) (Prober, error)
	// rests is told for how long the prober asks nobody; nil is told nothing.
	rests func(time.Duration)
	// exposure counts whom the round has asked; nil counts nobody.
	exposure *discovery.Exposure
	// isPlaces: what is asked are places where a server could be.
	isPlaces bool

	mu     sync.Mutex // held while a task runs; guards following
	game   string
	prober Prober
}

// run executes a plan once the one before has ended, as one of so many players who
// ask these servers.
func (s *scanner) run(ctx context.Context, among int, game string, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.prober != nil && s.game != game {
		if err := s.close(); err != nil {
			return err
		}
	}
	if s.prober == nil {
		prober, err := s.newProber(game, s.rests)
		if err != nil {
			return err
		}
		s.prober, s.game = prober, game
	}
	s.prober.Share(among)
	switch {
	case s.exposure == nil:
	case s.isPlaces:
		plan = s.exposure.WatchPlaces(plan, servers, seen)
	default:
		plan = s.exposure.Watch(plan, servers, seen)
	}
	return s.prober.Run(ctx, servers, plan, seen)
}

// close is for who holds mu, or for when all tasks have ended.
func (s *scanner) close() error {
	prober := s.prober
	if s.prober = nil; prober == nil {
		return nil
	}
	return prober.Close()
}
