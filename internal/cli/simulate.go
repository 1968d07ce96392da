package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/internal/sim"
)

// simulate is the command that replays measurements in virtual time.
type simulate struct {
	*program
	worlds     worlds
	strategies []discovery.Strategy
	stops      []discovery.AutoStop
	options    discovery.PlanOptions
	limits     []time.Duration
	rate       float64
	runs       int
	json       bool
	plot       string
	grouping   grouping
}

func newSimulate(p *program) *cobra.Command {
	s := &simulate{program: p}
	cmd := &cobra.Command{
		Use:   "simulate --data FILE.csv … | --world NAME | --matrix FILE",
		Short: "Replay measurements in virtual time",
		Long: `Simulate has the strategies of discovery work on recorded measurements, or on a
synthetic internet, and tells what each would have cost and found. A data file
is what one place sees: CSV with the columns addr,country,asn,rtt_ms, where an
empty rtt_ms is a silent server. muster discover --auto-stop off --format csv
writes such files.

Round trips that somebody measured between hosts, such as PlanetLab's, make
worlds too: a --matrix has a row a host, in milliseconds. The networks of a list,
--servers, stand on its hosts, in another way each run, and some of the hosts are
the players. Files may be gzipped.`,
		Example: `  muster simulate --world et2007 --place AU,JP
  muster simulate --data au.csv --data de.csv --strategy as,adaptive --plot picture.svg
  muster simulate --world css2007 --strategy adaptive --nearest 50 --json
  muster simulate --matrix rtt.txt.gz --servers list.csv --runs 30
  muster simulate --group --data ann.csv --data bob.csv --by minimax
  muster simulate --group --matrix rtt.txt --draw far:2 --runs 30`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	s.worlds.bind(cmd)
	bindWords(cmd, &s.strategies, "strategy", discovery.Strategies(), discovery.Strategies(), "orders of probing to compare")
	bindWords(cmd, &s.stops, "auto-stop", nil, discovery.AutoStops(), "when to stop (default: each strategy's)")
	flags.IntVar(&s.options.Nearest, "nearest", 0, "look for the `N` nearest servers instead of all near ones (adaptive)")
	flags.Var(durations{&s.limits}, "max-rtt", "the RTT over which a server is not playable (default 200ms); of a --group's several the strictest that can be kept holds")
	flags.IntVar(&s.options.Window, "window", 100, "replies, `N`, that auto-stop looks back on")
	flags.Float64Var(&s.rate, "rate", 140, "`N` probes a second")
	flags.IntVar(&s.runs, "runs", 20, "`N` runs, each with another seed")
	flags.Uint64Var(&s.options.Seed, "seed", 1, "the first run's `SEED`")
	flags.BoolVar(&s.json, "json", false, "print the figures as JSON")
	flags.StringVar(&s.plot, "plot", "", "draw RTT against probe number of the first runs, to `FILE.svg`")
	s.grouping.bind(cmd)
	return cmd
}

func (s *simulate) run(ctx context.Context) error {
	if len(s.limits) == 0 {
		s.limits = []time.Duration{200 * time.Millisecond}
	}
	s.options.MaxRTT = slices.Max(s.limits)
	if err := s.check(); err != nil {
		return err
	}
	scene, err := s.worlds.scene(s.grouping.on)
	if err != nil {
		return err
	}
	if s.grouping.on {
		return s.together(ctx, scene)
	}
	rows, trials, err := s.alone(ctx, scene)
	if err != nil {
		return err
	}
	if s.plot != "" {
		if err := s.draw(trials); err != nil {
			return err
		}
	}
	if s.json {
		return json.NewEncoder(s.streams.Out).Encode(map[string]any{"format": "muster.simulation/1", "rows": rows})
	}
	s.table(rows).write(s.streams.Out, width(s.streams.Out))
	return nil
}

// check refuses flags that make no sense.
func (s *simulate) check() error {
	if err := s.worlds.check(); err != nil {
		return err
	}
	switch {
	case s.runs < 1:
		return usagef("--runs %d: one run is the least", s.runs)
	case !(s.rate > 0):
		return usagef("--rate %v: at least one server has to be asked now and then", s.rate)
	case len(s.limits) > 1 && !s.grouping.on:
		return hinted(usagef("--max-rtt: several limits are for a --group"), "run it once for each")
	case s.grouping.on && s.plot != "":
		return usagef("--plot is not for a --group")
	}
	if err := s.grouping.check(); err != nil {
		return err
	}
	return (&planning{strategy: discovery.Adaptive, options: s.options}).check()
}

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
			first, progress = trials, &counted{progress: s.progress("simulating", worlds*len(trials))}
		}
		all, err := s.perform(ctx, trials, runs, progress)
		if err != nil {
			return nil, nil, err
		}
		for i, t := range trials {
			sums.add(t, all[i])
		}
	}
	progress.progress.finish()
	return sums.rows(), first, nil
}

// sums gather the runs of places of the same name, in whichever world.
type sums struct {
	order []sumKey
	runs  map[sumKey]sim.Runs
}

type sumKey struct {
	place    string
	strategy discovery.Strategy
	stop     discovery.AutoStop
}

func (s *sums) add(t trial, runs sim.Runs) {
	key := sumKey{t.vantage.Name, t.strategy, t.options.AutoStop}
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
	strategy discovery.Strategy
	options  discovery.PlanOptions
}

func (s *simulate) trials(vantages []*sim.Vantage, seed uint64) []trial {
	var trials []trial
	for _, v := range vantages {
		for _, strategy := range s.strategies {
			for _, stop := range stopsOf(strategy, s.stops) {
				options := s.options
				options.AutoStop, options.Seed = stop, seed
				trials = append(trials, trial{v, strategy, options})
			}
		}
	}
	return trials
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

// perform runs the trials, several at a time.
func (s *simulate) perform(ctx context.Context, trials []trial, runs int, progress *counted) ([]sim.Runs, error) {
	all := make([]sim.Runs, len(trials))
	return all, inParallel(ctx, len(trials), func(i int) (err error) {
		t := trials[i]
		all[i], err = t.vantage.Runs(t.strategy, t.options, sim.ReplayOptions{Rate: s.rate}, runs)
		progress.one()
		return err
	})
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

// table is laid out as the papers' are, with what they did not measure.
func (s *simulate) table(rows []sim.Simulation) *table {
	t := &table{columns: []column{
		{"PLACE", left}, {"STRATEGY", whole}, {"AUTO-STOP", whole}, {"LISTED", right}, {"CLUSTERS", right}, {"INITIAL", right},
		{"PROBES", right}, {"%", right}, {"SECONDS", right}, {"PLAYABLE", right}, {"RECALL %", right}, {"WORST %", right},
		{"10 AFTER", right}, {"100 AFTER", right}, {"EXCESS MS", right},
	}}
	for _, r := range rows {
		excess := ""
		if s.options.Nearest > 0 {
			excess = fmt.Sprintf("%.1f", r.ExcessMS)
		}
		t.add(strings.TrimSuffix(r.Data, ".csv"), string(r.Strategy), string(r.AutoStop), strconv.Itoa(r.Listed),
			strconv.Itoa(r.Clusters), strconv.Itoa(r.Calibration), strconv.Itoa(r.Probes), fmt.Sprintf("%.1f", r.Percent),
			fmt.Sprintf("%.1f", r.Seconds), strconv.Itoa(r.Playable), fmt.Sprintf("%.1f", 100*r.Recall),
			fmt.Sprintf("%.1f", 100*r.WorstRecall), strconv.Itoa(r.First10), strconv.Itoa(r.First100), excess)
	}
	return t
}
