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

	// turn is full while a task runs, and guards the fields below. A lock would not do: whoever waits for one cannot
	// give up.
	turn   chan struct{}
	game   string
	prober Prober
}

// run waits for the previous run to end, then runs o.
func (s *scanner) run(ctx context.Context, o player.Run, seen func(discovery.Result)) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
	}
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

// close needs the turn, or that all tasks have ended.
func (s *scanner) close() error {
	prober := s.prober
	if s.prober = nil; prober == nil {
		return nil
	}
	return prober.Close()
}
