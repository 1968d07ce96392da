package cli

import (
	"context"
	"encoding/json"
	"fmt"
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
	on    bool
	rule  selection.Rule
	seats int
}

func (g *grouping) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&g.on, "group", false, "the places are players who look for one server together")
	bindRule(cmd, &g.rule, selection.Mean, "with --group, rule for the choice")
	flags.IntVar(&g.seats, "players", 0, "with --group, free seats, `N`, that the server needs (default: any)")
}

func (g *grouping) check() error {
	if g.seats < 0 {
		return usagef("--players %d is below 0", g.seats)
	}
	return nil
}

// wish is what the group wants; rules that have limits take those of the plans.
func (g *grouping) wish(limits []time.Duration) selection.Wish {
	wish := selection.Wish{By: g.rule, Seats: g.seats}
	if g.rule == selection.Threshold || g.rule == selection.FairThreshold {
		wish.Limits = limits
	}
	return wish
}

// together simulates the places as one group: everybody measuring everything,
// the papers joined naively, and coordinated.
func (s *simulate) together(ctx context.Context, scene scene) error {
	methods := []sim.Method{sim.Full, sim.Naive, sim.Coordinated}
	worlds, runs := s.rounds()
	progress := &counted{progress: s.progress("simulating", worlds)}
	players, all := make([][]string, worlds), make([][][]sim.GroupRun, worlds)
	err := inParallel(ctx, worlds, func(world int) (err error) {
		defer progress.one()
		players[world], all[world], err = s.play(scene, s.options.Seed+uint64(world), methods, runs)
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
		}{"muster.group-simulation/1", s.grouping.rule, rows})
	}
	groupTable(rows).write(s.streams.Out, width(s.streams.Out))
	return nil
}

// play runs the methods in one world.
func (s *simulate) play(scene scene, seed uint64, methods []sim.Method, runs int) (players []string, all [][]sim.GroupRun, err error) {
	vantages, err := scene(seed)
	if err != nil {
		return nil, nil, err
	}
	group, err := groupOf(vantages)
	if err != nil {
		return nil, nil, err
	}
	options := sim.GroupOptions{
		Wish: s.grouping.wish(s.limits), Replay: sim.ReplayOptions{Rate: s.rate}, Plan: s.options,
		Strategy: discovery.ByAS,
	}
	options.Plan.Seed, options.Planner.Seed = seed, seed
	for _, method := range methods {
		those, err := group.Runs(method, options, runs)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, those)
	}
	return group.Players, all, nil
}

// groupOf are the players at these places.
func groupOf(vantages []*sim.Vantage) (*sim.Group, error) {
	if len(vantages) < 2 {
		return nil, usagef("--group: one place is no group")
	}
	for _, v := range vantages {
		v.Name = strings.TrimSuffix(v.Name, ".csv")
	}
	return sim.NewGroup(vantages...)
}

func groupTable(rows []sim.GroupSimulation) *table {
	t := &table{columns: []column{
		{"METHOD", whole}, {"% A PLAYER", right}, {"FOUND", whole}, {"SCORE MS", right}, {"OPTIMUM MS", right},
		{"REGRET MS", right}, {"95 % WITHIN", right}, {"ROUNDS", right}, {"SECONDS", right},
	}}
	for _, r := range rows {
		found := "yes"
		if !r.Found {
			found = "no"
		}
		t.add(string(r.Method), fmt.Sprintf("%.1f", r.Percent), found, millis(r.ScoreMS), millis(r.OptimumMS),
			millis(r.RegretMS), millis(r.RegretP95MS), strconv.Itoa(r.Rounds), fmt.Sprintf("%.1f", r.Seconds))
	}
	return t
}
