package trust

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/selection"
	"muster/selection/anomaly"
)

const (
	// overwhelming is a share of contradicted pings that no honest line explains. Among honest
	// players on PlanetLab's hosts the oddest has 54 %.
	overwhelming = 2. / 3
	// harmless is the extra RTT that the others may pay to keep a suspect player. Between
	// PlanetLab's hosts an odd but honest player costs 4 ms at most, and one who exaggerates
	// mostly 6 to 38.
	harmless = 5 * time.Millisecond
)

// Moment says how much a round knows when it judges its players.
type Moment int

const (
	// Searching is between two turns of a search, which will ask more.
	Searching Moment = iota
	// Found is a choice from the results of a search, which may find more if nothing suits.
	Found
	// Measured is a choice from all measurements.
	Measured
)

// Judge leaves out players whose numbers contradict everybody else's, as long as the others are the
// majority. A player with merely odd distances stays, with a note, as long as that costs the others
// little. A player whose distances a slow line would explain stays unless everyone would be better
// off with shorter distances. That is known once all have measured the best servers. The basis
// covers the players that count, and everybody lists all players. Servers' silence does not count
// against fresh players yet, because their lines may be down for a moment.
func (d *Doubts) Judge(b selection.Basis, everybody []people.ID, at Moment, fresh ...people.ID) (v Verdict) {
	d.judgeServers(&b, &v)
	group := b.Table.Players()
	found, excluded, players := d.Find(b), d.excluded(everybody), slices.Clone(group)
	for _, a := range excluded {
		players = append(players, a.Player)
	}
	counted := anomaly.Exclude(players, slices.Concat(excluded, found))
	odd := map[anomaly.Sign][]anomaly.Anomaly{}
	for _, a := range found {
		switch {
		case slices.Contains(counted, a.Player), a.Sign == anomaly.Slow && at == Searching:
		case a.Sign == anomaly.AnswersFew && slices.Contains(fresh, people.ID(a.Player)):
		case a.Sign == anomaly.Slow, a.Sign == anomaly.Geometry && float64(a.Servers) <= overwhelming*float64(a.Of):
			odd[a.Sign] = append(odd[a.Sign], a)
		default:
			d.exclude(a, &v)
		}
	}
	for _, sign := range []anomaly.Sign{anomaly.Geometry, anomaly.Slow} {
		if len(odd[sign]) == 0 {
			continue
		}
		var some, these []string
		for _, player := range group {
			switch {
			case slices.Contains(v.LeftOut, people.ID(player)):
			case isAbout(odd[sign], player):
				these = append(these, player)
			default:
				some = append(some, player)
			}
		}
		isHarmful := isHarmed(b, some, these, sign == anomaly.Slow, at)
		for _, a := range odd[sign] {
			player := people.ID(a.Player)
			if p := d.state.Players[player]; isHarmful {
				d.exclude(a, &v)
			} else if p.Odd == nil {
				p.Odd = &a
				d.state.set(player, p)
				v.note("room.odd-counts", "player", player, "oddity", a.Sentence())
			}
		}
	}
	return v
}

// exclude leaves out a player whose numbers contradict the others'.
func (d *Doubts) exclude(a anomaly.Anomaly, v *Verdict) {
	player := people.ID(a.Player)
	p := d.state.Players[player]
	p.Excluded = &a
	d.state.set(player, p)
	v.LeftOut = append(v.LeftOut, player)
	v.note("room.odd-numbers", "player", player, "oddity", a.Sentence())
}

// judgeServers leaves out servers whose pings are less than the distances between players allow.
// Such a server answers before it is asked, so its RTT means nothing.
func (d *Doubts) judgeServers(b *selection.Basis, v *Verdict) {
	for _, server := range anomaly.TooNear(b.Servers.List, b.Table) {
		if !slices.Contains(d.state.TooNear, server) {
			d.state.TooNear = append(d.state.TooNear, server)
			b.Criteria.Blacklist = append(slices.Clip(b.Criteria.Blacklist), address(&b.Servers, server))
			v.note("room.odd-server", "server", b.Servers.Called(server))
		}
	}
}

// isHarmed reports whether some players would be better off with a choice of their own than with
// the group's. If believed, it reports whether everyone would be, with credible pings in place of
// the others'.
func isHarmed(b selection.Basis, some, others []string, believed bool, at Moment) bool {
	b.Criteria.Top, b.Criteria.Reasons = 1, -1
	group, mine := slices.Concat(some, others), b.For(some)
	all, own := b.For(group).Select(), mine.Select()
	if own.Chosen == nil || all.Chosen == nil {
		return own.Chosen != nil && !(believed && at == Found) // a search may still find a server that suits all
	}
	judges, chosen := some, own
	if believed {
		judges, chosen = group, all
	}
	objective := chosen.Above(b.Criteria.Objective(judges), judges)
	var credible []func(server int) time.Duration
	for _, player := range judges[len(some):] {
		credible = append(credible, anomaly.Credible(b.Servers.List, b.Table.Of(append(slices.Clone(some), player))))
	}
	rtts := func(server int) (ms []float64) {
		for player := range some {
			_, rtt := mine.Table.At(player, server)
			ms = append(ms, discovery.MS(rtt))
		}
		for _, rtt := range credible {
			ms = append(ms, discovery.MS(rtt(server)))
		}
		return ms
	}
	with, without := rtts(all.Chosen.Server), rtts(own.Chosen.Server)
	for _, limit := range objective.Limits() { // the strictest first
		if keep, kept := slices.Max(with) <= discovery.MS(limit), slices.Max(without) <= discovery.MS(limit); keep != kept {
			return kept
		} else if kept {
			break
		}
	}
	return objective.Score(with)-objective.Score(without) > discovery.MS(harmless)
}

// Weightiest returns the player whose numbers alone decide a choice, if that costs the others more
// than is harmless. A plausible lie looks like a player far away, so only people can tell.
func (d *Doubts) Weightiest(s *selection.Selection) (most selection.Influence, is bool) {
	if s.Chosen == nil || s.Why == nil || maxDispensable(len(s.Players)) == 0 {
		return most, false
	}
	at := slices.IndexFunc(s.Why.Influences, func(i selection.Influence) bool { return i.With == "" })
	if at < 0 {
		return most, false
	}
	most = s.Why.Influences[at]
	return most, !d.state.Players[people.ID(most.Player)].Vouched && most.Gain >= discovery.MS(harmless)
}
