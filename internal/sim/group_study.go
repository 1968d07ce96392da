package sim

import (
	"context"
	"slices"
	"strings"

	"muster/discovery"
	"muster/internal/hint"
	"muster/selection"
)

// GroupStudy compares three ways for a scene's places to find a server together: everybody measures
// everything, the papers' methods joined naively, and the coordinated search.
type GroupStudy struct {
	// Strategy and Plan are each player's own discovery.
	Strategy discovery.Strategy
	Plan     discovery.PlanOptions
	Rate     float64
	// Criteria are the group's.
	Criteria selection.Criteria
	// Each of Worlds worlds is seen Runs times.
	Worlds, Runs int
}

// Run runs the study until ctx ends, several runs at a time. After each run it tells done how many
// there will be.
func (s GroupStudy) Run(ctx context.Context, scene Scene, done func(of int)) ([]GroupSimulation, error) {
	methods := []Method{Full, Naive, Coordinated}
	var players []string // in the first world
	all := make([][]GroupRun, len(methods))
	for i := range all {
		all[i] = make([]GroupRun, s.Worlds*s.Runs)
	}
	err := Parallel(ctx, s.Worlds, func(world int) error {
		group, options, err := s.party(scene, s.Plan.Seed+uint64(world))
		if err != nil {
			return err
		}
		if world == 0 {
			players = group.Players
		}
		return Parallel(ctx, len(methods)*s.Runs, func(i int) (err error) {
			defer done(s.Worlds * s.Runs * len(methods))
			method, run := i/s.Runs, i%s.Runs
			all[method][world*s.Runs+run], err = group.Run(methods[method], options, uint64(run))
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	var rows []GroupSimulation
	for i, method := range methods {
		rows = append(rows, SummariseGroup(method, players, all[i]))
	}
	return rows, nil
}

// party returns the group of one world, and its options.
func (s GroupStudy) party(scene Scene, seed uint64) (*Group, GroupOptions, error) {
	options := GroupOptions{Criteria: s.Criteria, Replay: ReplayOptions{Rate: s.Rate}, Strategy: s.Strategy, Plan: s.Plan}
	options.Plan.Seed, options.Tuning.Seed = seed, seed
	vantages, err := scene(seed)
	if err != nil {
		return nil, options, err
	}
	if len(vantages) < 2 {
		return nil, options, hint.Usagef("--group: one place is no group")
	}
	for _, v := range vantages {
		v.Name = strings.TrimSuffix(v.Name, ".csv")
	}
	group, err := NewGroup(vantages...)
	if err != nil {
		return nil, options, hint.With(err,
			"have everybody ask all servers of one list: muster discover --servers FILE --auto-stop off --format csv")
	}
	return group, options, fits(group, options.Criteria)
}

// fits refuses criteria that this group cannot have: for absent players, or for facts that no
// server tells.
func fits(group *Group, c selection.Criteria) error {
	if err := c.Check(group.Players); err != nil {
		return hint.Usage(err)
	}
	says := func(what func(discovery.Info) bool) bool { return slices.ContainsFunc(group.Vantages[0].Infos, what) }
	var column string
	switch {
	case c.Seats > 0 && !says(func(i discovery.Info) bool { return i.MaxPlayers > 0 }):
		column = "max_players"
	case c.Map != "" && !says(func(i discovery.Info) bool { return i.Map != "" }):
		column = "map"
	case c.Mode != "" && !says(func(i discovery.Info) bool { return i.Mode != "" }):
		column = "mode"
	default:
		return nil
	}
	return hint.With(hint.Usagef("no server in %s says its %s", group.Vantages[0].Name, column),
		"a data file may have the columns players,max_players,bots,map,mode,password")
}
