package selection

import (
	"cmp"
	"math"
	"slices"
)

// How far RTTs may be from a triangle before they contradict it: routes are no
// straight lines, and lines have their own delays.
const (
	detour = 1.25
	slack  = 25_000 // microseconds
	// suspicious is the share of contradicted RTTs that makes a report doubtful,
	// and certain by how many standard deviations of the count it must be
	// exceeded. Of honest players between PlanetLab's hosts 99 of 100 have up to
	// 17 %, made-up numbers have 23 % and more.
	suspicious = 0.15
	certain    = 2
	// mostRows and mostWitnesses bound the work for large groups and lists.
	mostRows      = 512
	mostWitnesses = 16
)

// geometry is how far the players are from each other, as far as their RTTs to
// common servers tell.
type geometry struct {
	table *Table
	// servers are those that two players at least have RTTs of.
	servers []int
	// witnesses are, for each player, the others, the nearest first: theirs are
	// the tightest bounds.
	witnesses [][]witness
}

// witness is another player, at most so many microseconds away: no farther than
// by way of any server, which is nearly the truth if one of the two has a server
// close by.
type witness struct {
	player   int
	distance float64
}

func newGeometry(t *Table) *geometry {
	g := &geometry{table: t, servers: t.common(), witnesses: make([][]witness, len(t.players))}
	for player := range t.players {
		near := top[witness]{limit: mostWitnesses, compare: func(a, b witness) int {
			return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.player, b.player))
		}}
		for other := range t.players {
			if distance := g.distance(player, other); other != player && !math.IsInf(distance, 1) {
				near.add(witness{other, distance})
			}
		}
		g.witnesses[player] = near.sorted()
	}
	return g
}

// common are servers that two players at least have RTTs of, spread evenly over
// the table if there are many.
func (t *Table) common() []int {
	var all, some []int
	for server := range t.sums {
		if t.sums[server].answered > 1 {
			all = append(all, server)
		}
	}
	for i := 0; i < len(all); i += (len(all) + mostRows - 1) / mostRows {
		some = append(some, all[i])
	}
	return some
}

// distance is the shortest way between two players by a server that both have an
// RTT of; infinite if there is none.
func (g *geometry) distance(p, q int) float64 {
	a, b := g.table.column(p), g.table.column(q)
	shortest := math.Inf(1)
	for _, server := range g.servers {
		if a[server].answered() && b[server].answered() {
			shortest = min(shortest, float64(a[server])+float64(b[server]))
		}
	}
	return shortest
}

// contradicted looks for a report of which more than a seventh lies outside the
// triangles with the players near by. Of two players alone who contradict each
// other nobody can tell who is right: both are doubtful.
func (g *geometry) contradicted(player int) (Doubt, bool) {
	doubt := Doubt{Sign: Geometry}
	for _, server := range g.servers {
		fits, known := g.fits(player, server)
		if known {
			doubt.Of++
		}
		if known && !fits {
			doubt.Servers++
		}
	}
	of := float64(doubt.Of)
	return doubt, doubt.Of >= leastServers && float64(doubt.Servers) > suspicious*of+certain*math.Sqrt(of*suspicious*(1-suspicious))
}

// fits tells whether an RTT lies within the triangles of the witnesses, of whom
// some may lie: the tightest bounds are left out, one, or three in a group of
// twelve and more.
func (g *geometry) fits(player, server int) (fits, known bool) {
	c := g.table.cell(player, server)
	if !c.answered() {
		return false, false
	}
	var high, low []float64
	for _, w := range g.witnesses[player] {
		if theirs := g.table.cell(w.player, server); theirs.answered() {
			high = append(high, detour*(w.distance+float64(theirs))+slack)
			low = append(low, float64(theirs)/detour-w.distance-slack)
		}
	}
	if len(high) == 0 {
		return false, false
	}
	slices.Sort(high)
	slices.Sort(low)
	liars := 1
	if len(g.table.players) >= 12 {
		liars = 3
	}
	liars = min(liars, len(high)-1)
	rtt := float64(c)
	return low[len(low)-1-liars] <= rtt && rtt <= high[liars], true
}
