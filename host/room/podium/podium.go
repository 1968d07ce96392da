// Package podium shows the leaders of a running search: the best servers so far, by name and with
// every player's ping, and the countries of servers that could still win.
//
//	IsDue? ─▶ Rank ─▶ Ranking ─▶ Show ─▶ players are asked for names
//	                   │          ▲
//	                   └ forecasts┘
//
// All of it follows from the measurements, so nothing of it is saved.
package podium

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

const (
	// steps is the number of leaders that pages show.
	steps = 3
	// every is the shortest time between two rankings. share is the time that each ranked result
	// adds. A result takes some 200 ns, so the ranking takes a twentieth of a processor's time at
	// most.
	every = 250 * time.Millisecond
	share = 4 * time.Microsecond
	// nameAgain is the time after which players are asked once more for the name of a leader: some
	// of them may have heard it since.
	nameAgain = 2 * time.Second
)

// Podium is a round's search as pages see it. The zero value shows nothing yet.
type Podium struct {
	// standing has players' IDs in place of their names.
	standing *wire.Standing
	next     roomtime.Time
	// named is when players were last asked for a server's name.
	named map[int]roomtime.Time
}

// IsDue reports whether it is time for another ranking.
func (p *Podium) IsDue(now roomtime.Time) bool { return !now.Before(p.next) }

// Show puts a ranking on the podium. Results is the number of ranked results. Forecasts are the
// RTTs that the search expects, by server and player. Show returns the servers whose names players
// should report, so that the names are known before the choice. No program asks a server for its
// name, because it kept the name when it measured.
func (p *Podium) Show(r Ranking, forecasts map[int]map[people.ID]time.Duration, results int, now roomtime.Time) (nameless []int) {
	p.next = now.Add(max(every, time.Duration(results)*share))
	p.standing = &r.standing
	for i := range r.standing.Leaders {
		leader := &r.standing.Leaders[i]
		leader.Predicted = r.predict(leader.ID, forecasts[leader.ID])
		if leader.Name == "" && now.Sub(p.named[leader.ID]) >= nameAgain {
			nameless = append(nameless, leader.ID)
		}
	}
	if p.named == nil {
		p.named = map[int]roomtime.Time{}
	}
	for _, server := range nameless {
		p.named[server] = now
	}
	return nameless
}

// View returns the podium as pages see it, nil before the first ranking.
func (p *Podium) View(round int, names *people.Names) *wire.Standing {
	if p.standing == nil {
		return nil
	}
	s := *p.standing
	s.Round, s.Leaders = round, slices.Clone(s.Leaders)
	for i := range s.Leaders {
		leader := &s.Leaders[i]
		leader.RTT, leader.Predicted = people.Named(leader.RTT, names), people.Named(leader.Predicted, names)
	}
	return &s
}

// Ranking has the leaders at one moment.
type Ranking struct {
	standing wire.Standing
	table    *selection.Table
	players  []people.ID
}

// Rank returns the leaders by the measurements of a basis. Players are all players that the round
// counts on, and each needs a seat. A player without a column has measured nothing yet.
func Rank(b selection.Basis, players []people.ID) Ranking {
	b.Criteria.Top, b.Criteria.Reasons = steps, -1
	f := &field{
		Basis: b, filter: selection.NewFilter(b.Servers, b.Criteria), columns: b.Table.Players(), seats: len(players),
	}
	f.selected = f.filter.Select(b.Table)
	leaders := f.selected.Ranking[:min(steps, len(f.selected.Ranking))]
	if len(leaders) < steps && len(f.columns) > 0 {
		leaders = append(slices.Clip(leaders), f.possibleLeaders(steps-len(leaders))...)
	}
	return Ranking{f.standing(leaders), b.Table, players}
}

// Servers returns the leaders, the best first.
func (r Ranking) Servers() []int {
	servers := make([]int, len(r.standing.Leaders))
	for i, leader := range r.standing.Leaders {
		servers[i] = leader.ID
	}
	return servers
}

// predict returns the pings that the search expects of players who have not measured a server. They
// are rounded to ms, because they are no more exact. A player who got no answer has no forecast.
func (r Ranking) predict(server int, forecast map[people.ID]time.Duration) map[string]float64 {
	if forecast == nil {
		return nil
	}
	predicted := map[string]float64{}
	for _, player := range r.players {
		state := discovery.Unprobed
		if column := slices.Index(r.table.Players(), string(player)); column >= 0 {
			state, _ = r.table.At(column, server)
		}
		if rtt, is := forecast[player]; is && state == discovery.Unprobed {
			predicted[string(player)] = max(1, math.Round(discovery.MS(rtt)))
		}
	}
	return predicted
}

// field has the data for one ranking.
type field struct {
	selection.Basis
	filter   *selection.Filter
	selected selection.Selection
	// columns are the players of the table. seats is the number of seats that the players need.
	columns []string
	seats   int
}

