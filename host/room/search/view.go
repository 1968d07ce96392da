package search

import (
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/rules"
)

// This file has the results of a search for other packages.

// Progress returns how far the search has come.
func (s *Search) Progress() coordinate.Progress { return s.planner.Progress() }

// IsWorthMore reports whether more servers would likely help once the search behind a vote is over.
// Until then it returns false, because the search may still find something.
func (s *Search) IsWorthMore() bool {
	if s == nil || !s.isBehind {
		return false
	}
	p := s.planner.Progress()
	return p.Done && p.Best >= 0 && (p.RegretBound > worthMore || p.Reach > 0)
}

// asksFew reports whether some players were asked for few servers. The planner's estimate of the
// possible gain leaves out their other servers.
func (s *Search) asksFew() bool {
	return slices.ContainsFunc(s.groups, func(g *group) bool { return g.isFew && !g.isBroken })
}

// Hidden returns servers that may be better than they look.
func (s *Search) Hidden(n int) []int { return s.planner.Hidden(n) }

// Contenders returns n servers, apart from but, that would win if one ping was wrong. On a short
// list one delayed packet can hide a server, because the search measured none of its neighbours.
func (s *Search) Contenders(n int, but []int) []int {
	if !s.IsShort() || s.asksFew() {
		return nil // a player who asks few servers asks only the finalists
	}
	return without(s.planner.Contenders(n+len(but)), but, n)
}

// Untried returns n servers, apart from but, that are likely better but that discreet players have
// not measured. It goes by forecasts of their pings.
func (s *Search) Untried(n int, but []int) []int {
	if !s.asksFew() {
		return nil
	}
	return without(s.planner.Untried(max(0, n)), but, n)
}

// without returns the first n servers that are not among others.
func without(servers, others []int, n int) []int {
	servers = slices.DeleteFunc(servers, func(server int) bool { return slices.Contains(others, server) })
	return servers[:max(0, min(n, len(servers)))]
}

// Predict returns forecast RTTs, by player and server, for servers that failed to answer exactly
// one player. They are for the players who did not ask.
func (s *Search) Predict(table *selection.Table) map[people.ID]map[int]time.Duration {
	all := map[people.ID]map[int]time.Duration{}
	for server := range table.Measured() {
		silent := 0
		var unprobed []people.ID
		for column, player := range table.Players() {
			switch state, _ := table.At(column, server); state {
			case discovery.Answered:
			case discovery.Unprobed:
				unprobed = append(unprobed, people.ID(player))
			default:
				silent++
			}
		}
		if silent != 1 {
			continue
		}
		for _, player := range unprobed {
			at, _ := s.find(player)
			if at < 0 {
				continue
			}
			if all[player] == nil {
				all[player] = map[int]time.Duration{}
			}
			all[player][server] = s.planner.Predict(at, server)
		}
	}
	return all
}

// Forecast returns the forecast RTTs of a server, by player, if anything is known.
func (s *Search) Forecast(server int) map[people.ID]time.Duration {
	rtts := map[people.ID]time.Duration{}
	for i, g := range s.groups {
		rtt, known := s.planner.Forecast(i, server)
		for _, player := range g.players {
			if known && !g.isBroken {
				rtts[player] = rtt
			}
		}
	}
	return rtts
}

// Outcome describes a search that is over. isDry says that it ran out of servers with most of the
// organiser's addition unused.
func (s *Search) Outcome(groups [][]Member) (note sentence.Sentence, isDry bool) {
	progress, listed := s.planner.Progress(), len(s.list)
	claim := sentence.Of("room.claim", "ms", math.Ceil(discovery.MS(progress.RegretBound)))
	switch {
	case s.asksFew():
		claim = sentence.Of("room.claim-few")
	case progress.Reach > 0:
		claim = sentence.Of("room.claim-within", "ms", math.Ceil(discovery.MS(progress.RegretBound)), "limit", progress.Reach)
	}
	if s.more > 0 {
		left := left(s.more, groups)
		switch {
		case left == s.more:
			note = sentence.Of("room.searched-dry")
		case progress.Best < 0:
			note = sentence.Of("room.searched-more-none", "n", s.more-left)
		default:
			note = sentence.Of("room.searched-more", "n", s.more-left, "claim", claim)
		}
		return note, 2*left > s.more
	}
	each := progress.Probes * float64(len(s.groups)) / float64(s.players())
	if int(math.Round(max(each, progress.Probes))) >= listed { // players who share an address share the questions
		return sentence.Of("room.searched-all", "n", listed), false
	}
	return sentence.Of("room.searched", "n", math.Ceil(each), "listed", listed, "claim", claim), false
}

// View returns how far the search is.
func (s *Search) View(by selection.Rule) *wire.Search {
	progress := s.planner.Progress()
	v := &wire.Search{Rounds: progress.Rounds, Found: progress.Best >= 0}
	if !v.Found {
		return v
	}
	best := selection.Servers{List: s.list[progress.Best : progress.Best+1]}
	var players []string
	var rtts []time.Duration
	for i, g := range s.groups {
		if !g.isBroken {
			players = append(players, people.Texts(g.players)...)
			rtts = append(rtts, slices.Repeat([]time.Duration{s.planner.Predict(i, progress.Best)}, len(g.players))...)
		}
	}
	if len(players) == 0 {
		return &wire.Search{Rounds: progress.Rounds} // all have just left
	}
	table := selection.NewTable(players, 1)
	for column, rtt := range rtts {
		table.Set(column, 0, discovery.Answered, rtt)
	}
	chosen := selection.Select(best, table, selection.Criteria{By: selection.Mean, Sides: s.sides}).Chosen
	v.MeanMS, v.MaxMS, v.StdevMS = chosen.MeanMS, chosen.MaxMS, chosen.StdevMS
	v.FigureMS = chosen.Figure(by)
	if rules.Of(by).OwnBests {
		v.FigureMS = max(0, progress.Score)
		v.ExtraMS = &v.FigureMS
	}
	if progress.Rounds >= claimAfter && !s.asksFew() {
		v.OwnMS = discovery.MS(progress.Own)
		gain := discovery.MS(progress.RegretBound)
		v.GainMS, v.ReachMS = &gain, discovery.MS(progress.Reach)
	}
	return v
}
