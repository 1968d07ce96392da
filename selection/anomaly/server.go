package anomaly

import (
	"math"
	"net/netip"
	"slices"

	"muster/discovery"
)

const (
	// maxJudges is the most players whose RTTs judge servers, spread evenly over a larger group.
	maxJudges = 16
	// Two players are far apart if servers in the share farBlocks of the address blocks say so, and
	// in at least fewestBlocks of them. One operator's servers can claim anything, and a full line
	// makes some servers look far.
	farBlocks    = 0.1
	fewestBlocks = 5
	// maxJudged is the largest share of servers that may lie. If more seem to, players do.
	maxJudged = 0.05
	// A group of somePlayers may have someLiars, and one of manyPlayers more.
	someLiars, somePlayers = 2, 8
)

// TooNear finds the servers that bring players nearer together than they can be. By way of a server
// s two players are at most
//
//	d(p, q) ≤ rtt(p, s) + rtt(q, s)
//
// apart, and by way of any other server t at least
//
//	d(p, q) ≥ rtt(p, t)/detour − rtt(q, t) − slack.
//
// A server that contradicts this answers before it is asked, or is not one machine in one place.
// Players may have invented their RTTs, too. So a server is accused only if the contradiction
// remains without any one player's word, or without any two players' of eight, or any three
// players' of twelve. With two players nobody can tell whether they lie or the server does. If many
// servers seem to lie at once, they are right. Servers are named by index, in ascending order.
func TooNear(list []discovery.Server, table Table) []int {
	return tooNear(list, table, noises(list, table), true)
}

// tooNear is TooNear. Unless it is sparing, it also accuses servers that some players may have lied
// about.
func tooNear(list []discovery.Server, table Table, noises []noise, sparing bool) (servers []int) {
	j := newJudges(list, table, noises)
	if j.furthest <= 0 {
		return nil
	}
	rtts, common := make([]float64, len(j.players)), 0
	for server := range table.Measured() {
		known := 0
		for i, player := range j.players {
			if rtts[i] = microseconds(table, player, server); rtts[i] > 0 {
				known++
			}
		}
		if known > 1 {
			common++
		}
		if j.isImpossible(rtts, sparing) {
			servers = append(servers, server)
		}
	}
	if float64(len(servers)) > maxJudged*float64(common) {
		return nil
	}
	return servers
}

// judges are some of the players, and the least distance between each two of them, in microseconds.
type judges struct {
	players  []int
	apart    [][]float64
	furthest float64
}

// newJudges subtracts the noise from pings, because noise says nothing about distance.
func newJudges(list []discovery.Server, table Table, noises []noise) *judges {
	j := &judges{}
	all := len(table.Players())
	for i := 0; i < all; i += (all + maxJudges - 1) / maxJudges {
		j.players = append(j.players, i)
	}
	// Each block of addresses has one vote on each pair: the median of its servers'.
	var rows [][]float64
	var blocks []int // each row's block
	numbers := map[netip.Prefix]int{}
	row := make([]float64, len(j.players))
	for server := 0; server < table.Servers(); server += (table.Servers() + maxRows - 1) / maxRows {
		known := 0
		for i, player := range j.players {
			if row[i] = microseconds(table, player, server); row[i] > 0 {
				known++
			}
		}
		if known < 2 {
			continue
		}
		prefix := discovery.Bits{V4: 16, V6: 32}.Of(list[server].Addr.Addr())
		block, isKnown := numbers[prefix]
		if !isKnown {
			block = len(numbers)
			numbers[prefix] = block
		}
		rows, blocks = append(rows, slices.Clone(row)), append(blocks, block)
	}
	j.apart = make([][]float64, len(j.players))
	for p := range j.players {
		j.apart[p] = make([]float64, len(j.players))
	}
	words, medians := make([][]float64, len(numbers)), make([]float64, 0, len(numbers))
	for p := range j.players {
		for q := range p {
			for block := range words {
				words[block] = words[block][:0]
			}
			for i, row := range rows {
				if row[p] > 0 && row[q] > 0 {
					pLeast, qLeast := row[p]-noises[j.players[p]].witness, row[q]-noises[j.players[q]].witness
					words[blocks[i]] = append(words[blocks[i]], max(pLeast/detour-row[q], qLeast/detour-row[p])-slack)
				}
			}
			medians = medians[:0]
			for _, w := range words {
				if len(w) > 0 {
					slices.Sort(w)
					medians = append(medians, w[(len(w)-1)/2])
				}
			}
			slices.Sort(medians)
			if nth := max(fewestBlocks, int(math.Ceil(farBlocks*float64(len(medians))))); nth <= len(medians) {
				d := medians[len(medians)-nth]
				j.apart[p][q], j.apart[q][p], j.furthest = d, d, max(j.furthest, d)
			}
		}
	}
	return j
}

// microseconds returns an RTT, or 0 if there is none.
func microseconds(table Table, player, server int) float64 {
	state, rtt := table.At(player, server)
	if state != discovery.Answered {
		return 0
	}
	return max(1, float64(rtt.Microseconds()))
}

// isImpossible reports whether a server with these RTTs is nearer to pairs of players than their
// distance allows. If sparing, the contradiction must remain without the players who may lie.
func (j *judges) isImpossible(rtts []float64, sparing bool) bool {
	nearest, second := math.Inf(1), math.Inf(1)
	for _, rtt := range rtts {
		if rtt > 0 {
			nearest, second = min(nearest, rtt), min(second, max(nearest, rtt))
		}
	}
	if nearest+second >= j.furthest {
		return false
	}
	var pairs [][2]int
	for p, a := range rtts {
		for q, b := range rtts[:p] {
			if a > 0 && b > 0 && a+b < j.apart[p][q] {
				pairs = append(pairs, [2]int{p, q})
			}
		}
	}
	liars := fewLiars
	switch n := len(rtts); {
	case n == 2 || !sparing:
		liars = 0
	case n >= manyPlayers:
		liars = manyLiars
	case n >= somePlayers:
		liars = someLiars
	}
	return !explained(pairs, liars)
}

// explained reports whether some of the players, at most liars of them, take part in all the pairs.
func explained(pairs [][2]int, liars int) bool {
	if len(pairs) == 0 || liars == 0 {
		return len(pairs) == 0
	}
	return slices.ContainsFunc(pairs[0][:], func(liar int) bool {
		rest := slices.DeleteFunc(slices.Clone(pairs), func(pair [2]int) bool { return pair[0] == liar || pair[1] == liar })
		return explained(rest, liars-1)
	})
}
