package simulated

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"muster/host/room"
	"muster/internal/sim"
	"muster/selection/anomaly"
)

// trialRun is a run, with figures that only the tables of searches show.
type trialRun struct {
	sim.GroupRun
	// Kept says that the chosen server keeps the strictest limit that a server can keep for
	// everybody. FoundKept says it of the best that the search found. Share of the list keeps that
	// limit.
	Kept, FoundKept bool
	Share           float64
	// FoundRegret is the regret of the best server that the search found: the one that looked best
	// then, if the second looks, which may have been unlucky, found no better one.
	FoundRegret float64
	// Searched is when the search ended, in seconds. From Leading on, a server led it that is at
	// most [asGood] worse than the chosen one. Leads is how many led in all.
	Searched, Leading float64
	Leads             int
	// Clear and FoundClear are the regrets against the best of the servers that keep a limit with a
	// packet pair's error to spare.
	Clear, FoundClear float64
	// Doubts are the anomalies in the players' reports.
	Doubts []anomaly.Anomaly
}

// asGood is how many ms worse than the choice a server may be that players were shown, without
// anybody minding.
const asGood = 5

// lead is a server that leads a search from some time on, -1 if there is none.
type lead struct {
	at     time.Duration
	server int
}

// leads watches which servers lead a session's search, in turn, and when it ended.
type leads struct {
	*sim.Session
	all      []lead
	searched time.Duration
}

func (l *leads) watch(in room.Input) {
	progress, searches := l.Room.Progress()
	if _, is := in.(room.Tick); is && searches && !l.HasChosen && (len(l.all) == 0 || l.all[len(l.all)-1].server != progress.Best) {
		l.all = append(l.all, lead{l.Now, progress.Best})
	}
	if l.HasChosen && l.searched == 0 {
		l.searched = l.Now
	}
}

// from returns the time from which all leading servers had a score of most or less.
func (l *leads) from(truth sim.GroupTruth, most float64) time.Duration {
	from := l.searched
	for _, one := range slices.Backward(l.all) {
		if one.server < 0 {
			break
		}
		if score, _ := truth.Regret(one.server); score > most {
			break
		}
		from = one.at
	}
	return from
}

// runTrial is [Group.Run] for a table of searches.
func runTrial(g *sim.Group, method sim.Method, o sim.GroupOptions, run uint64) (trialRun, error) {
	o = o.WithDefaults(len(g.Players))
	s, err := g.NewSession(method, o, run)
	if err != nil {
		return trialRun{}, err
	}
	l := leads{Session: s}
	s.Watch = l.watch
	if err := s.Run(); err != nil {
		return trialRun{}, err
	}
	truth := g.Truth(o.Criteria)
	r := trialRun{GroupRun: s.Result(truth), Share: shareOf(truth)}
	if choice := s.Room.Snapshot().Choice; choice != nil {
		for _, d := range choice.Selection.Doubts {
			d.Player = g.Players[s.Number(d.Player)]
			r.Doubts = append(r.Doubts, d)
		}
	}
	if !r.Found {
		return r, nil
	}
	clear := clearOf(truth)
	apart := func(server int, regret float64) float64 {
		_, ms := clear.Regret(server)
		return min(regret, ms)
	}
	r.Clear = apart(r.Server, r.Regret)
	r.Kept = keeps(truth, r.Server)
	r.FoundRegret, r.FoundClear, r.FoundKept = r.Regret, r.Clear, r.Kept
	if r.Search.Rounds > 0 && r.Search.Best >= 0 {
		_, before := truth.Regret(r.Search.Best)
		r.FoundRegret = min(r.Regret, before)
		r.FoundClear = min(r.Clear, apart(r.Search.Best, before))
		r.FoundKept = r.Kept || keeps(truth, r.Search.Best)
	}
	r.Searched, r.Leads = l.searched.Seconds(), len(l.all)
	r.Leading = l.from(truth, r.Score+asGood).Seconds()
	return r, nil
}

// edge is the error of one packet pair. If a server is as near to a limit as that, no choice can
// tell whether it keeps it.
const edge = time.Millisecond

// clearOf returns the truth of the servers that keep a limit with the edge to spare.
func clearOf(t sim.GroupTruth) sim.GroupTruth {
	if len(t.Criteria.Limits) == 0 {
		return t
	}
	c := t.Criteria
	c.Limits = slices.Clone(c.Limits)
	for i := range c.Limits {
		c.Limits[i] -= edge
	}
	clear := t.Truth(c)
	if clear.Limit > 0 {
		clear.Limit += edge.Seconds() * 1000 // for the regret above the limit
	}
	return clear
}

