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
	"muster/selection"
)

// grouping are the flags of a simulation of a group.
type grouping struct {
	on   bool
	wish selection.Criteria
}

const withGroup = "with --group, "

func (g *grouping) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&g.on, "group", false, "the places are players who look for one server together")
	bindRule(cmd, &g.wish.By, selection.Mean, withGroup+"rule for the choice")
	flags.IntVar(&g.wish.Seats, "players", 0, withGroup+"free seats, `N`, that the server needs (default: any)")
	bindFilters(flags, &g.wish, withGroup)
}

// check refuses flags that make no sense; given tells which there are.
func (g *grouping) check(given func(flag string) bool) error {
	for _, flag := range []string{"by", "players", "map", "mode", "no-password", "weights"} {
		if given(flag) && !g.on {
			return usagef("--%s is for a --group", flag)
		}
	}
	for _, flag := range []string{"plot", "warm"} {
		if given(flag) && g.on {
			return usagef("--%s is not for a --group", flag)
		}
	}
	if g.wish.Seats < 0 {
		return usagef("--players %d is below 0", g.wish.Seats)
	}
	return nil
}

// wished is what the group wants; rules that have limits take those of the plans.
func (g *grouping) wished(limits []time.Duration) selection.Criteria {
	wish := g.wish
	if wish.By == selection.Threshold || wish.By == selection.FairThreshold {
		wish.Limits = limits
	}
	return wish
}

// fits refuses a wish that this group cannot have: for players who are not there,
// or of servers that say nothing of themselves.
func (g *grouping) fits(group *sim.Group, wish selection.Criteria) error {
	if err := wish.Check(group.Players); err != nil {
		return usageError(err)
	}
	says := func(what func(discovery.Info) bool) bool { return slices.ContainsFunc(group.Vantages[0].Infos, what) }
	var column string
	switch {
	case wish.Seats > 0 && !says(func(i discovery.Info) bool { return i.MaxPlayers > 0 }):
		column = "max_players"
	case wish.Map != "" && !says(func(i discovery.Info) bool { return i.Map != "" }):
		column = "map"
	case wish.Mode != "" && !says(func(i discovery.Info) bool { return i.Mode != "" }):
		column = "mode"
	default:
		return nil
	}
	return hinted(usagef("no server in %s says its %s", group.Vantages[0].Name, column), "a data file may have the columns players,max_players,bots,map,mode,password")
}

// lookingAlone is by which strategy each player looks who looks alone, and when that
// stops.
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

// together simulates the places as one group: everybody measuring everything,
// the papers joined naively, and coordinated.
func (s *simulate) together(ctx context.Context, scene scene) error {
	methods := []sim.Method{sim.Full, sim.Naive, sim.Coordinated}
	worlds, runs := s.rounds()
	progress := &counted{progress: s.progress("simulating", worlds*runs*len(methods))}
	players, all := make([][]string, worlds), make([][][]sim.GroupRun, worlds)
	err := inParallel(ctx, worlds, func(world int) (err error) {
		players[world], all[world], err = s.play(ctx, scene, s.options.Seed+uint64(world), methods, runs, progress)
		return err
	})
	progress.progress.finish()
	if err != nil {
		return err
	}
	var rows []sim.GroupSimulation
	for i, method := range methods {
		var those []sim.GroupRun
		for _, runs := range all {
			those = append(those, runs[i]...)
		}
		rows = append(rows, sim.SummariseGroup(method, players[0], those))
	}
	if s.json {
		return json.NewEncoder(s.streams.Out).Encode(struct {
			Format string                `json:"format"`
			By     selection.Rule        `json:"by"`
			Rows   []sim.GroupSimulation `json:"rows"`
		}{"muster.group-simulation/1", s.grouping.wish.By, rows})
	}
	s.print(groupTable(rows))
	return nil
}

// play runs the methods in one world.
func (s *simulate) play(ctx context.Context, scene scene, seed uint64, methods []sim.Method, runs int, progress *counted) (players []string, all [][]sim.GroupRun, err error) {
	group, options, err := s.party(scene, seed)
	if err != nil {
		return nil, nil, err
	}
	for range methods {
		all = append(all, make([]sim.GroupRun, runs))
	}
	err = inParallel(ctx, len(methods)*runs, func(i int) (err error) {
		defer progress.one()
		method, run := i/runs, i%runs
		all[method][run], err = group.Run(methods[method], options, uint64(run))
		return err
	})
	return group.Players, all, err
}

// party is the group of one world, and how it looks.
func (s *simulate) party(scene scene, seed uint64) (*sim.Group, sim.GroupOptions, error) {
	options := sim.GroupOptions{Wish: s.grouping.wished(s.limits), Replay: sim.ReplayOptions{Rate: s.rate}, Plan: s.options}
	options.Plan.Seed, options.Planner.Seed = seed, seed
	var err error
	if options.Strategy, options.Plan.AutoStop, err = s.lookingAlone(); err != nil {
		return nil, options, err
	}
	vantages, err := scene(seed)
	if err != nil {
		return nil, options, err
	}
	group, err := groupOf(vantages)
	if err != nil {
		return nil, options, err
	}
	return group, options, s.grouping.fits(group, options.Wish)
}

// groupOf are the players at these places.
func groupOf(vantages []*sim.Vantage) (*sim.Group, error) {
	if len(vantages) < 2 {
		return nil, usagef("--group: one place is no group")
	}
	for _, v := range vantages {
		v.Name = strings.TrimSuffix(v.Name, ".csv")
	}
	group, err := sim.NewGroup(vantages...)
	if err != nil {
		return nil, hinted(err, "have everybody ask all servers of one list: muster discover --servers FILE --auto-stop off --format csv")
	}
	return group, nil
}

func groupTable(rows []sim.GroupSimulation) *table {
	t := &table{columns: []column{
		{"METHOD", whole}, {"% A PLAYER", right}, {"FOUND", whole}, {"SCORE MS", right}, {"OPTIMUM MS", right},
		{"REGRET MS", right}, {"95 % WITHIN", right}, {"ROUNDS", right}, {"SECONDS", right},
	}, spare: []string{"OPTIMUM MS", "ROUNDS", "SECONDS", "95 % WITHIN", "SCORE MS", "FOUND"}}
	for _, r := range rows {
		ms := []string{millis(r.ScoreMS), millis(r.OptimumMS), millis(r.RegretMS), millis(r.RegretP95MS)}
		if r.FoundRuns == 0 {
			ms = []string{none, none, none, none}
		}
		t.add(slices.Concat([]string{string(r.Method), fmt.Sprintf("%.1f", r.Percent), foundIn(r)}, ms,
			[]string{strconv.Itoa(r.Rounds), fmt.Sprintf("%.1f", r.Seconds)})...)
	}
	return t
}

// foundIn says in how many runs a server was found.
func foundIn(r sim.GroupSimulation) string {
	switch r.FoundRuns {
	case r.Runs:
		return "yes"
	case 0:
		return "no"
	}
	return fmt.Sprintf("%d of %d", r.FoundRuns, r.Runs)
}
