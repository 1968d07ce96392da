package selection

import (
	"cmp"
	"math"
	"slices"
)

// extremes returns the survivors beyond the ranking that [Alternatives] may want: the best of each kind.
// Their order is that of the scores. The pick is the chosen server.
func (r *round) extremes(pick int) (servers []candidate) {
	if len(r.view.players) < 2 {
		return nil
	}
	own := r.lowest()
	for _, figure := range [...]func(server int) float64{
		func(server int) float64 { return r.view.of(server).mean() },
		func(server int) float64 { return float64(r.view.of(server).worst) },
		func(server int) float64 { return r.span(server, pick) },
		func(server int) float64 { return r.bests(server, own) },
		func(server int) float64 {
			if !r.isOurs(server) {
				return math.Inf(1)
			}
			return r.score(server)
		},
	} {
		best, least := -1, math.Inf(1)
		for server := range r.fates {
			if !r.suits(server) {
				continue
			}
			if f := figure(server); f < least || best >= 0 && f == least && r.candidate(server).order < r.candidate(best).order {
				best, least = server, f
			}
		}
		has := func(c candidate) bool { return c.server == best }
		if best >= 0 && !slices.ContainsFunc(r.best, has) && !slices.ContainsFunc(servers, has) {
			servers = append(servers, r.candidate(best))
		}
	}
	slices.SortFunc(servers, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.order, b.order), r.servers.compare(a.server, b.server))
	})
	return servers
}

// lowest returns the lowest RTT of each player in view to a survivor.
func (r *round) lowest() []cell {
	own := slices.Repeat([]cell{lost}, len(r.view.players))
	for server := range r.fates {
		if r.suits(server) {
			for i, player := range r.view.players {
				own[i] = min(own[i], r.view.table.cell(player, server))
			}
		}
	}
	return own
}

// span is how far the RTTs to a server are apart. It is infinite if the worst is above the pick's, or
// nobody gains by it.
func (r *round) span(server, pick int) float64 {
	worst, least, gains := r.view.of(server).worst, lost, false
	if worst > r.view.of(pick).worst {
		return math.Inf(1)
	}
	for _, player := range r.view.players {
		rtt := r.view.table.cell(player, server)
		least = min(least, rtt)
		gains = gains || rtt+1000*apartMS <= r.view.table.cell(player, pick)
	}
	if !gains {
		return math.Inf(1)
	}
	return float64(worst - least)
}

// bests is below 0 by how many players have about their own lowest RTT at a server. It is infinite
// unless those are the most.
func (r *round) bests(server int, own []cell) float64 {
	n := 0
	for i, player := range r.view.players {
		if r.view.table.cell(player, server) < own[i]+1000*apartMS {
			n++
		}
	}
	if 2*n <= len(own) {
		return math.Inf(1)
	}
	return -float64(n)
}
