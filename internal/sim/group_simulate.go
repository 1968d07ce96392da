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
	"muster/selection/memory"
)

// Method is a group's way of measuring.
type Method string

// These are the methods.
const (
	// Full means that everybody measures everything.
	Full Method = "full"
	// Naive means that everybody follows a discovery plan with its auto-stop, and that the host
	// chooses among the servers that all have measured.
	Naive Method = "naive"
	// Coordinated means that the host tells each player, round after round, which servers to probe.
	Coordinated Method = "coordinated"
	// Discovered is Coordinated after each player's own discovery. Only the additional probes
	// count.
	Discovered Method = "discovered"
)

// GroupOptions configure the simulation of a group.
type GroupOptions struct {
	// Criteria are the room's: its rule, limits, map, mode and password. If the group needs seats,
	// it needs at least its own number. If not, all servers have some.
	Criteria selection.Criteria
	Replay   ReplayOptions
	// Strategy and Plan are each player's own discovery, by AS.
	Strategy discovery.Strategy
	Plan     discovery.PlanOptions
	// Tuning is the room's. Its seed counts up with the runs.
	Tuning room.Tuning
	// Ready is the time from the list until voting players are ready, 0 if nobody votes.
	Ready time.Duration
	// Rates says how many probes a second players with slow lines send.
	Rates map[int]float64
	// Late is how late the timers of players' machines fire, as their programs report.
	Late map[int]time.Duration
	// Shifts are the changes of players' own lines meanwhile.
	Shifts map[int]Shift
	// Discreet is the most servers that players want to be asked for, by player.
	Discreet map[int]int
	// Countries are those of the players' addresses by the host's tables, by player. Without, none is known.
	Countries []string
	// Memories are what players' programs remember of earlier sessions, by player.
	Memories [][]memory.Cell
}

func (o GroupOptions) WithDefaults(players int) GroupOptions {
	o.Criteria.By = cmp.Or(o.Criteria.By, selection.Mean)
	if o.Criteria.Seats > 0 {
		o.Criteria.Seats = max(o.Criteria.Seats, players)
	}
	o.Replay = o.Replay.withDefaults()
	o.Strategy = cmp.Or(o.Strategy, discovery.ByAS)
	return o
}

// settings returns the settings of a room that measures by a strategy.
func (o GroupOptions) settings(strategy discovery.Strategy) wire.Settings {
	c, votes := o.Criteria, wire.No
	if o.Ready > 0 {
		votes = wire.Yes
	}
	s := wire.Settings{
		Name:     "simulated",
		Game:     "simulated",
		By:       c.By,
		Limits:   c.Limits,
		Wishes:   selection.Wishes{Map: c.Map, Mode: c.Mode},
		Players:  c.Seats,
		Strategy: string(strategy),
		Agree:    votes,
	}
	if !c.NoPassword {
		s.Password = "known to the group"
	}
	return s
}

// GroupSimulation summarises runs of one method, a row of muster.group-simulation/1. Numbers are
// medians over the runs.
type GroupSimulation struct {
	Method Method `json:"method"`
	// PercentPerPlayer is the share of the list that each player probed.
	PercentPerPlayer map[string]float64 `json:"percent_per_player"`
	Percent          float64            `json:"percent"`
	// Found says that every run found a server.
	Found bool `json:"found"`
	// FoundRuns is how many did. The scores are theirs.
	FoundRuns int     `json:"found_runs"`
	ScoreMS   float64 `json:"score_ms"`
	OptimumMS float64 `json:"optimum_ms"`
	// RegretMS is how much worse the chosen server truly is than the best. RegretP95MS is what 95 %
	// of the runs stay within.
	RegretMS    float64 `json:"regret_ms"`
	RegretP95MS float64 `json:"regret_p95_ms"`
	Rounds      int     `json:"rounds"`
	// Seconds is the time to the final choice, including the finalists' second look.
	Seconds float64 `json:"seconds"`
	Runs    int     `json:"runs"`
}

// GroupRun is the result of one run.
type GroupRun struct {
	Percent []float64 // by player
	Found   bool
	Server  int // the chosen one
	Score   float64
	Optimum float64
	Regret  float64
	Rounds  int
	Seconds float64
	// Search is the progress of the coordinated search.
	Search coordinate.Progress
}

// Run runs a method once. The number of the run seeds everything random.
func (g *Group) Run(method Method, o GroupOptions, run uint64) (GroupRun, error) {
	o = o.WithDefaults(len(g.Players))
	s, err := g.NewSession(method, o, run)
	if err == nil {
		err = s.Run()
	}
	if err != nil {
		return GroupRun{}, err
	}
	return s.Result(g.Truth(o.Criteria)), nil
}

