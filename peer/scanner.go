package peer

import (
	"context"
	"time"

	"muster/discovery"
	"muster/peer/player"
)

// scanner lends its prober to one task at a time, and with it the sockets and their entries in a home router's table.
type scanner struct {
	newProber func(game string, rests func(time.Duration)) (Prober, error)
	// rests learns how long the prober pauses; nil ignores it.
	rests func(time.Duration)

	// last is closed once the newest task no longer needs the prober, nil before the first. Only the session's
	// goroutine has it.
	last chan struct{}
	// game and prober belong to the task whose turn it is.
	game   string
	prober Prober
}

// queue gives a task its place after those before it, whichever goroutine is faster, and returns how to run it.
func (s *scanner) queue() (run func(ctx context.Context, o player.Run, seen func(discovery.Result)) error) {
	before, done := s.last, make(chan struct{})
	s.last = done
	return func(ctx context.Context, o player.Run, seen func(discovery.Result)) error {
		if before != nil {
			select {
			case <-before:
			case <-ctx.Done():
				go func() { <-before; close(done) }() // the others keep their places
				return ctx.Err()
			}
		}
		defer close(done)
		return s.run(ctx, o, seen)
	}
}

func (s *scanner) run(ctx context.Context, o player.Run, seen func(discovery.Result)) error {
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
	s.prober.Lead(o.MinReach)
	return s.prober.Run(ctx, o.Servers, o.Watched(seen), seen)
}

// close must be called by the task whose turn it is, or when all have ended.
func (s *scanner) close() error {
	prober := s.prober
	if s.prober = nil; prober == nil {
		return nil
	}
	return prober.Close()
}
