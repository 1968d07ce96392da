package anomaly

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
)

const (
	// besides is the number of neighbouring servers that together say how far a server should be.
	besides = 9
	// fewestWitnesses is how many other players must have measured a server before its neighbours
	// can be found. A server that looks the same to all of them, yet is far away, is rare with
	// seven witnesses and common with three.
	fewestWitnesses = 3
	// sharedDoubt, in microseconds, is divided by the number of witnesses. On any line a player may
	// be nearer to a server than to its neighbours by the quotient.
	sharedDoubt = 60_000
	// oneCity is how far apart servers of two ASes in one city look to others at most, in
	// microseconds. Between neighbouring cities of the worlds "cities" honest routes differ by a
	// third for one player while all seven others are 5 ms apart.
	oneCity = 4_000
	// widerBy is divided by the number of witnesses, too. Two servers may be farther apart for one
	// more player than for each of the n witnesses. If all differences below a limit are equally
	// likely, the limit exceeds 1 + 3/n times the largest of n in 5 to 13 cases of 100.
	widerBy = 3
)

// RouteDoubt is how much nearer to a server than its neighbours suggest a better route may bring a
// player, as a share. FarDoubt applies where one player's ping decides. The chosen server is then
// oddly near to a player who is far from all others. Those others found its neighbours, which may
// not be neighbours for this player.
const (
	RouteDoubt = 0.1
	FarDoubt   = 0.5
)

// besideBlocks are the address blocks that count as one voice each, because one operator's servers
// can claim anything.
var besideBlocks = discovery.Bits{V4: 24, V6: 48}

// Alone reports whether a player's RTT to one server is implausibly low, and how far its neighbours
// usually are from the player. Doubt is RouteDoubt or FarDoubt.
//
// Two servers s and t are neighbours if they look the same to all others q:
//
//	D(s, t) = max over q of |rtt(q, s) − rtt(q, t)|
//
// With n others, the player is rarely nearer to s than to t by more than (1 + widerBy/n) · D(s, t).
// So each of the nearest t, one per address block, suggests rtt(player, t) less that amount as a
// floor. The median of these floors is the least RTT to s that the player's own measurements allow.
// It bounds a lie about one server, about a few, or about a whole AS, because neighbours in other
// ASes are heard, too. It does not bound a player who also lies about all those.
func Alone(list []discovery.Server, table Table, player, server int, doubt float64) (usual time.Duration, alone bool) {
	own := microseconds(table, player, server)
	if own == 0 {
		return 0, false
	}
	// A player with exactly the same RTT sits behind the same address and copied it.
	var witnesses []int
	var theirs []float64
	for other := range table.Players() {
		if rtt := microseconds(table, other, server); other != player && rtt > 0 && rtt != own && len(witnesses) < maxWitnesses {
			witnesses, theirs = append(witnesses, other), append(theirs, rtt)
		}
	}
	if len(witnesses) < fewestWitnesses {
		return 0, false
	}
	block, as := besideBlocks.Of(list[server].Addr.Addr()), list[server].ASN
	for _, of := range []struct {
		isOutside func(t int) bool
		apart     float64
	}{
		{func(t int) bool { return block != besideBlocks.Of(list[t].Addr.Addr()) }, math.Inf(1)},
		{func(t int) bool { return as != 0 && as != list[t].ASN }, oneCity},
	} {
		floor, farther, known := around(list, table, player, server, witnesses, theirs, of.isOutside, of.apart)
		// A busy machine reads replies late, so the servers beside this one seem far.
		least := (1-doubt)*floor - sharedDoubt/float64(len(witnesses))
		if known && own < least && own < least-noises(list, table)[player].usual {
			return farther, true
		}
	}
	return 0, false
}

// around returns the least RTT to a server that a player's measurements of its neighbours allow, and
// how far those usually are. Theirs are the witnesses' RTTs to the server. Only servers outside the
// part of the list that the player may lie about are heard. Known is false if they are too few.
func around(list []discovery.Server, table Table, player, server int, witnesses []int, theirs []float64,
	isOutside func(t int) bool, most float64) (floor float64, usual time.Duration, known bool) {
	type beside struct {
		apart, rtt, least float64
		server            int
	}
	wider := 1 + widerBy/float64(len(witnesses))
	nearest := map[netip.Prefix]beside{}
	for t := range table.Measured() {
		rtt := microseconds(table, player, t)
		block := besideBlocks.Of(list[t].Addr.Addr())
		if rtt == 0 || !isOutside(t) {
			continue
		}
		heard, apart := 0, 0.0
		for i, other := range witnesses {
			if there := microseconds(table, other, t); there > 0 {
				heard, apart = heard+1, max(apart, math.Abs(there-theirs[i]))
			}
		}
		if heard < fewestWitnesses || 2*heard < len(witnesses) || apart > most {
			continue
		}
		if before, is := nearest[block]; !is || apart < before.apart {
			nearest[block] = beside{apart, rtt, rtt - wider*apart, t}
		}
	}
	if len(nearest) < besides {
		return 0, 0, false
	}
	all := make([]beside, 0, len(nearest))
	for _, b := range nearest {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b beside) int { return cmp.Or(cmp.Compare(a.apart, b.apart), cmp.Compare(a.server, b.server)) })
	all = all[:besides]
	slices.SortFunc(all, func(a, b beside) int { return cmp.Compare(a.least, b.least) })
	floor = all[besides/2].least
	slices.SortFunc(all, func(a, b beside) int { return cmp.Compare(a.rtt, b.rtt) })
	return floor, time.Duration(all[besides/2].rtt) * time.Microsecond, true
}
