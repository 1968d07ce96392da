package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
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
	// Criteria are the room's: its rule, limits, map, mode and password. Of seats the
	// group needs at least its own, if it needs any: if not, all servers have some.
	Criteria selection.Criteria
	Replay   ReplayOptions
	// Strategy and Plan are everybody's own discovery: by AS.
	Strategy discovery.Strategy
	Plan     discovery.PlanOptions
	// Tuning is the room's; its seed counts up with the runs.
	Tuning room.Tuning
	// ready is how long after the list people who vote are ready; 0 if nobody votes.
	ready time.Duration
	// rates are the probes a second of players whose lines are slow.
	rates map[int]float64
	// late is by how much the timers of players' machines ring late, as their programs say.
	late map[int]time.Duration
	// Discreet is how many servers players want to be asked for at most, by player.
	Discreet map[int]int
}

func (o GroupOptions) withDefaults(players int) GroupOptions {
	o.Criteria.By = cmp.Or(o.Criteria.By, selection.Mean)
	if o.Criteria.Seats > 0 {
		o.Criteria.Seats = max(o.Criteria.Seats, players)
	}
	o.Replay = o.Replay.withDefaults()
	o.Strategy = cmp.Or(o.Strategy, discovery.ByAS)
	return o
}

// settings are those of a room that measures by a strategy.
func (o GroupOptions) settings(strategy discovery.Strategy) wire.Settings {
	c, votes := o.Criteria, wire.No
	if o.ready > 0 {
		votes = wire.Yes
	}
	s := wire.Settings{
		Name:     "simulated",
		Game:     "simulated",
		By:       c.By,
		Limits:   c.Limits,
		Map:      c.Map,
		Mode:     c.Mode,
		Players:  c.Seats,
		Strategy: string(strategy),
		Agree:    votes,
	}
	if !c.NoPassword {
		s.Password = "known to the group"
	}
	return s
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
	Percent []float64 // by player
	Found   bool
	Server  int // the chosen one
	Score   float64
	Optimum float64
	Regret  float64
	Rounds  int
	Seconds float64
	// Search is how far the coordinated search came.
	Search coordinate.Progress
}

// Run is one run of a method; the number of the run decides what is random.
func (g *Group) Run(method Method, o GroupOptions, run uint64) (GroupRun, error) {
	o = o.withDefaults(len(g.Players))
	s, err := g.session(method, o, run)
	if err == nil {
		err = s.run()
	}
	if err != nil {
		return GroupRun{}, err
	}
	return s.result(g.truth(o.Criteria)), nil
}

// result is what a session that has ended came to.
func (s *session) result(truth groupTruth) GroupRun {
	r := GroupRun{Rounds: max(1, s.search.Rounds), Server: -1, Optimum: truth.best.Score, Seconds: s.launched.Seconds(), Search: s.search}
	if r.Found = s.launched > 0; r.Found {
		r.Server = s.room.Snapshot().Choice.Selection.Chosen.Server
		r.Score, r.Regret = truth.regret(r.Server)
	}
	for _, p := range s.peers {
		r.Percent = append(r.Percent, 100*float64(len(p.replay.results))/float64(len(p.vantage.Servers)))
	}
	return r
}

// plenty is more seats than any group needs.
const plenty = 1 << 10

// session is a room in which the group measures by a method. Its players are called
// by their numbers there.
func (g *Group) session(method Method, o GroupOptions, run uint64) (*session, error) {
	strategy := map[Method]discovery.Strategy{
		Full: discovery.Conventional, Naive: o.Strategy, Coordinated: wire.Coordinated, Discovered: wire.Coordinated,
	}[method]
	if strategy == "" {
		return nil, fmt.Errorf("sim: unknown method %q", method)
	}
	o.Tuning.Seed += run
	o.Tuning.Weights, o.Replay.Run = map[string]float64{}, run
	s := &session{Group: g, ready: o.ready}
	s.infoOf = func(server int) (info discovery.Info) {
		if infos := g.Vantages[0].Infos; infos != nil {
			info = infos[server]
		}
		if o.Criteria.Seats == 0 {
			info.Players, info.MaxPlayers = 0, plenty
		}
		return info
	}
	for i, v := range g.Vantages {
		p := &peer{session: s, name: strconv.Itoa(i), vantage: v, options: o.Replay, plan: o.Plan}
		p.plan.Seed += run<<16 + uint64(i)
		p.discreet, p.late = o.Discreet[i], o.late[i]
		p.options.Rate = cmp.Or(o.rates[i], p.options.Rate)
		if weight, given := o.Criteria.Weights[g.Players[i]]; given {
			o.Tuning.Weights[p.name] = weight
		}
		if method == Discovered {
			plan, err := plan.New(o.Strategy, v.Topology(), p.plan)
			if err != nil {
				return nil, err
			}
			p.known, _ = v.Replay(plan, o.Replay)
		}
		s.peers = append(s.peers, p)
	}
	s.room = o.Tuning.New(room.Keys{Code: "SIMULA"}, o.settings(strategy), epoch)
	return s, nil
}

// SummariseGroup is what runs of a method came to, in one world or in several.
func SummariseGroup(method Method, players []string, all []GroupRun) GroupSimulation {
	s := GroupSimulation{Method: method, PercentPerPlayer: make(map[string]float64), Runs: len(all)}
	for player, name := range players {
		s.PercentPerPlayer[name] = quantile(all, 0.5, func(r GroupRun) float64 { return r.Percent[player] })
		s.Percent += s.PercentPerPlayer[name] / float64(len(players))
	}
	found := slices.DeleteFunc(slices.Clone(all), func(r GroupRun) bool { return !r.Found })
	s.FoundRuns, s.Found = len(found), len(found) == len(all)
	s.ScoreMS = quantile(found, 0.5, func(r GroupRun) float64 { return r.Score })
	s.OptimumMS = quantile(all, 0.5, func(r GroupRun) float64 { return r.Optimum })
	s.RegretMS = quantile(found, 0.5, func(r GroupRun) float64 { return r.Regret })
	s.RegretP95MS = quantile(found, 0.95, func(r GroupRun) float64 { return r.Regret })
	s.Rounds = int(quantile(all, 0.5, func(r GroupRun) float64 { return float64(r.Rounds) }))
	s.Seconds = quantile(all, 0.5, func(r GroupRun) float64 { return r.Seconds })
	return s
}

// quantile is the value that a share of the runs stay within.
func quantile[Run any](all []Run, share float64, of func(Run) float64) float64 {
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
