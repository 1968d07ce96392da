package room

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"muster/selection"
	"muster/selection/anomaly"
	"muster/selection/rules"
)

// mostRaised is how many times one choice is made again because a player alone is so near
// to what was chosen.
const mostRaised = 25

// alone says which of a player's pings count as more than the player reported, if some do.
func (r *round) alone(p *player) *anomaly.Anomaly {
	raised := p.witness.Raised()
	if len(raised) == 0 || p.trusted {
		return nil
	}
	var a anomaly.Anomaly
	for server := range raised {
		a = r.tooNearFor(p, server)
	}
	if a.Servers = len(raised); a.Servers > 1 {
		a.Addr = netip.AddrPort{}
	}
	return &a
}

// tooNearFor is what is odd about a player's ping of one server.
func (r *round) tooNearFor(p *player, server int) anomaly.Anomaly {
	_, answered := p.witness.Progress()
	return anomaly.Anomaly{Player: p.name, Sign: anomaly.Nearer, Servers: 1, Of: answered, Addr: r.connect(server)}
}

// checkAlone chooses again as long as the choice hangs on a ping that one player alone
// reports, against all that the player and the others measured beside that server, and the
// others lose by it. Such a ping counts as what is beside the server says.
func (r *Room) checkAlone() {
	for range mostRaised {
		before := r.round.selection
		if before == nil || before.Chosen == nil {
			return
		}
		server := before.Chosen.Server
		selected, alone := r.chooseWithout(before, r.mostAlone(r.round.chosenFor(), server))
		if len(alone) == 0 {
			return
		}
		for _, p := range alone {
			r.note("%s It counts as %.0f ms, not as %.0f", r.round.tooNearFor(p, server), rttMS(p.witness.Raised()[server]), rttMS(r.round.knowledge(p).At(server).RTT))
		}
		selected.LookedS = before.LookedS
		selected.Doubts = slices.Concat(r.round.excluded(), r.round.odd(), r.round.discredited())
		r.round.selection = &selected
	}
}

// lone is a player who alone is so near to a server, and how far it is by what is beside
// it, or by the player's own first report if that is more: a look that finds it far nearer
// than the report did is no better than a report.
type lone struct {
	*player
	reported, usual time.Duration
}

// mostAlone are the players who alone are so near to a server, whose word is the furthest
// from all else first.
func (r *Room) mostAlone(group []*player, server int) []lone {
	table := r.round.table(group)
	var alone []lone
	doubt := anomaly.FarDoubt
	if rules.Of(r.settings.By).Averages {
		doubt = anomaly.RouteDoubt
	}
	for i, p := range group {
		if usual, is := anomaly.Alone(r.round.servers.List, table, i, server, doubt); is && !p.trusted {
			_, reported := table.At(i, server)
			if probe, probed := p.witness.Probe(server); probed {
				usual = max(usual, probe.RTT)
			}
			alone = append(alone, lone{p, reported, usual})
		}
	}
	slices.SortStableFunc(alone, func(a, b lone) int { return cmp.Compare(b.usual-b.reported, a.usual-a.reported) })
	return alone[:min(len(alone), few(len(group)))]
}

// chooseWithout chooses again with as few of the players' pings for what was chosen raised
// as it takes for another choice. They are raised only if the others would lose by the first.
func (r *Room) chooseWithout(before *selection.Selection, alone []lone) (after selection.Selection, raised []*player) {
	server, group := before.Chosen.Server, r.round.chosenFor()
	for _, l := range alone {
		l.witness.Raise(server, l.usual)
		raised = append(raised, l.player)
		if after = r.selectFor(group); after.Chosen == nil || after.Chosen.Server != server {
			break
		}
	}
	if after.Chosen == nil || !r.losesBy(filtered(group, func(p *player) bool { return !slices.Contains(raised, p) }), before, &after) {
		for _, p := range raised {
			p.witness.Raise(server, 0)
		}
		return after, nil
	}
	return after, raised
}

// losesBy reports whether one choice is worse for some players than another, by more than
// is of no consequence.
func (r *Room) losesBy(some []*player, before, after *selection.Selection) bool {
	if before.Chosen.Server == after.Chosen.Server {
		return false
	}
	table, objective := r.round.table(some), after.Above(r.criteria(r.settings, some).Objective(names(some)), names(some))
	score := func(server int) float64 {
		rtts := make([]float64, len(some))
		for i := range some {
			_, rtt := table.At(i, server)
			rtts[i] = rttMS(rtt)
		}
		return objective.Score(rtts)
	}
	return score(before.Chosen.Server)-score(after.Chosen.Server) >= rttMS(worthLooking)
}
