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
	// besides is how many servers beside another one say how far that is.
	besides = 9
	// fewestWitnesses is how many others must have measured a server before it can be said
	// what is beside it. A server far from one that looks the same to them all is hard to
	// find with seven of them, and easy with three.
	fewestWitnesses = 3
	// sharedDoubt, in microseconds, is shared by the witnesses: so much nearer to a server
	// than what is beside it a player may be on any line.
	sharedDoubt = 60_000
	// widerBy is shared by the witnesses, too: two servers may be farther apart for one more
	// player than for each of the n witnesses. If all differences below a limit are equally
	// likely, 5 to 13 times in 100 the limit is above 1 + 3/n times the largest of n.
	widerBy = 3
)

// RouteDoubt is by which share of it a player may be nearer to a server than what is beside
// it says, for a better route. Where one player's ping decides it is FarDoubt: the server
// that is chosen is one that is oddly near to a player who is far from all others, and what
// is beside it for these need not be so for that player.
const (
	RouteDoubt = 0.1
	FarDoubt   = 0.5
)

// besideBlocks are the blocks of addresses that have one voice each: one operator's servers
// can say anything.
var besideBlocks = discovery.Bits{V4: 24, V6: 48}

// Alone reports whether a player alone is as near to a server as the player says, and how
// far the servers beside it are from the player as a rule. Doubt is RouteDoubt or FarDoubt.
//
// Two servers s and t are beside each other if they look the same to all others q:
//
//	D(s, t) = max over q of |rtt(q, s) − rtt(q, t)|
//
// The player is rarely nearer to s than to t by more than (1 + widerBy/n) · D(s, t), with n
// others. The median of rtt(player, t) less that over the nearest t, one of each block of
// addresses, is the least that the player's own measurements say of s. It bounds a lie about
// one server, or a few. It does not bound a player who lies about all that is beside it, too.
func Alone(list []discovery.Server, table Table, player, server int, doubt float64) (usual time.Duration, alone bool) {
	own := microseconds(table, player, server)
	if own == 0 {
		return 0, false
	}
	// Who has the very same RTT has it from the player, behind the same address.
	var witnesses []int
	var theirs []float64
	for other := range table.Players() {
		if rtt := microseconds(table, other, server); other != player && rtt > 0 && rtt != own && len(witnesses) < mostWitnesses {
			witnesses, theirs = append(witnesses, other), append(theirs, rtt)
		}
	}
	if len(witnesses) < fewestWitnesses {
		return 0, false
	}
	type beside struct {
		apart, rtt, least float64
		server            int
	}
	wider := 1 + widerBy/float64(len(witnesses))
	nearest := map[netip.Prefix]beside{}
	for t := range table.Measured() {
		rtt := microseconds(table, player, t)
		block := besideBlocks.Of(list[t].Addr.Addr())
		if t == server || rtt == 0 || block == besideBlocks.Of(list[server].Addr.Addr()) {
			continue
		}
		known, apart := 0, 0.0
		for i, other := range witnesses {
			if there := microseconds(table, other, t); there > 0 {
				known, apart = known+1, max(apart, math.Abs(there-theirs[i]))
			}
		}
		if known < fewestWitnesses || 2*known < len(witnesses) {
			continue
		}
		if before, is := nearest[block]; !is || apart < before.apart {
			nearest[block] = beside{apart, rtt, rtt - wider*apart, t}
		}
	}
	if len(nearest) < besides {
		return 0, false
	}
	all := make([]beside, 0, len(nearest))
	for _, b := range nearest {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b beside) int { return cmp.Or(cmp.Compare(a.apart, b.apart), cmp.Compare(a.server, b.server)) })
	all = all[:besides]
	slices.SortFunc(all, func(a, b beside) int { return cmp.Compare(a.least, b.least) })
	floor := all[besides/2].least
	slices.SortFunc(all, func(a, b beside) int { return cmp.Compare(a.rtt, b.rtt) })
	usual = time.Duration(all[besides/2].rtt) * time.Microsecond
	if least := (1-doubt)*floor - sharedDoubt/float64(len(witnesses)); own < least {
		// A busy machine reads replies late, so that what is beside the server seems far.
		return usual, own < least-noises(list, table)[player].own
	}
	return usual, false
}