// Result returns the result of an ended session.
func (s *Session) Result(truth GroupTruth) GroupRun {
	r := GroupRun{Rounds: max(1, s.search.Rounds), Server: -1, Optimum: truth.Best.Score, Seconds: s.Launched.Seconds(), Search: s.search}
	if r.Found = s.Launched > 0; r.Found {
		r.Server = s.Room.Snapshot().Choice.Selection.Chosen.Server
		r.Score, r.Regret = truth.Regret(r.Server)
	}
	for _, p := range s.Peers {
		r.Percent = append(r.Percent, 100*float64(len(p.replay.results))/float64(len(p.Vantage.Servers)))
	}
	return r
}

// plenty is more seats than any group needs.
const plenty = 1 << 10

// NewSession returns a room in which the group measures by a method. Its players are named by their
// numbers there.
func (g *Group) NewSession(method Method, o GroupOptions, run uint64) (*Session, error) {
	strategy := map[Method]discovery.Strategy{
		Full: discovery.Conventional, Naive: o.Strategy, Coordinated: wire.Coordinated, Discovered: wire.Coordinated,
	}[method]
	if strategy == "" {
		return nil, fmt.Errorf("sim: unknown method %q", method)
	}
	o.Tuning.Seed += run
	o.Tuning.Weights, o.Tuning.Sides, o.Replay.Run = map[string]float64{}, map[string]selection.Side{}, run
	s := &Session{Group: g, ready: o.Ready}
	s.InfoOf = func(server int) (info discovery.Info) {
		if infos := g.Vantages[0].Infos; infos != nil {
			info = infos[server]
		}
		if o.Criteria.Seats == 0 {
			info.Players, info.MaxPlayers = 0, plenty
		}
		return info
	}
	for i, v := range g.Vantages {
		p := &Peer{Session: s, name: strconv.Itoa(i), Vantage: v, options: o.Replay, plan: o.Plan}
		p.plan.Seed += run<<16 + uint64(i)
		p.discreet, p.late, p.options.Shift = o.Discreet[i], o.Late[i], o.Shifts[i]
		if len(o.Countries) > 0 {
			p.country = o.Countries[i]
		}
		if len(o.Memories) > 0 {
			p.Memory = o.Memories[i]
		}
		p.options.Rate = cmp.Or(o.Rates[i], p.options.Rate)
		if weight, given := o.Criteria.Weights[g.Players[i]]; given {
			o.Tuning.Weights[p.name] = weight
		}
		if side := o.Criteria.Sides[g.Players[i]]; side != selection.Neither {
			o.Tuning.Sides[p.name] = side
		}
		if method == Discovered {
			plan, err := plan.New(o.Strategy, v.Topology(), p.plan)
			if err != nil {
				return nil, err
			}
			p.known, _ = v.Replay(plan, o.Replay)
		}
		s.Peers = append(s.Peers, p)
	}
	s.Room = o.Tuning.New(room.Keys{Code: "SIMULA"}, o.settings(strategy), Epoch)
	return s, nil
}

// SummariseGroup summarises runs of a method, in one world or in several.
func SummariseGroup(method Method, players []string, all []GroupRun) GroupSimulation {
	s := GroupSimulation{Method: method, PercentPerPlayer: make(map[string]float64), Runs: len(all)}
	for player, name := range players {
		s.PercentPerPlayer[name] = Quantile(all, 0.5, func(r GroupRun) float64 { return r.Percent[player] })
		s.Percent += s.PercentPerPlayer[name] / float64(len(players))
	}
	found := slices.DeleteFunc(slices.Clone(all), func(r GroupRun) bool { return !r.Found })
	s.FoundRuns, s.Found = len(found), len(found) == len(all)
	s.ScoreMS = Quantile(found, 0.5, func(r GroupRun) float64 { return r.Score })
	s.OptimumMS = Quantile(all, 0.5, func(r GroupRun) float64 { return r.Optimum })
	s.RegretMS = Quantile(found, 0.5, func(r GroupRun) float64 { return r.Regret })
	s.RegretP95MS = Quantile(found, 0.95, func(r GroupRun) float64 { return r.Regret })
	s.Rounds = int(Quantile(all, 0.5, func(r GroupRun) float64 { return float64(r.Rounds) }))
	s.Seconds = Quantile(all, 0.5, func(r GroupRun) float64 { return r.Seconds })
	return s
}

// Quantile returns the value that a share of the runs stay within.
func Quantile[Run any](all []Run, share float64, of func(Run) float64) float64 {
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
