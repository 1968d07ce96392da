// Package excess finds players whose pings are longer than their lines suggest. In a match who has
// the longer pings gets the nearer server, so a delay on purpose would pay. Only what the line
// confirms counts between the sides (selection.Criteria.Excess).
//
// The host knows the round trips of each player's connection. It stands somewhere, too, so some
// servers of the list are about as far from everybody as the host is. They are the landmarks:
//
//	ping to a landmark = round trip to the host + offset + excess
//
// The offset is the same for all players: it is what the landmark's and the host's lines differ by.
// The excess is 0 unless the player's pings are delayed and the connection is not. A slow home line,
// a busy radio cell or a VPN delays both.
//
//	pings ─▶ medians by AS ─▶ the AS that fits the round trips of most players ─▶ Find
//	the host's place ───────────────────────────┘                                  ▲
//	pings, and those of earlier evenings ─▶ what is longer on all ways ────────────┘
//
// Who delays the connection as well is found only by what the own program remembers of earlier
// evenings, if it does. Nobody is found by the line if no network of the list is about as far from
// most players as the host.
package excess

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/memory"
)

// Place is a network: where servers stand, or the host. Prefix stands for an unknown AS.
type Place struct {
	Country string
	ASN     uint32
	Prefix  netip.Prefix
}

// Tuned with bench/simulated TestOverstated, cities from seed 700000 (bench/experiments/even-sides.md).
const (
	// fewest is how many players it takes to find a landmark, and witnesses how many servers must
	// speak for an excess, because one ping may have met a queue.
	fewest, witnesses = 4, 2
	// clip is the most ms that a player counts against a landmark whose pings are longer, so that those
	// with an excess do not choose it. Pings that are shorter than the line suggests have no such
	// reason, and count up to clipBelow.
	clip, clipBelow = 8, 16
	// Offsets are around usualOffset, since the host's line is no better than a server's. Only what is
	// further off than likelyOffset counts against a landmark, in ms.
	usualOffset, likelyOffset = -6, 12
	// elsewhere counts against a landmark outside the host's country, and besideHost against one
	// there outside the host's AS, in ms a player.
	elsewhere, besideHost = 3, 0.6
	// A landmark fits if it costs at most dearest ms a player, as where half of them have an excess, if
	// at least the share fitting is within fit ms of it, and if those who are not above that are off by
	// at most close for each of them. Landmarks that cost up to tied more than the best are as good.
	dearest, fit, fitting, close, tied = 5.2, 3, 0.34, 2, 0.6
	// An excess of less than sure ms counts as nothing. Four of five landmarks must say so, or the share
	// agreeing of it.
	sure, agreeing = 10, 0.7
	// More than one in few players are believed to exceed their lines only if two landmarks say so, or
	// the host's own AS does: one elsewhere in a wide country may be on the wrong coast for a side.
	few = 4
	// shortest is the lowest ping that an excess leaves, in ms. One that would leave less multiplies.
	// mostTimes bounds its factor.
	shortest, mostTimes = 4, 3
)

// landmark is a network with the players' pings to it in ms, 0 if unknown, and to how many servers.
type landmark struct {
	Place
	pings        []float64
	servers      []int
	cost, offset float64
}

// Find returns what each player of a table has in excess. Lines are the lowest round trips of their
// connections to the host, 0 for those that tell nothing. Earlier is what their programs remember of
// earlier evenings; there may be fewer than players. At is where the host stands, as far as that is known.
func Find(servers []discovery.Server, table *selection.Table, lines []time.Duration, earlier [][]memory.Cell, at Place) []selection.Excess {
	remembered := since(servers, table, earlier)
	found, lines := slices.Clone(remembered), slices.Clone(lines)
	for player, e := range remembered {
		if e != (selection.Excess{}) {
			lines[player] = 0 // perhaps the line is delayed, too
		}
	}
	marks := landmarks(servers, table)
	for i := range marks {
		marks[i].judge(lines, at)
	}
	marks = slices.DeleteFunc(marks, func(m landmark) bool { return !m.fits(lines) })
	slices.SortStableFunc(marks, func(a, b landmark) int { return cmp.Compare(a.cost, b.cost) })
	if worse := slices.IndexFunc(marks, func(m landmark) bool { return m.cost > marks[0].cost+tied }); worse >= 0 {
		marks = marks[:worse]
	}
	for player := range lines {
		var over []float64
		servers := 0
		for _, m := range marks {
			if ms, is := m.over(player, lines); is {
				over, servers = append(over, ms), servers+m.servers[player]
			}
		}
		if servers < witnesses {
			continue
		}
		slices.Sort(over)
		ms := over[(len(over)-1)/2]
		if ms < sure || over[len(over)/5] < agreeing*sure {
			continue
		}
		found[player].MS = ms
		if ping := marks[0].pings[player]; lowest(table, player)-ms < shortest && ping > 0 {
			found[player] = selection.Excess{Times: ping / max(ping-ms, ping/mostTimes)}
		}
	}
	many := 0
	for player, e := range found {
		if e != remembered[player] {
			many++
		}
	}
	if many*few > len(lines) && len(marks) == 1 && marks[0].Place != at {
		return remembered
	}
	return found
}

