package room

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

const (
	// podium is how many leaders pages show.
	podium = 3
	// leadEvery is the shortest time from one look at who leads to the next, and leadShare
	// what each result that it goes through adds: of a processor's time it is a twentieth at
	// most, as one takes some 200 ns.
	leadEvery = 250 * time.Millisecond
	leadShare = 4 * time.Microsecond
	// nameAgain is after how long players are asked again what a leader without a name
	// calls itself: those who said nothing the first time may have heard it since.
	nameAgain = 2 * time.Second
)

// lead is who leads while the round's search goes on. It is reckoned from what was
// measured, and so is not saved.
type lead struct {
	standing *wire.Standing
	next     time.Time
	// named is when players were last asked for a server's name.
	named map[int]time.Time
}

// leads looks who leads, and asks for the names of those who do: they are known before
// the choice. Nobody looks while no page is open, nor while the room stands still.
func (r *Room) leads() {
	_, verifying := r.phase.(*Verifying)
	l := &r.round.lead
	if !r.isMeasuring() && !verifying || r.outage.IsPaused() || len(r.pages) == 0 && r.onlookers == 0 || r.now.Before(l.next) {
		return
	}
	results := 0
	for _, p := range r.round.players {
		results += len(p.witness.Probes())
	}
	l.next = r.now.Add(max(leadEvery, time.Duration(results)*leadShare))
	group := filtered(r.round.active(), r.round.hasMeasured)
	criteria := r.criteria(r.settings, group)
	criteria.Top, criteria.Reasons = podium, -1
	table := r.tableFor(group, r.counted())
	filter := selection.NewFilter(r.round.servers, criteria)
	selected := filter.Select(table)
	leaders := selected.Ranking[:min(podium, len(selected.Ranking))]
	if len(leaders) < podium && len(group) > 0 {
		leaders = append(slices.Clip(leaders), r.nearly(filter, table, podium-len(leaders))...)
	}
	l.standing = r.standing(leaders, table, &selected)
	r.revision++
	r.askNames(leaders)
}

// nearly are the servers that come next once all have measured them: those that most have,
// nearest first. Who asked one in vain is not to have it lead.
func (r *Room) nearly(filter *selection.Filter, table *selection.Table, most int) []selection.Ranked {
	var nearly []selection.Ranked
	players := len(table.Players())
	for server := range r.round.servers.List {
		measured, unprobed := 0, 0
		one := selection.Ranked{Server: server}
		for column := range players {
			switch state, rtt := table.At(column, server); state {
			case discovery.Answered:
				measured++
				one.MeanMS += rttMS(rtt)
				one.MaxMS = max(one.MaxMS, rttMS(rtt))
			case discovery.Unprobed:
				unprobed++
			}
		}
		if measured == 0 || unprobed == 0 || measured+unprobed < players || r.isFull(server) {
			continue
		}
		if barred, _ := filter.Bars(server); barred {
			continue
		}
		one.Addr = r.round.servers.List[server].Addr
		one.MeanMS /= float64(measured)
		one.Score = float64(players - measured) // the fewer miss it the sooner it leads
		nearly = append(nearly, one)
	}
	slices.SortFunc(nearly, func(a, b selection.Ranked) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.MeanMS, b.MeanMS), a.Addr.Compare(b.Addr))
	})
	nearly = nearly[:min(most, len(nearly))]
	for i := range nearly {
		nearly[i].Score, nearly[i].RTT = 0, map[string]float64{}
		for column, name := range table.Players() {
			if state, rtt := table.At(column, nearly[i].Server); state == discovery.Answered {
				nearly[i].RTT[name] = rttMS(rtt)
			}
		}
	}
	return nearly
}

// isFull reports whether a server is known to have no seats for the players.
func (r *Room) isFull(server int) bool {
	info := r.round.servers.Info(server)
	return info != nil && info.MaxPlayers > 0 && info.MaxPlayers-info.Players < len(r.round.active())
}