// possibleLeaders returns servers that may lead once all players have measured them. Servers that more
// players have measured come first, and then nearer ones. None has failed to answer a player.
func (f *field) possibleLeaders(most int) []selection.Ranked {
	var possible []selection.Ranked
	players := len(f.columns)
	for server := range f.Servers.List {
		measured, unprobed := 0, 0
		one := selection.Ranked{Server: server}
		for column := range players {
			switch state, rtt := f.Table.At(column, server); state {
			case discovery.Answered:
				measured++
				one.MeanMS += discovery.MS(rtt)
				one.MaxMS = max(one.MaxMS, discovery.MS(rtt))
			case discovery.Unprobed:
				unprobed++
			}
		}
		if measured == 0 || unprobed == 0 || measured+unprobed < players || f.isFull(server) {
			continue
		}
		if barred, _ := f.filter.Bars(server); barred {
			continue
		}
		one.Addr = hostport.At(f.Servers.List[server].Addr)
		one.MeanMS /= float64(measured)
		one.Score = float64(players - measured) // the number of players who have yet to measure it
		possible = append(possible, one)
	}
	slices.SortFunc(possible, func(a, b selection.Ranked) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.MeanMS, b.MeanMS), a.Addr.Compare(b.Addr.AddrPort))
	})
	possible = possible[:min(most, len(possible))]
	for i := range possible {
		possible[i].Score, possible[i].RTT = 0, map[string]float64{}
		for column, player := range f.columns {
			if state, rtt := f.Table.At(column, possible[i].Server); state == discovery.Answered {
				possible[i].RTT[player] = discovery.MS(rtt)
			}
		}
	}
	return possible
}

// isFull reports whether a server is known to have too few seats for the players.
func (f *field) isFull(server int) bool {
	info := f.Servers.Info(server)
	return info != nil && info.MaxPlayers > 0 && info.MaxPlayers-info.Players < f.seats
}

// standing returns the leaders, and the servers by country, as pages see them.
func (f *field) standing(leaders []selection.Ranked) wire.Standing {
	s := wire.Standing{Leaders: []wire.Leader{}}
	for _, ranked := range leaders {
		var extra *float64
		if player, most := ranked.WorstExtra(); player != "" {
			extra = &most
		}
		s.Leaders = append(s.Leaders, wire.Leader{
			ID: ranked.Server, ServerCard: wire.CardOf(f.Servers.List[ranked.Server], f.Servers.Info(ranked.Server)),
			Complete: len(ranked.RTT) == len(f.columns), MeanMS: ranked.MeanMS, MaxMS: ranked.MaxMS, StdevMS: ranked.StdevMS,
			FigureMS: ranked.Figure(f.selected.By), ExtraMS: extra, RTT: ranked.RTT,
		})
	}
	places := map[string]*wire.Place{}
	for server := range f.Servers.List {
		country := f.Servers.List[server].Country
		place := places[country]
		if place == nil {
			place = &wire.Place{Country: country}
			places[country] = place
		}
		place.Listed++
		answered, fails := false, false
		for column := range f.columns {
			state, _ := f.Table.At(column, server)
			answered = answered || state == discovery.Answered
			fails = fails || state == discovery.Lost || state == discovery.Refused
		}
		leads := slices.ContainsFunc(s.Leaders, func(l wire.Leader) bool { return l.ID == server })
		place.Answered += count(answered)
		s.Answered += count(answered)
		place.Open += count(leads || answered && !fails && !f.isFull(server) && f.couldWin(s.Leaders, server))
	}
	for _, country := range slices.Sorted(maps.Keys(places)) {
		s.Places = append(s.Places, *places[country])
	}
	return s
}

// couldWin reports whether a server would be the best if it were next to the players who have not
// measured it.
func (f *field) couldWin(leaders []wire.Leader, server int) bool {
	measured, rtts, own := 0, make([]float64, len(f.columns)), make([]float64, len(f.columns))
	for column, player := range f.columns {
		own[column] = f.selected.Own[player].MS
		if state, rtt := f.Table.At(column, server); state == discovery.Answered {
			measured++
			rtts[column] = discovery.MS(rtt)
		}
	}
	switch {
	case measured == len(rtts):
		return false // all have measured it: it is among the leaders, or behind them
	case len(leaders) == 0 || !leaders[0].Complete:
		return true
	}
	rule, pings := rules.Of(f.selected.By), rules.Equal(rtts, own)
	pings.Side = f.selected.SidesOf(f.columns)
	leader := leaders[0]
	return rule.Order(rule.Bound(pings), rules.Of(rules.Mean).Bound(pings), 1) <= rule.Order(leader.FigureMS, leader.MeanMS, 1)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
