package sim

import (
	"cmp"
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"muster/discovery"
)

// Scene makes the views to study: the same world for the same seed.
type Scene func(seed uint64) ([]*Vantage, error)

// Study compares strategies of discovery at every place of a scene.
type Study struct {
	Strategies []discovery.Strategy
	// Stops are the auto-stops to try with each. Without any, it is the strategy's own.
	Stops []discovery.AutoStop
	Plan  discovery.PlanOptions
	Rate  float64
	Shift Shift
	// Warm also simulates second visits, without and with the knowledge of the first.
	Warm bool
	// Each of Worlds worlds is seen Runs times.
	Worlds, Runs int
	// OnePlace says that all places count as one.
	OnePlace bool
}

// Case is one strategy at one place.
type Case struct {
	Vantage  *Vantage
	Strategy discovery.Strategy
	Plan     discovery.PlanOptions
	place    int
	start    Start // none if not a second visit
}

// Run runs the study until ctx ends, several runs at a time. After each run it tells done how many
// there will be. The cases come from the first world.
func (s Study) Run(ctx context.Context, scene Scene, done func(of int)) (rows []Simulation, first []Case, err error) {
	type key struct {
		place    int
		start    Start
		strategy discovery.Strategy
		stop     discovery.AutoStop
	}
	var order []key
	sums := make(map[key]*runs)
	for world := range uint64(s.Worlds) {
		vantages, err := scene(s.Plan.Seed + world)
		if err != nil {
			return nil, nil, err
		}
		cases := s.cases(vantages, s.Plan.Seed+world)
		if world == 0 {
			first = cases
		}
		single := make([]Run, len(cases)*s.Runs)
		err = Parallel(ctx, len(single), func(i int) (err error) {
			defer done(s.Worlds * len(single))
			single[i], err = cases[i/s.Runs].run(ReplayOptions{Rate: s.Rate, Shift: s.Shift}, uint64(i%s.Runs))
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		for i, c := range cases {
			k := key{c.place, c.start, c.Strategy, c.Plan.AutoStop}
			if sums[k] == nil {
				order = append(order, k)
				sums[k] = &runs{Case: c}
			}
			sums[k].all = append(sums[k].all, single[i*s.Runs:(i+1)*s.Runs]...)
		}
	}
	for _, k := range order {
		rows = append(rows, sums[k].sum())
	}
	return rows, first, nil
}

func (s Study) cases(vantages []*Vantage, seed uint64) (cases []Case) {
	starts := []Start{""}
	if s.Warm {
		starts = []Start{Cold, Warm}
	}
	for place, v := range vantages {
		if s.OnePlace {
			place = 0
		}
		for _, strategy := range s.Strategies {
			for _, stop := range stopsOf(strategy, s.Stops) {
				plan := s.Plan
				plan.AutoStop, plan.Seed = stop, seed
				for _, start := range starts {
					cases = append(cases, Case{v, strategy, plan, place, start})
				}
			}
		}
	}
	return cases
}

// stopsOf returns the auto-stops to try with a strategy. Conventional probing has none.
func stopsOf(strategy discovery.Strategy, asked []discovery.AutoStop) []discovery.AutoStop {
	if strategy == discovery.Conventional || len(asked) == 0 {
		return []discovery.AutoStop{discovery.StopDefault.Of(strategy)}
	}
	return asked
}

// run runs one of a case's runs, by number.
func (c Case) run(o ReplayOptions, number uint64) (Run, error) {
	plan, v := c.Plan, c.Vantage
	plan.Seed += number
	if c.start != "" {
		first, second := v.Visits(plan.Seed)
		if v = second; c.start == Warm {
			var err error
			if plan.Priors, err = first.Leave(c.Strategy, plan, o); err != nil {
				return Run{}, err
			}
		}
	}
	_, r, err := v.Run(c.Strategy, plan, o)
	return r, err
}

// Parallel calls do for so many indexes, as many at a time as there are processors, until one of
// them fails.
func Parallel(ctx context.Context, n int, do func(i int) error) error {
	work, going := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && going.Err() == nil; i++ {
		work.Go(func() error { return do(i) })
	}
	return cmp.Or(work.Wait(), context.Cause(ctx))
}
