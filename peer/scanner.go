package peer

import (
	"context"
	"sync"
	"time"

	"muster/discovery"
	"muster/peer/player"
)

// scanner lends its prober, and so its sockets and their place in a home
// router's table, to one task at a time.
type scanner struct {
	newProber func(game string, rests func(time.Duration)) (Prober, error)
	// rests is told for how long the prober asks nobody; nil is told nothing.
	rests func(time.Duration)

	mu     sync.Mutex // held while a task runs; guards following
	game   string
	prober Prober
}

// run executes a run once the one before has ended.
func (s *scanner) run(ctx context.Context, o player.Run, seen func(discovery.Result)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.prober != nil && s.game != o.Game {
		if err := s.close(); err != nil {
			return err
		}
	}
	if s.prober == nil {
		prober, err := s.newProber(o.Game, s.rests)
		if err != nil {
			return err
		}
		s.prober, s.game = prober, o.Game
	}
	s.prober.Share(o.Among)
	return s.prober.Run(ctx, o.Servers, o.Watched(seen), seen)
}

// close is for who holds mu, or for when all tasks have ended.
func (s *scanner) close() error {
	prober := s.prober
	if s.prober = nil; prober == nil {
		return nil
	}
	return prober.Close()
}