// keeps reports whether everybody reaches a server within the limit that the best keeps.
func keeps(t sim.GroupTruth, server int) bool {
	for _, v := range t.Vantages {
		if rtt := v.RTT[server]; rtt < 0 || t.Limit > 0 && rtt > milliseconds(t.Limit) {
			return false
		}
	}
	return true
}

// shareOf returns how much of the list keeps the limit, if there is one, for everybody.
func shareOf(t sim.GroupTruth) (share float64) {
	if t.Limit == 0 {
		return 0
	}
	list := t.Vantages[0].Servers
	for server := range list {
		if keeps(t, server) {
			share += 1 / float64(len(list))
		}
	}
	return share
}

// Trial is an experiment of a sweep with each group.
type Trial func(g *sim.Group, seed uint64) (trialRun, error)

// Sweep makes so many worlds' groups, from a first seed on, and returns each trial's run with each
// of them.
func Sweep(group func(seed uint64) (*sim.Group, error), from uint64, worlds int, trials []Trial) ([][]trialRun, error) {
	all := make([][]trialRun, len(trials))
	for i := range all {
		all[i] = make([]trialRun, worlds)
	}
	return all, sim.Parallel(context.Background(), worlds, func(world int) error {
		seed := from + uint64(world)
		g, err := group(seed)
		for i := 0; i < len(trials) && err == nil; i++ {
			all[i][world], err = trials[i](g, seed)
		}
		return err
	})
}

// Report returns a line of figures. The regret is given at p50, p95 and most, for the choice and
// for the best server that the search found. Then come the percent of the list and the servers a
// player (the most), rounds, and seconds. Then comes how often the planner's claim about the
// possible gain, in whole milliseconds as players see it, was too low, and how often it missed a
// limit that 0.5 % of the list keep. Last come regret and claims without the servers that keep a
// limit by less than a packet pair's error.
func Report(all []trialRun) string {
	get := func(share float64, of func(trialRun) float64) float64 { return sim.Quantile(all, share, of) }
	none, broken, unclear, missed, limited := 0, 0, 0, 0, 0
	for _, r := range all {
		if r.Share >= manyKeep {
			limited++
			if !r.Kept {
				missed++
			}
		}
		if !r.Found {
			none++
		}
		if !r.claims() {
			broken++
			if r.FoundClear > r.claim() {
				unclear++
			}
		}
	}
	regret := func(r trialRun) float64 { return r.Regret }
	found := func(r trialRun) float64 { return r.FoundRegret }
	clear := func(r trialRun) float64 { return r.Clear }
	rounds := func(r trialRun) float64 { return float64(r.Rounds) }
	return fmt.Sprintf("regret %5.2f / %5.2f (%5.2f) ms, found %5.2f / %5.2f, %5.2f %% = %3.0f a player, rounds "+
		"%2.0f (%2.0f), %4.1f s, none %d, claim %4.1f (%4.1f) ms, broken %2d of %d, limit missed %d of %d, but "+
		"for edges %5.2f / %5.2f (%5.2f) ms, broken %d",
		get(0.5, regret), get(0.95, regret), get(1, regret), get(0.5, found), get(0.95, found), get(0.5, func(r trialRun) float64 {
			return slices.Max(r.Percent)
		}),
		get(0.5, func(r trialRun) float64 { return r.Search.Probes }), get(0.5, rounds), get(1, rounds),
		get(0.5, func(r trialRun) float64 {
			return r.Seconds
		}), none, get(0.5, trialRun.claim), get(0.95, trialRun.claim), broken, len(all), missed, limited,
		get(0.5, clear), get(0.95, clear), get(1, clear), unclear)
}

// manyKeep is the share of a list that must keep a limit before a search must find it. At that
// share Meridian's queries with several limits found nine in ten.
const manyKeep = 0.005

// claims reports whether the final claim holds: that no server is better by more, or that one may
// keep a stricter limit.
func (r trialRun) claims() bool {
	return r.FoundRegret <= r.claim() || !r.FoundKept && r.Search.Reach > 0
}

// claim returns the planner's claim of how much better a server may at most be than the best found
// so far.
func (r trialRun) claim() float64 {
	return math.Ceil(float64(r.Search.RegretBound) / float64(time.Millisecond))
}
