package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	files      []string
	world      string
	places     []string
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
		Use:   "simulate --data FILE.csv … | --world NAME",
		Short: "Replay measurements in virtual time",
		Long: `Simulate has the strategies of discovery work on recorded measurements, or on a
synthetic internet, and tells what each would have cost and found. A data file
is what one place sees: CSV with the columns addr,country,asn,rtt_ms, where an
empty rtt_ms is a silent server. muster discover --auto-stop off --format csv
writes such files.`,
		Example: `  muster simulate --world et2007 --place AU,JP
  muster simulate --data au.csv --data de.csv --strategy as,adaptive --plot picture.svg
  muster simulate --world css2007 --strategy adaptive --nearest 50 --json
  muster simulate --group --data ann.csv --data bob.csv --by minimax`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&s.files, "data", nil, "measurements of one place, `FILE.csv` (repeatable)")
	bindWord(cmd, &s.world, "world", "", []string{"et2007", "css2007", "night2005"}, "a synthetic internet")
	flags.StringSliceVar(&s.places, "place", nil, "look at the world from `PLACE,...` (default: the world's own)")
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
	completeWords(cmd, "place", sim.KnownPlaces())
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
	vantages, err := s.vantages()
	if err != nil {
		return err
	}
	if s.grouping.on {
		return s.together(vantages)
	}
	trials := s.trials(vantages)
	rows, err := s.rows(ctx, trials)
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
	switch {
	case len(s.files) == 0 && s.world == "":
		return hinted(usagef("simulate what?"), "say --data FILE.csv, or --world et2007")
	case len(s.files) > 0 && s.world != "":
		return usagef("--data and --world exclude each other")
	case len(s.places) > 0 && s.world == "":
		return usagef("--place is for a --world")
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

// vantages are the places from which servers are looked at.
func (s *simulate) vantages() ([]*sim.Vantage, error) {
	if s.world != "" {
		return s.worldVantages()
	}
	var vantages []*sim.Vantage
	for _, file := range s.files {
		v, err := readVantage(file)
		if err != nil {
			return nil, err
		}
		vantages = append(vantages, v)
	}
	return vantages, nil
}

func readVantage(file string) (*sim.Vantage, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, reason(err))
	}
	defer f.Close()
	v, err := sim.ReadVantage(filepath.Base(file), f)
	switch {
	case err != nil:
		return nil, hinted(err, "a data file is CSV with the header addr,country,asn,rtt_ms")
	case len(v.Servers) == 0:
		return nil, fmt.Errorf("%s lists no server", file)
	}
	return v, nil
}

func (s *simulate) worldVantages() ([]*sim.Vantage, error) {
	spec, err := sim.NamedSpec(s.world, s.options.Seed)
	if err != nil {
		return nil, usageError(err)
	}
	if len(s.places) > 0 {
		if spec.Places, err = sim.NamedPlaces(s.places...); err != nil {
			return nil, usageError(err)
		}
	}
	world := sim.Generate(spec)
	var vantages []*sim.Vantage
	for place := range world.Places {
		vantages = append(vantages, world.Vantage(place))
	}
	return vantages, nil
}

// trial is one strategy at one place.
type trial struct {
	vantage  *sim.Vantage
	strategy discovery.Strategy
	options  discovery.PlanOptions
}

func (s *simulate) trials(vantages []*sim.Vantage) []trial {
	var trials []trial
	for _, v := range vantages {
		for _, strategy := range s.strategies {
			for _, stop := range stopsOf(strategy, s.stops) {
				options := s.options
				options.AutoStop = stop
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

// rows runs the trials, several at a time.
func (s *simulate) rows(ctx context.Context, trials []trial) ([]sim.Simulation, error) {
	rows, errs := make([]sim.Simulation, len(trials)), make([]error, len(trials))
	progress := &counted{progress: s.progress("simulating", len(trials))}
	next := make(chan int)
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(trials)) {
		work.Go(func() {
			for i := range next {
				rows[i], errs[i] = trials[i].vantage.Simulate(trials[i].strategy, trials[i].options, sim.ReplayOptions{Rate: s.rate}, s.runs)
				progress.one()
			}
		})
	}
	for i := 0; i < len(trials) && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	work.Wait()
	progress.progress.finish()
	for _, err := range append(errs, ctx.Err()) {
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
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
