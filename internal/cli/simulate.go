package cli

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/internal/hint"
	"muster/internal/option"
	"muster/internal/sim"
	"muster/internal/sim/plot"
	"muster/internal/sim/scenery"
	"muster/internal/term"
	"muster/selection"
	"muster/selection/rules"
)

// simulate is the command that replays measurements in virtual time.
type simulate struct {
	*program
	source     scenery.Source
	strategies []discovery.Strategy
	stops      []discovery.AutoStop
	options    discovery.PlanOptions
	limits     []time.Duration
	rate       float64
	shift      sim.Shift
	runs       int
	warm       bool
	json       bool
	plot       string
	group      bool
	criteria   selection.Criteria     // the group's
	given      func(flag string) bool // on the command line
	done       atomic.Int64           // runs
}

func newSimulate(p *program) *cobra.Command {
	s := &simulate{program: p, source: scenery.Source{In: p.in}}
	cmd := &cobra.Command{
		GroupID: toTry,
		Use:     "simulate --data FILE.csv … | --world NAME | --matrix FILE",
		Short:   "Replay measurements in virtual time",
		Long: `Simulate has the strategies of discovery work on recorded measurements, or on a
synthetic internet, and tells what each would have cost and found. A data file
is what one place sees: CSV with the columns addr,country,asn,rtt_ms, where an
empty rtt_ms is a silent server. muster discover --auto-stop off --format csv
writes such files.

Round trips that somebody measured between hosts, such as PlanetLab's, make
worlds too: a --matrix has a row a host, in milliseconds. The networks of a list,
--servers, stand on its hosts, in another way each run, and some of the hosts are
the players. --world distance puts the list into cities of its countries instead:
there the way of light along the great circle, and a detour, is all that counts.
Files may be gzipped; - is standard input.

Plans go by country and AS, and tables of them are never quite right: --labels
tells plans those of another table than the world was made by, or none, and
--mislabel wrong ones for a share of the networks.

The strategies' thresholds are those of their papers unless --tune says other:` + plan.Knobs(),
		Example: `  muster simulate --world et2007 --place AU,JP
  muster simulate --data au.csv --data de.csv --strategy as,adaptive --plot picture.svg
  muster simulate --world css2007 --strategy as --tune spread=20ms,samples=0.5
  muster simulate --world css2007 --strategy adaptive --nearest 50 --json
  muster simulate --world css2007 --strategy adaptive --nearest 50 --warm
  muster simulate --matrix rtt.txt.gz --servers list.csv --runs 30
  muster simulate --world css2007 --new-worlds --place AU --mislabel 10%
  muster simulate --group --data ann.csv --data bob.csv --by minimax
  muster simulate --group --matrix rtt.txt --draw far:2 --runs 30`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	s.given = flags.Changed
	bindScenery(cmd, &s.source)
	option.Words(cmd, &s.strategies, "strategy", discovery.Strategies(), discovery.Strategies(),
		"orders of probing to compare; of a --group's players one")
	option.Words(cmd, &s.stops, "auto-stop", nil, discovery.AutoStops(), "when to stop (default: each strategy's)")
	flags.IntVar(&s.options.Nearest, "nearest", 0, "look for the `N` nearest servers instead of all near ones (adaptive)")
	flags.Var(option.Pings(&s.limits), "max-rtt", "the RTT over which a server is not playable (default 200ms); of a "+
		"--group's several the strictest that can be kept holds"+option.InMillis)
	flags.IntVar(&s.options.Window, "window", 100, "replies, `N`, that auto-stop looks back on")
	flags.Var(tuning(&s.options), "tune", "thresholds of the strategies, see above")
	flags.Float64Var(&s.rate, "rate", 140, "`N` probes a second")
	flags.Var(option.New("BY@SHARE[-SHARE]", "", func(text string) (err error) {
		s.shift, err = sim.ParseShift(text)
		return err
	}), "shift", "the player's line is busy from when this share of the list has been asked, until another: all pings rise, "+
		"such as 50ms@0.1, `BY@SHARE[-SHARE]`")
	flags.IntVar(&s.runs, "runs", 20, "`N` runs, each with another seed")
	flags.Uint64Var(&s.options.Seed, "seed", 1, "the first run's `SEED`")
	flags.BoolVar(&s.warm, "warm", false, "a second visit, some networks and servers changed: without and with what the first one left")
	flags.BoolVar(&s.json, "json", false, "print the figures as JSON")
	flags.StringVar(&s.plot, "plot", "", "draw RTT against probe number of the first runs, to `FILE.svg`")
	const withGroup = "with --group, "
	flags.BoolVar(&s.group, "group", false, "the places are players who look for one server together")
	option.Word(cmd, &s.criteria.By, "by", selection.Mean, selection.Rules(), withGroup+"rule for the choice")
	flags.IntVar(&s.criteria.Seats, "players", 0, withGroup+"free seats, `N`, that the server needs (default: any)")
	bindAsked(flags, &s.criteria.Wishes, withGroup, "map", "mode", "no-password")
	flags.Var(option.Weights(&s.criteria.Weights), "weights", withGroup+"players who count for more or less than 1")
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
	scene, err := s.source.Scene(s.group)
	if err != nil {
		return err
	}
	worlds, runs := 1, s.runs
	if s.source.Varies() {
		worlds, runs = s.runs, 1
	}
	if s.group {
		return s.together(ctx, scene, worlds, runs)
	}
	study := sim.Study{
		Strategies: s.strategies, Stops: s.stops, Plan: s.options, Rate: s.rate, Shift: s.shift, Warm: s.warm,
		Worlds: worlds, Runs: runs, OnePlace: s.source.AreDrawn(),
	}
	rows, cases, err := study.Run(ctx, scene, s.oneDone)
	s.screen.Rests()
	if err != nil {
		return err
	}
	if s.plot != "" {
		if len(cases) > maxPanels {
			return hint.With(usagef("--plot: %d pictures in one file", len(cases)), "choose with --strategy, --auto-stop and --place")
		}
		if err := writeFile(s.plot, func(w io.Writer) error { return plot.Write(w, cases, s.rate) }); err != nil {
			return err
		}
	}
	if s.json {
		return json.NewEncoder(s.out).Encode(map[string]any{"format": "muster.simulation/1", "rows": rows})
	}
	s.print(plot.Table(rows, s.options.Nearest > 0))
	return nil
}

// bindScenery adds the flags for the simulated servers and places.
func bindScenery(cmd *cobra.Command, w *scenery.Source) {
	flags := cmd.Flags()
	flags.StringArrayVar(&w.Data, "data", nil, "measurements of one place, `FILE.csv`, - is standard input (repeatable)")
	option.Word(cmd, &w.World, "world", "", scenery.Names(), "a synthetic internet")
	flags.StringVar(&w.Matrix, "matrix", "", "round trips measured between hosts, `FILE` with a row a host, in ms: servers "+
		"and players sit there")
	flags.StringVar(&w.Servers, "servers", "", "with --matrix, --world distance or cables, the servers, `FILE` (default: a "+
		"list like css2007's)")
	flags.StringSliceVar(&w.Places, "place", nil, "look from `PLACE,...`; with --matrix from hosts, by number (default: the world's own)")
	flags.Var(option.New("[near:|far:]N", "", w.SetDraw), "draw",
		"with --matrix, draw so many hosts for each run, near or far from each other, `[near:|far:]N` (default 5; of a --group 4)")
	flags.BoolVar(&w.Fresh, "new-worlds", false, "each run in another world (with --matrix always)")
	flags.StringVar(&w.Labels, "labels", scenery.OwnLabels, "countries and ASes that plans are told: world (by which it "+
		"was made), tables (in Muster), none, or those of a list, `WORD|FILE`")
	flags.Var(option.New("SHARE[/BITS]", "", w.SetMislabelled), "mislabel",
		"tell plans the country and AS of another server for this share of the /24 networks, or of those of other BITS, `SHARE[/BITS]`")
	option.Complete(cmd, "place", sim.KnownPlaces())
}

// maxPanels is how many pictures fit into a file.
const maxPanels = 40

// oneDone shows that one more run is done.
func (s *simulate) oneDone(of int) { s.screen.Moves("simulating", int(s.done.Add(1)), of, "") }

// print shows a table, and names the columns that the terminal has no room for.
func (s *simulate) print(t *term.Table) {
	if missing := t.Write(s.out); len(missing) > 0 {
		s.screen.Say("%s", s.screen.Wrap("a wider terminal, a file or --json has more: "+strings.Join(missing, ", "), 0))
	}
}

// check refuses flags that make no sense.
func (s *simulate) check() error {
	if err := s.source.Check(); err != nil {
		return err
	}
	switch {
	case s.runs < 1:
		return usagef("--runs %d: one run is the least", s.runs)
	case !(s.rate > 0):
		return usagef("--rate %v: at least one server has to be asked now and then", s.rate)
	case len(s.limits) > 1 && !s.group:
		return hint.With(usagef("--max-rtt: several limits are for a --group"), "run it once for each")
	case s.warm && s.plot != "":
		return usagef("--warm is not for --plot")
	}
	wrong, why := []string{"by", "players", "map", "mode", "no-password", "weights"}, "is for a --group"
	if s.group {
		wrong, why = []string{"plot", "warm", "shift"}, "is not for a --group"
	}
	for _, flag := range wrong {
		if s.given(flag) {
			return usagef("--%s %s", flag, why)
		}
	}
	if s.criteria.Seats < 0 {
		return usagef("--players %d is below 0", s.criteria.Seats)
	}
	return (&planning{strategy: discovery.Adaptive, options: s.options}).check()
}

// together simulates the places as one group.
func (s *simulate) together(ctx context.Context, scene sim.Scene, worlds, runs int) error {
	strategy, stop, err := s.lookingAlone()
	if err != nil {
		return err
	}
	study := sim.GroupStudy{Strategy: strategy, Plan: s.options, Rate: s.rate, Criteria: s.criteria, Worlds: worlds, Runs: runs}
	study.Plan.AutoStop = stop
	if rules.Of(s.criteria.By).NeedsLimit {
		study.Criteria.Limits = s.limits
	}
	rows, err := study.Run(ctx, scene, s.oneDone)
	s.screen.Rests()
	if err != nil {
		return err
	}
	if s.json {
		return json.NewEncoder(s.out).Encode(struct {
			Format string                `json:"format"`
			By     selection.Rule        `json:"by"`
			Rows   []sim.GroupSimulation `json:"rows"`
		}{"muster.group-simulation/1", s.criteria.By, rows})
	}
	s.print(plot.GroupTable(rows))
	return nil
}

// lookingAlone returns the strategy for players who search alone, and when they stop.
func (s *simulate) lookingAlone() (strategy discovery.Strategy, stop discovery.AutoStop, err error) {
	strategy = discovery.ByAS
	switch {
	case len(s.stops) > 1 || s.given("strategy") && len(s.strategies) > 1:
		return "", "", usagef("a --group's players look alone by one --strategy, with one --auto-stop")
	case s.given("strategy"):
		strategy = s.strategies[0]
	case s.options.Nearest > 0:
		strategy = discovery.Adaptive
	}
	if len(s.stops) == 1 {
		stop = s.stops[0]
	}
	return strategy, stop, (&planning{strategy: strategy, options: s.options}).check()
}
