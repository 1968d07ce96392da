package selection

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Distances are the RTTs between players, by the table's columns, one way or
// both; 0 is unknown. Nil is what a group has that never measured them.
type Distances [][]time.Duration

// How far RTTs may be from a triangle before they contradict it: routes are no
// straight lines, and lines have their own delays.
const (
	detour = 1.25
	slack  = 25_000 // microseconds
	// suspicious is the share of contradicted RTTs that makes a report doubtful.
	suspicious = 0.12
	// mostRows and mostWitnesses bound the work for large groups and lists.
	mostRows      = 512
	mostWitnesses = 16
)

func (d Distances) between(p, q int) (micros float64, known bool) {
	rtt := cmp.Or(d.at(p, q), d.at(q, p))
	return float64(rtt.Microseconds()), rtt > 0
}

func (d Distances) at(p, q int) time.Duration {
	if p < len(d) && q < len(d[p]) {
		return max(0, d[p][q])
	}
	return 0
}

// witness is another player whose distance is known.
type witness struct {
	player   int
	distance float64
}

// witnesses are the players nearest to one: theirs are the tightest bounds.
func (d Distances) witnesses(player, players int) []witness {
	near := top[witness]{limit: mostWitnesses, compare: func(a, b witness) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.player, b.player))
	}}
	for other := range players {
		if distance, known := d.between(player, other); known && other != player {
			near.add(witness{other, distance})
		}
	}
	return near.sorted()
}

// contradicted looks for a report of which more than 12 % lies outside the
// triangles with the players near by. Of two players who contradict each other
// nobody can tell who is right: both are doubtful.
func (d Distances) contradicted(_ Servers, table *Table, player int) (Doubt, bool) {
	doubt := Doubt{Sign: Geometry}
	witnesses := d.witnesses(player, len(table.players))
	step := max(1, table.Servers()/mostRows)
	for server := 0; server < table.Servers(); server += step {
		fits, known := table.fits(player, server, witnesses)
		if known {
			doubt.Of++
		}
		if known && !fits {
			doubt.Servers++
		}
	}
	return doubt, doubt.Of >= leastServers && float64(doubt.Servers) > suspicious*float64(doubt.Of)
}

// fits tells whether an RTT lies within the triangles of the witnesses, of whom
// some may lie: the tightest bounds are left out, one, or three in a group of
// twelve and more.
func (t *Table) fits(player, server int, witnesses []witness) (fits, known bool) {
	c := t.cell(player, server)
	if !c.answered() {
		return false, false
	}
	var high, low []float64
	for _, w := range witnesses {
		if theirs := t.cell(w.player, server); theirs.answered() {
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
	if len(t.players) >= 12 {
		liars = 3
	}
	liars = min(liars, len(high)-1)
	rtt := float64(c)
	return low[len(low)-1-liars] <= rtt && rtt <= high[liars], true
}

// Recheck is an RTT that is worth another probe before it counts.
type Recheck struct {
	Player, Server int
}

// Rechecks are the doubtful RTTs of some servers, the finalists say: all of a
// doubtful player's, those outside the triangles of the other players, and those
// far above or below what the player measured of the servers on the same address.
// They come by server as given, then by player.
func Rechecks(servers Servers, table *Table, between Distances, among []int) []Recheck {
	doubtful := make(map[string]bool)
	for _, d := range Doubts(servers, table, between) {
		doubtful[d.Player] = true
	}
	var rechecks []Recheck
	siblings := siblingsOf(servers, among)
	witnesses := make([][]witness, len(table.players))
	for player := range witnesses {
		witnesses[player] = between.witnesses(player, len(table.players))
	}
	for _, server := range among {
		for player, name := range table.players {
			fits, known := table.fits(player, server, witnesses[player])
			odd := table.oddOneOut(player, server, siblings[servers.List[server].Addr.Addr()])
			if doubtful[name] || known && !fits || odd {
				rechecks = append(rechecks, Recheck{player, server})
			}
		}
	}
	return rechecks
}

// siblingsOf are all servers on the addresses of some.
func siblingsOf(servers Servers, among []int) map[netip.Addr][]int {
	siblings := make(map[netip.Addr][]int, len(among))
	for _, server := range among {
		siblings[servers.List[server].Addr.Addr()] = nil
	}
	for server := range servers.List {
		addr := servers.List[server].Addr.Addr()
		if known, wanted := siblings[addr]; wanted {
			siblings[addr] = append(known, server)
		}
	}
	return siblings
}

// oddOneOut tells an RTT that differs by 20 ms and a quarter from the lower
// median of what the player measured of the servers on the same address.
func (t *Table) oddOneOut(player, server int, siblings []int) bool {
	c := t.cell(player, server)
	if !c.answered() {
		return false
	}
	var all []cell
	for _, sibling := range siblings {
		if o := t.cell(player, sibling); o.answered() {
			all = append(all, o)
		}
	}
	slices.Sort(all)
	median := all[(len(all)-1)/2]
	gap := max(c, median) - min(c, median)
	return gap > 20_000 && gap > min(c, median)/4
}

// TooNear are two players' RTTs to a server that are too low to be true: by way
// of it they would be far nearer to each other than they are. Somebody else
// answers in its place, near to each of them.
type TooNear struct {
	Server int
	A, B   int // players
}

// FakedPings looks for such servers among some, one pair of players each.
func FakedPings(table *Table, between Distances, among []int) []TooNear {
	var faked []TooNear
	for _, server := range among {
		if pair, found := table.tooNear(server, between); found {
			faked = append(faked, pair)
		}
	}
	return faked
}

func (t *Table) tooNear(server int, between Distances) (TooNear, bool) {
	for a := range t.players {
		for b := range a {
			direct, known := between.between(a, b)
			ca, cb := t.cell(a, server), t.cell(b, server)
			if known && ca.answered() && cb.answered() && float64(ca)+float64(cb) < direct/detour-slack {
				return TooNear{server, b, a}, true
			}
		}
	}
	return TooNear{}, false
}
