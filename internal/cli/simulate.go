package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	warm       bool
	json       bool
	plot       string
	grouping   grouping
	given      func(flag string) bool // on the command line
}

func newSimulate(p *program) *cobra.Command {
	s := &simulate{program: p, worlds: worlds{in: p.streams.In}}
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
the players. --world distance puts the list into cities of its countries instead:
there the way of light along the great circle, and a detour, is all that counts.
Files may be gzipped; - is standard input.

The strategies' thresholds are those of their papers unless --tune says other:` + tuningHelp(),
		Example: `  muster simulate --world et2007 --place AU,JP
  muster simulate --data au.csv --data de.csv --strategy as,adaptive --plot picture.svg
  muster simulate --world css2007 --strategy as --tune spread=20ms,samples=0.5
  muster simulate --world css2007 --strategy adaptive --nearest 50 --json
  muster simulate --world css2007 --strategy adaptive --nearest 50 --warm
  muster simulate --matrix rtt.txt.gz --servers list.csv --runs 30
  muster simulate --group --data ann.csv --data bob.csv --by minimax
  muster simulate --group --matrix rtt.txt --draw far:2 --runs 30`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	s.given = flags.Changed
	s.worlds.bind(cmd)
	bindWords(cmd, &s.strategies, "strategy", discovery.Strategies(), discovery.Strategies(), "orders of probing to compare; of a --group's players one")
	bindWords(cmd, &s.stops, "auto-stop", nil, discovery.AutoStops(), "when to stop (default: each strategy's)")
	flags.IntVar(&s.options.Nearest, "nearest", 0, "look for the `N` nearest servers instead of all near ones (adaptive)")
	flags.Var(durations{&s.limits}, "max-rtt", "the RTT over which a server is not playable (default 200ms); of a --group's several the strictest that can be kept holds")
	flags.IntVar(&s.options.Window, "window", 100, "replies, `N`, that auto-stop looks back on")
	flags.Var(tuning{&s.options}, "tune", "thresholds of the strategies, see above")
	flags.Float64Var(&s.rate, "rate", 140, "`N` probes a second")
	flags.IntVar(&s.runs, "runs", 20, "`N` runs, each with another seed")
	flags.Uint64Var(&s.options.Seed, "seed", 1, "the first run's `SEED`")
	flags.BoolVar(&s.warm, "warm", false, "a second visit, some networks and servers changed: without and with what the first one left")
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
	s.print(s.table(rows))
	return nil
}

// print shows a table, and says what of it a terminal has no room for.
func (s *simulate) print(t *table) {
	columns := width(s.streams.Out)
	t.write(s.streams.Out, columns)
	if missing := t.missing(columns); len(missing) > 0 {
		note := "a wider terminal, a file or --json has more: " + strings.Join(missing, ", ")
		fmt.Fprintln(s.streams.Err, wrapped(note, "", width(s.streams.Err)))
	}
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
	case s.warm && s.plot != "":
		return usagef("--warm is not for --plot")
	}
	if err := s.grouping.check(s.given); err != nil {
		return err
	}
	return (&planning{strategy: discovery.Adaptive, options: s.options}).check()
}

// table is laid out as the papers' are, with what they did not measure.
func (s *simulate) table(rows []sim.Simulation) *table {
	t := &table{columns: []column{
		{"PLACE", left}, {"STRATEGY", whole}, {"AUTO-STOP", whole}, {"LISTED", right}, {"CLUSTERS", right}, {"INITIAL", right},
		{"PROBES", right}, {"%", right}, {"SECONDS", right}, {"PLAYABLE", right}, {"RECALL %", right}, {"WORST %", right},
		{"10 AFTER", right}, {"100 AFTER", right}, {"EXCESS MS", right},
	}, spare: []string{"CLUSTERS", "INITIAL", "WORST %", "LISTED", "10 AFTER", "PLAYABLE", "100 AFTER", "AUTO-STOP", "SECONDS", "PROBES", "EXCESS MS"}}
	for _, r := range rows {
		excess := ""
		if s.options.Nearest > 0 {
			excess = fmt.Sprintf("%.1f", r.ExcessMS)
		}
		place := strings.TrimSuffix(r.Data, ".csv")
		if r.Start != "" {
			place += ", " + string(r.Start)
		}
		t.add(place, string(r.Strategy), string(r.AutoStop), strconv.Itoa(r.Listed),
			strconv.Itoa(r.Clusters), strconv.Itoa(r.Calibration), strconv.Itoa(r.Probes), fmt.Sprintf("%.1f", r.Percent),
			fmt.Sprintf("%.1f", r.Seconds), strconv.Itoa(r.Playable), fmt.Sprintf("%.1f", 100*r.Recall),
			fmt.Sprintf("%.1f", 100*r.WorstRecall), probesUntil(r.First10), probesUntil(r.First100), excess)
	}
	return t
}

// probesUntil is after how many probes something came about, if it did.
func probesUntil(n int) string {
	if n == 0 {
		return none
	}
	return strconv.Itoa(n)
}