// standing is what pages see of it.
func (r *Room) standing(leaders []selection.Ranked, table *selection.Table, selected *selection.Selection) *wire.Standing {
	s := &wire.Standing{Round: r.round.number, Leaders: []wire.Leader{}}
	isLeader := map[int]bool{}
	for _, ranked := range leaders {
		isLeader[ranked.Server] = true
		var extra *float64
		if player, most := ranked.WorstExtra(); player != "" {
			extra = &most
		}
		s.Leaders = append(s.Leaders, wire.Leader{
			ID: ranked.Server, ServerCard: cardOf(r.round.servers, ranked.Server),
			Complete: len(ranked.RTT) == len(table.Players()), MeanMS: ranked.MeanMS, MaxMS: ranked.MaxMS, StdevMS: ranked.StdevMS,
			FigureMS: ranked.Figure(selected.By), ExtraMS: extra, RTT: ranked.RTT,
			Predicted: r.forecast(ranked.Server),
		})
	}
	places := map[string]*wire.Place{}
	for server := range r.round.servers.List {
		country := r.round.servers.List[server].Country
		place := places[country]
		if place == nil {
			place = &wire.Place{Country: country}
			places[country] = place
		}
		place.Listed++
		answered, fails := false, false
		for column := range table.Players() {
			state, _ := table.At(column, server)
			answered = answered || state == discovery.Answered
			fails = fails || state == discovery.Lost || state == discovery.Refused
		}
		place.Answered += count(answered)
		s.Answered += count(answered)
		place.Open += count(isLeader[server] || answered && !fails && !r.isFull(server) && couldWin(s.Leaders, table, server, selected))
	}
	for _, country := range slices.Sorted(maps.Keys(places)) {
		s.Places = append(s.Places, *places[country])
	}
	return s
}

// forecast is what the search expects of those who have not measured a server, in whole
// ms: it is no more exact. Who asked in vain has no ping to expect.
func (r *Room) forecast(server int) map[string]float64 {
	if r.round.search == nil {
		return nil
	}
	predicted := map[string]float64{}
	for name, rtt := range r.round.search.Forecast(server) {
		if p := r.round.player(name); p != nil && !p.leftOut && r.round.knowledge(p).At(server).State == discovery.Unprobed {
			predicted[name] = max(1, math.Round(rttMS(rtt)))
		}
	}
	return predicted
}

// couldWin reports whether a server that not all have measured would be the best if those
// who have not were next to it.
func couldWin(leaders []wire.Leader, table *selection.Table, server int, selected *selection.Selection) bool {
	measured, rtts, own := 0, make([]float64, len(table.Players())), make([]float64, len(table.Players()))
	for column, name := range table.Players() {
		own[column] = selected.Own[name].MS
		if state, rtt := table.At(column, server); state == discovery.Answered {
			measured++
			rtts[column] = rttMS(rtt)
		}
	}
	switch {
	case measured == len(rtts):
		return false // all are measured: it is among the leaders, or behind them
	case len(leaders) == 0 || !leaders[0].Complete:
		return true
	}
	return rules.Of(selected.By).Bound(rules.Equal(rtts, own)) <= leaders[0].FigureMS
}

// askNames asks those who have heard of a leader what it calls itself. No server is asked
// for that: the players' programs keep what it said when they measured it.
func (r *Room) askNames(leaders []selection.Ranked) {
	l := &r.round.lead
	var nameless []int
	for _, ranked := range leaders {
		if info := r.round.servers.Info(ranked.Server); (info == nil || info.Name == "") && r.now.Sub(l.named[ranked.Server]) >= nameAgain {
			nameless = append(nameless, ranked.Server)
		}
	}
	if len(nameless) == 0 {
		return
	}
	if l.named == nil {
		l.named = map[int]time.Time{}
	}
	for _, server := range nameless {
		l.named[server] = r.now
	}
	for _, p := range r.round.present() {
		heard := slices.DeleteFunc(slices.Clone(nameless), func(server int) bool {
			_, looked := p.witness.Looked(server) // and said the name along with it
			return looked || p.witness.At(server).State != discovery.Answered
		})
		if len(heard) > 0 {
			r.send(p, wire.Ask{Round: r.round.number, Servers: []int{}, Names: heard})
		}
	}
}
