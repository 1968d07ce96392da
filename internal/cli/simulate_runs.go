package cli

import (
	"context"
	"runtime"
	"sync"

	"muster/discovery"
	"muster/internal/sim"
)

// rounds are how many worlds there are, and how many runs in each.
func (s *simulate) rounds() (worlds, runs int) {
	if s.worlds.varies() {
		return s.runs, 1
	}
	return 1, s.runs
}

// alone simulates one player at each place, and gives the trials of the first
// world too.
func (s *simulate) alone(ctx context.Context, scene scene) (rows []sim.Simulation, first []trial, err error) {
	worlds, runs := s.rounds()
	sums := &sums{}
	var progress *counted
	for world := range uint64(worlds) {
		vantages, err := scene(s.options.Seed + world)
		if err != nil {
			return nil, nil, err
		}
		trials := s.trials(vantages, s.options.Seed+world)
		if world == 0 {
			first, progress = trials, &counted{progress: s.progress("simulating", worlds*len(trials)*runs)}
			defer progress.progress.finish()
		}
		all, err := s.perform(ctx, trials, runs, progress)
		if err != nil {
			return nil, nil, err
		}
		for i, t := range trials {
			sums.add(t, all[i])
		}
	}
	return sums.rows(), first, nil
}

// sums gather the runs at each place, in whichever world.
type sums struct {
	order []sumKey
	runs  map[sumKey]sim.Runs
}

type sumKey struct {
	place    int
	start    sim.Start
	strategy discovery.Strategy
	stop     discovery.AutoStop
}

func (s *sums) add(t trial, runs sim.Runs) {
	key := sumKey{t.place, t.start, t.strategy, t.options.AutoStop}
	if s.runs == nil {
		s.runs = make(map[sumKey]sim.Runs)
	}
	if before, ok := s.runs[key]; ok {
		runs = before.And(runs)
	} else {
		s.order = append(s.order, key)
	}
	s.runs[key] = runs
}

func (s *sums) rows() []sim.Simulation {
	var rows []sim.Simulation
	for _, key := range s.order {
		rows = append(rows, s.runs[key].Simulation())
	}
	return rows
}

// trial is one strategy at one place.
type trial struct {
	vantage  *sim.Vantage
	place    int       // places of the same number count as one
	start    sim.Start // none: not a second visit
	strategy discovery.Strategy
	options  discovery.PlanOptions
}

func (s *simulate) trials(vantages []*sim.Vantage, seed uint64) []trial {
	var trials []trial
	for place, v := range vantages {
		if s.worlds.drawn() {
			place = 0
		}
		for _, strategy := range s.strategies {
			for _, stop := range stopsOf(strategy, s.stops) {
				options := s.options
				options.AutoStop, options.Seed = stop, seed
				for _, start := range s.starts() {
					trials = append(trials, trial{v, place, start, strategy, options})
				}
			}
		}
	}
	return trials
}

// starts are how visits begin.
func (s *simulate) starts() []sim.Start {
	if s.warm {
		return []sim.Start{sim.Cold, sim.Warm}
	}
	return []sim.Start{""}
}

// run is one of a trial's runs, by number.
func (t trial) run(o sim.ReplayOptions, number uint64) (sim.Runs, error) {
	options := t.options
	options.Seed += number
	if t.start == "" {
		return t.vantage.Runs(t.strategy, options, o, 1)
	}
	return t.vantage.SecondVisits(t.start, t.strategy, options, o, 1)
}

// stopsOf are the auto-stops to try with a strategy. Conventional probing has
// none; others have one of their own if nothing is said.
func stopsOf(strategy discovery.Strategy, asked []discovery.AutoStop) []discovery.AutoStop {
	switch {
	case strategy == discovery.Conventional:
		return []discovery.AutoStop{discovery.StopOff}
	case len(asked) > 0:
		return asked
	case strategy == discovery.Adaptive:
		return []discovery.AutoStop{discovery.StopConfident}
	}
	return []discovery.AutoStop{discovery.StopPercentile}
}

// perform runs each trial so many times, several runs at a time.
func (s *simulate) perform(ctx context.Context, trials []trial, runs int, progress *counted) ([]sim.Runs, error) {
	single := make([]sim.Runs, len(trials)*runs)
	err := inParallel(ctx, len(single), func(i int) (err error) {
		single[i], err = trials[i/runs].run(sim.ReplayOptions{Rate: s.rate}, uint64(i%runs))
		progress.one()
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]sim.Runs, len(trials))
	for i := range all {
		of := single[i*runs : (i+1)*runs]
		all[i] = of[0].And(of[1:]...)
	}
	return all, nil
}

// inParallel does so many things, as many at a time as there are processors,
// until one of them fails.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	next := make(chan int)
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		work.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					fail(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	work.Wait()
	return context.Cause(ctx)
}

// counted is progress that several goroutines make.
type counted struct {
	mu       sync.Mutex // guards following
	progress *progress
	done     int
}

func (c *counted) one() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.progress.set(c.done, "")
}
