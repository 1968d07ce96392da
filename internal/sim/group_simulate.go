package sim

import (
	"cmp"
	"fmt"
	"slices"

	"muster/discovery"
	"muster/discovery/plans"
	"muster/selection"
	"muster/selection/anomaly"
	"muster/selection/coordinate"
)

// Method is how a group measures.
type Method string

// The methods.
const (
	// Full: everybody measures everything.
	Full Method = "full"
	// Naive: everybody follows a discovery plan with its auto-stop, and the host
	// chooses among what all have measured.
	Naive Method = "naive"
	// Coordinated: the host says, round after round, who asks whom.
	Coordinated Method = "coordinated"
	// Discovered: the same after everybody's own discovery; only what comes on
	// top of that is counted.
	Discovered Method = "discovered"
)

// GroupOptions say how a group is simulated.
type GroupOptions struct {
	Wish   selection.Criteria
	Replay ReplayOptions
	// Strategy and Plan are everybody's own discovery: by AS.
	Strategy discovery.Strategy
	Plan     discovery.PlanOptions
	// Planner coordinates; its seed counts up with the runs.
	Planner coordinate.Options
	// Finalists are probed again, Samples times each: 10, 3.
	Finalists, Samples int
}

func (o GroupOptions) withDefaults() GroupOptions {
	o.Wish.By = cmp.Or(o.Wish.By, selection.Mean)
	o.Replay = o.Replay.withDefaults()
	o.Strategy = cmp.Or(o.Strategy, discovery.ByAS)
	o.Finalists = cmp.Or(o.Finalists, 10)
	o.Samples = cmp.Or(o.Samples, 3)
	return o
}

// GroupSimulation is what runs of one method came to, a row of
// muster.group-simulation/1. Numbers are medians over the runs.
type GroupSimulation struct {
	Method Method `json:"method"`
	// PercentPerPlayer is which share of the list each player asked.
	PercentPerPlayer map[string]float64 `json:"percent_per_player"`
	Percent          float64            `json:"percent"`
	// Found: every run found a server.
	Found bool `json:"found"`
	// FoundRuns is how many did; the scores are theirs.
	FoundRuns int     `json:"found_runs"`
	ScoreMS   float64 `json:"score_ms"`
	OptimumMS float64 `json:"optimum_ms"`
	// RegretMS is how much worse the chosen server truly is than the best,
	// RegretP95MS what 95 % of the runs stay within.
	RegretMS    float64 `json:"regret_ms"`
	RegretP95MS float64 `json:"regret_p95_ms"`
	Rounds      int     `json:"rounds"`
	// Seconds is until the choice stands, the finalists' second look included.
	Seconds float64 `json:"seconds"`
	Runs    int     `json:"runs"`
}

// GroupRun is what one run came to.
type GroupRun struct {
	Percent   []float64 // by player
	Found     bool
	Server    int // the chosen one
	Score     float64
	Optimum   float64
	Regret    float64
	Rounds    int
	Seconds   float64
	Outlook   coordinate.Progress
	Finalists []int
	// Doubts are those about the players' reports.
	Doubts []anomaly.Anomaly
}

// Runs runs a method so many times.
func (g *Group) Runs(method Method, o GroupOptions, runs int) ([]GroupRun, error) {
	var all []GroupRun
	truth := g.truth(o.withDefaults().Wish)
	for run := range uint64(runs) {
		r, err := g.run(method, o, truth, run)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Run is one run of a method; the number of the run decides what is random.
func (g *Group) Run(method Method, o GroupOptions, run uint64) (GroupRun, error) {
	return g.run(method, o, g.truth(o.withDefaults().Wish), run)
}

func (g *Group) run(method Method, o GroupOptions, truth groupTruth, run uint64) (GroupRun, error) {
	o = o.withDefaults()
	p := g.newPlay(o, run)
	o.Planner.Seed += run
	var r GroupRun
	switch method {
	case Full, Naive:
		if method == Full {
			o.Strategy = discovery.Conventional
		}
		if err := p.discover(o); err != nil {
			return GroupRun{}, err
		}
		r.Rounds = 1
		r.Finalists = p.ranked(o.Finalists)
	case Coordinated, Discovered:
		if method == Discovered {
			if err := p.discover(o); err != nil {
				return GroupRun{}, err
			}
			clear(p.asked)
			p.now = 0
		}
		planner := coordinate.New(p.servers, p.table, o.Wish, o.Planner)
		p.coordinate(planner)
		r.Rounds, r.Outlook, r.Finalists = p.round, planner.Progress(), planner.Finalists(o.Finalists)
	default:
		return GroupRun{}, fmt.Errorf("sim: unknown method %q", method)
	}
	r.Server = p.settle(r.Finalists)
	r.Doubts = p.doubts
	r.Found, r.Seconds, r.Optimum = r.Server >= 0, p.now.Seconds(), truth.best.Score
	if r.Found {
		r.Score, r.Regret = truth.regret(r.Server)
	}
	for _, asked := range p.asked {
		r.Percent = append(r.Percent, 100*float64(asked)/float64(len(p.servers.List)))
	}
	return r, nil
}

// discover has everybody follow a plan of their own, all at the same time.
func (p *play) discover(o GroupOptions) error {
	for player, v := range p.Vantages {
		options := o.Plan
		options.Seed += p.run<<16 + uint64(player)
		plan, err := plans.New(o.Strategy, v.Topology(), options)
		if err != nil {
			return err
		}
		replay := o.Replay
		replay.Run = p.run
		results, took := v.Replay(plan, replay)
		for _, result := range results {
			p.note(player, result)
		}
		p.asked[player] = len(results)
		p.now = max(p.now, took)
	}
	return nil
}

// SummariseGroup is what runs of a method came to, in one world or in several.
func SummariseGroup(method Method, players []string, all []GroupRun) GroupSimulation {
	s := GroupSimulation{Method: method, PercentPerPlayer: make(map[string]float64), Found: true, Runs: len(all)}
	for player, name := range players {
		s.PercentPerPlayer[name] = quantile(all, 0.5, func(r GroupRun) float64 { return r.Percent[player] })
		s.Percent += s.PercentPerPlayer[name] / float64(len(players))
	}
	for _, r := range all {
		s.Found = s.Found && r.Found
	}
	found := slices.DeleteFunc(slices.Clone(all), func(r GroupRun) bool { return !r.Found })
	s.FoundRuns = len(found)
	s.ScoreMS = quantile(found, 0.5, func(r GroupRun) float64 { return r.Score })
	s.OptimumMS = quantile(all, 0.5, func(r GroupRun) float64 { return r.Optimum })
	s.RegretMS = quantile(found, 0.5, func(r GroupRun) float64 { return r.Regret })
	s.RegretP95MS = quantile(found, 0.95, func(r GroupRun) float64 { return r.Regret })
	s.Rounds = int(quantile(all, 0.5, func(r GroupRun) float64 { return float64(r.Rounds) }))
	s.Seconds = quantile(all, 0.5, func(r GroupRun) float64 { return r.Seconds })
	return s
}

// quantile is the value that a share of the runs stay within.
func quantile(all []GroupRun, share float64, of func(GroupRun) float64) float64 {
	var values []float64
	for _, r := range all {
		values = append(values, of(r))
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(share*float64(len(values))))]
}