// landmarks returns the networks of the list that players have pings of.
func landmarks(servers []discovery.Server, table *selection.Table) (marks []landmark) {
	pings, places := map[Place][][]float64{}, []Place(nil)
	players := len(table.Players())
	for server := range table.Measured() {
		at := placeOf(servers[server])
		for player := range players {
			if state, rtt := table.At(player, server); state == discovery.Answered {
				if pings[at] == nil {
					pings[at], places = make([][]float64, players), append(places, at)
				}
				pings[at][player] = append(pings[at][player], millis(rtt))
			}
		}
	}
	for _, at := range places {
		m := landmark{Place: at, pings: make([]float64, players), servers: make([]int, players)}
		for player, of := range pings[at] {
			if slices.Sort(of); len(of) > 0 {
				m.servers[player] = len(of)
				m.pings[player] = of[(len(of)-1)/2]
			}
		}
		marks = append(marks, m)
	}
	return marks
}

func placeOf(s discovery.Server) Place {
	if s.ASN != 0 {
		return Place{Country: s.Country, ASN: s.ASN}
	}
	return Place{Country: s.Country, Prefix: topology.Prefix16.Prefix(s.Addr.Addr())}
}

// judge finds the offset at which the landmark fits the players' lines best, and what it costs.
func (m *landmark) judge(lines []time.Duration, at Place) {
	var apart []float64
	known := 0
	for player, line := range lines {
		if line > 0 {
			known++
			if m.pings[player] > 0 {
				apart = append(apart, m.pings[player]-millis(line))
			}
		}
	}
	if m.cost = math.Inf(1); len(apart) < fewest || 4*len(apart) < 3*known {
		return
	}
	for _, offset := range apart {
		cost := max(0, math.Abs(offset-usualOffset)-likelyOffset)
		for _, ms := range apart {
			cost += max(min(ms-offset, clip), min(offset-ms, clipBelow))
		}
		if cost /= float64(len(apart)); cost < m.cost {
			m.cost, m.offset = cost, offset
		}
	}
	switch {
	case at.Country == "" || m.Place == at:
	case m.Country == at.Country:
		m.cost += besideHost
	default:
		m.cost += elsewhere
	}
}

// over returns by how many ms a player's ping exceeds what the line suggests.
func (m *landmark) over(player int, lines []time.Duration) (ms float64, is bool) {
	return m.pings[player] - millis(lines[player]) - m.offset, m.pings[player] > 0 && lines[player] > 0
}

// fits reports whether enough players are as far from the landmark as from the host.
func (m *landmark) fits(lines []time.Duration) bool {
	near, all, apart := 0, 0, 0.0
	for player := range lines {
		if ms, is := m.over(player, lines); is {
			if all++; ms <= fit {
				apart += math.Abs(ms)
			}
			if math.Abs(ms) <= fit {
				near++
			}
		}
	}
	return m.cost <= dearest && float64(near) >= fitting*float64(all) && apart <= close*float64(near)
}

// lowest returns a player's lowest ping in ms.
func lowest(table *selection.Table, player int) float64 {
	low := math.Inf(1)
	for server := range table.Measured() {
		if state, rtt := table.At(player, server); state == discovery.Answered {
			low = min(low, millis(rtt))
		}
	}
	return low
}

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }

// Near returns up to n servers near the host, half of them in its AS, for everybody to measure. It is nil
// if the host's country is not known.
func Near(servers []discovery.Server, at Place, n int) (near []int) {
	taken := map[Place]int{}
	for _, isOwn := range []bool{true, false} {
		for server, s := range servers {
			of, most := placeOf(s), 1
			if isOwn {
				most = n / 2
			}
			if at.Country != "" && s.Country == at.Country && (of == at) == isOwn && taken[of] < most && len(near) < n {
				taken[of]++
				near = append(near, server)
			}
		}
	}
	return near
}
