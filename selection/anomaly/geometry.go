package anomaly

import (
	"cmp"
	"math"
	"slices"
)

const (
	// detour is how many times as long as the straight line a route may be, and
	// slack what lines add of their own, in microseconds, before RTTs contradict a
	// triangle.
	detour = 1.25
	slack  = 25_000
	// suspicious is the share of contradicted RTTs that makes a report anomalous,
	// and certain by how many standard deviations of the count it must be
	// exceeded. Of honest players between PlanetLab's hosts 99 of 100 have up to
	// 17 %, made-up numbers have 23 % and more.
	suspicious = 0.15
	certain    = 2
	// oneNetwork is the share of a report that one network is at most: the largest of a
	// list may have a fifth of its servers.
	oneNetwork = 0.05
	// Whose RTTs outside are too long, all but the worst of them, mostBeyond, by no more than
	// longestDetour, in microseconds, may sit behind a slow line: of honest players between
	// PlanetLab's hosts the oddest two have up to 110 ms there, of those who triple what is
	// over 50 ms most have 200 and more.
	mostBeyond    = 0.9
	longestDetour = 150_000
	// mostRows and mostWitnesses bound the work for large groups and lists.
	mostRows      = 512
	mostWitnesses = 16
	// The tightest bounds on an RTT may be a liar's, and are left out: fewLiars of
	// them, manyLiars in a group of manyPlayers and more.
	fewLiars, manyLiars, manyPlayers = 1, 3, 12
)

// geometry is how far the players are from each other, as far as their RTTs to
// common servers tell.
type geometry struct {
	r *reports
	// common are servers that two players at least have RTTs of, spread evenly
	// over the reports if there are many.
	common []int
	// witnesses are, for each player, the others, the nearest first, of whom the first
	// mostWitnesses are heard: theirs are the tightest bounds.
	witnesses [][]witness
}

// witness is another player, at most so many microseconds away: no farther than
// by way of any server, which is nearly the truth if one of the two has a server
// close by.
type witness struct {
	player   int
	distance float64
}

// newGeometry is that of some of the players.
func newGeometry(r *reports, players []int) *geometry {
	g := &geometry{r: r, witnesses: make([][]witness, len(r.players))}
	var all []int
	for server, answered := range r.answered {
		if answered > 1 {
			all = append(all, server)
		}
	}
	for i := 0; i < len(all); i += (len(all) + mostRows - 1) / mostRows {
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

// without has a player be no witness any more, nor be judged, and returns whose judges are
// others by that: in a crowd of liars each is found after the other.
func (g *geometry) without(liar int) (changed []int) {
	g.witnesses[liar] = nil
	for player, near := range g.witnesses {
		at := slices.IndexFunc(near, func(w witness) bool { return w.player == liar })
		if at < 0 {
			continue
		}
		g.witnesses[player] = slices.Delete(near, at, at+1)
		if at < mostWitnesses {
			changed = append(changed, player)
		}
	}
	return changed
}

// distance is the shortest way between two players by a server that both have an
// RTT of, in microseconds; infinite if there is none.
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

// contradicted looks for a report of which too much lies outside the triangles
// with the players near by. Of two players alone who contradict each other nobody
// can tell who is right: both are anomalous. One network counts as a part of the report
// at most: the way to it may be a detour for one player, however many servers it has.
func (g *geometry) contradicted(player int) (Anomaly, bool) {
	a := Anomaly{Sign: Geometry}
	outside := map[uint32]int{}
	var beyond []float64 // what a line would have to add, of each RTT outside
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
		if rtt < shortest { // which no line explains
			longest = math.Inf(-1)
		}
		beyond = append(beyond, rtt-longest)
	}
	of, counted := float64(a.Of), outside[0]
	delete(outside, 0) // their networks are not known
	for _, servers := range outside {
		counted += min(servers, max(1, int(oneNetwork*of)))
	}
	if slices.Sort(beyond); len(beyond) > 0 && beyond[int(mostBeyond*float64(len(beyond)-1))] <= longestDetour {
		a.Sign = Slow
	}
	return a, a.Of >= leastServers && float64(counted) > suspicious*of+certain*math.Sqrt(of*suspicious*(1-suspicious))
}

// bounds are the shortest and the longest RTT, in microseconds, that the triangles of the
// witnesses leave a player to a server, if there are any, of whom some may lie. Those
// behind one address, who share what one of them measured, are one.
func (g *geometry) bounds(player, server int) (shortest, longest float64, known bool) {
	var lows, highs [mostWitnesses]float64
	low, high := g.triangles(player, server, lows[:0], highs[:0])
	if len(high) == 0 {
		return 0, 0, false
	}
	liars := min(g.r.liars(), len(high)-1)
	return low[len(low)-1-liars], high[liars] + g.r.noises[player].own, true
}

// triangles appends the bounds by each witness, in order.
func (g *geometry) triangles(player, server int, low, high []float64) (lows, highs []float64) {
	var words [mostWitnesses]int64
	heard := words[:0]
	for _, w := range g.witnesses[player][:min(mostWitnesses, len(g.witnesses[player]))] {
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

// liars is how many players' words may be false.
func (r *reports) liars() int {
	if len(r.players) >= manyPlayers {
		return manyLiars
	}
	return fewLiars
}
