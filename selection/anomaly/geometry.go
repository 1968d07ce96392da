package anomaly

import (
	"cmp"
	"math"
	"slices"
)

const (
	// detour is how many times as long as the straight line a route may be, and slack is the delay
	// that lines add, in microseconds, before RTTs contradict a triangle.
	detour = 1.25
	slack  = 25_000
	// suspicious is the share of contradicted RTTs that makes a report anomalous. The count must
	// also exceed this share by certain standard deviations. Of honest players between PlanetLab's
	// hosts 99 of 100 have up to 17 %. Made-up numbers have 23 % and more.
	suspicious = 0.15
	certain    = 2
	// oneNetwork is the largest share of a report that one network counts as: the largest network
	// of a list may have a fifth of its servers.
	oneNetwork = 0.05
	// A player may have a slow line if the share maxBeyond of the RTTs outside are too long, and
	// by no more than longestDetour, in microseconds. Of honest players between PlanetLab's hosts
	// the oddest two have up to 110 ms there. Players who triple every RTT over 50 ms mostly have
	// 200 and more.
	maxBeyond     = 0.9
	longestDetour = 150_000
	// maxRows and maxWitnesses bound the work for large groups and lists.
	maxRows      = 512
	maxWitnesses = 16
	// The tightest bounds on an RTT may be a liar's, and are dropped: fewLiars of them, or
	// manyLiars in a group of manyPlayers and more.
	fewLiars, manyLiars, manyPlayers = 1, 3, 12
)

// geometry holds how far the players are from each other, as their RTTs to common servers tell.
type geometry struct {
	r *reports
	// common are servers that at least two players have RTTs of, spread evenly over the reports if
	// there are many.
	common []int
	// witnesses are, for each player, the others, nearest first. Only the first maxWitnesses are
	// heard, because their bounds are the tightest.
	witnesses [][]witness
}

// witness is another player, with the shortest path to that player by any common server, in
// microseconds. This path bounds the distance between the two. It is nearly the true distance if
// either player has a server close by.
type witness struct {
	player   int
	distance float64
}

// newGeometry returns the geometry of some of the players.
func newGeometry(r *reports, players []int) *geometry {
	g := &geometry{r: r, witnesses: make([][]witness, len(r.players))}
	var all []int
	for server, answered := range r.answered {
		if answered > 1 {
			all = append(all, server)
		}
	}
	for i := 0; i < len(all); i += (len(all) + maxRows - 1) / maxRows {
		g.common = append(g.common, all[i])
	}
	for _, player := range players {
		var near []witness
		for _, other := range players {
			if distance := g.distance(player, other); other != player && !math.IsInf(distance, 1) {
				near = append(near, witness{other, distance})
			}
		}
		slices.SortFunc(near, func(a, b witness) int {
			return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.player, b.player))
		})
		g.witnesses[player] = near
	}
	return g
}

// without removes a liar from the witnesses and from the players to judge. It returns the players
// whose witnesses change with that. Only those are judged again, which matters where many lie.
func (g *geometry) without(liar int) (changed []int) {
	g.witnesses[liar] = nil
	for player, near := range g.witnesses {
		at := slices.IndexFunc(near, func(w witness) bool { return w.player == liar })
		if at < 0 {
			continue
		}
		g.witnesses[player] = slices.Delete(near, at, at+1)
		if at < maxWitnesses {
			changed = append(changed, player)
		}
	}
	return changed
}

// distance returns the shortest way between two players by a server that both have an RTT of, in
// microseconds, or infinity if there is none.
func (g *geometry) distance(p, q int) float64 {
	a, b := g.r.columns[p], g.r.columns[q]
	shortest := math.Inf(1)
	for _, server := range g.common {
		if a[server] > 0 && b[server] > 0 {
			shortest = min(shortest, float64(a[server])+float64(b[server]))
		}
	}
	return shortest
}

// contradicted looks for a report with too many RTTs outside the triangles with the players near
// by. If only two players are left and contradict each other, nobody can tell who is right: both
// are anomalous. One network counts as at most the share oneNetwork of the report, however many
// servers it has, because the way to it may be a detour for one player.
func (g *geometry) contradicted(player int) (Anomaly, bool) {
	a := Anomaly{Sign: Geometry}
	outside := map[uint32]int{}
	var beyond []float64 // what a line would have to add to each RTT outside
	for _, server := range g.common {
		rtt := float64(g.r.columns[player][server])
		shortest, longest, known := g.bounds(player, server)
		if rtt <= 0 || !known {
			continue
		}
		a.Of++
		if shortest <= rtt && rtt <= longest {
			continue
		}
		a.Servers++
		outside[g.r.networks[server]]++
		if rtt < shortest { // no line explains that
			longest = math.Inf(-1)
		}
		beyond = append(beyond, rtt-longest)
	}
	of, counted := float64(a.Of), outside[0]
	delete(outside, 0) // their networks are not known
	for _, servers := range outside {
		counted += min(servers, max(1, int(oneNetwork*of)))
	}
	if slices.Sort(beyond); len(beyond) > 0 && beyond[int(maxBeyond*float64(len(beyond)-1))] <= longestDetour {
		a.Sign = Slow
	}
	return a, a.Of >= minServers && float64(counted) > suspicious*of+certain*math.Sqrt(of*suspicious*(1-suspicious))
}

// bounds returns the shortest and the longest RTT, in microseconds, that a player can have to a
// server according to the witnesses' triangles. Known is false without witnesses. Some witnesses
// may lie. Witnesses behind one address share one measurement and count once.
func (g *geometry) bounds(player, server int) (shortest, longest float64, known bool) {
	var lows, highs [maxWitnesses]float64
	low, high := g.triangles(player, server, lows[:0], highs[:0])
	if len(high) == 0 {
		return 0, 0, false
	}
	liars := min(g.r.liars(), len(high)-1)
	return low[len(low)-1-liars], high[liars] + g.r.noises[player].own, true
}

// triangles appends each witness's bounds, and sorts them.
func (g *geometry) triangles(player, server int, low, high []float64) (lows, highs []float64) {
	var words [maxWitnesses]int64
	heard := words[:0]
	for _, w := range g.witnesses[player][:min(maxWitnesses, len(g.witnesses[player]))] {
		theirs := g.r.columns[w.player][server]
		if theirs <= 0 || slices.Contains(heard, theirs) {
			continue
		}
		heard = append(heard, theirs)
		high = append(high, detour*(w.distance+float64(theirs))+slack)
		low = append(low, (float64(theirs)-g.r.noises[w.player].witness)/detour-w.distance-slack)
	}
	slices.Sort(high)
	slices.Sort(low)
	return low, high
}

// liars returns how many players' words may be false.
func (r *reports) liars() int {
	if len(r.players) >= manyPlayers {
		return manyLiars
	}
	return fewLiars
}
