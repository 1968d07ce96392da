package peer

import (
	"context"
	"sync"

	"muster/discovery"
)

// scanner lends its prober, and so its sockets and their place in a home
// router's table, to one task at a time.
type scanner struct {
	newProber func(game string) (Prober, error)

	mu     sync.Mutex // held while a task runs; guards following
	game   string
	prober Prober
}

// task is a plan over a list.
type task struct {
	game    string
	servers []discovery.Server
	plan    discovery.Plan
	seen    func(discovery.Result)
}

func newScanner(newProber func(string) (Prober, error)) *scanner {
	return &scanner{newProber: newProber}
}

// run executes a task once the one before has ended.
func (s *scanner) run(ctx context.Context, t task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.tune(t.game); err != nil {
		return err
	}
	return s.prober.Run(ctx, t.servers, t.plan, t.seen)
}

// tune makes the prober speak the game's protocol.
func (s *scanner) tune(game string) error {
	if s.prober != nil && s.game == game {
		return nil
	}
	if s.prober != nil {
		if err := s.prober.Close(); err != nil {
			return err
		}
		s.prober = nil
	}
	prober, err := s.newProber(game)
	if err != nil {
		return err
	}
	s.prober, s.game = prober, game
	return nil
}

func (s *scanner) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prober == nil {
		return nil
	}
	return s.prober.Close()
}
