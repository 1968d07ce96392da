package excess

import (
	"math"
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/memory"
)

// Tuned with bench/simulated TestOverstated, cities from seed 700000.
const (
	// parts is how many parts of the internet must have been measured before. A median of longer ms or more
	// counts, if the share alike of the parts are longer by half of it, or of its factor: a route may have changed.
	parts, longer, alike = 6, 10, 0.8
)

// since returns by how much each player's pings exceed those of earlier evenings. Routes change one by one,
// but a delay is on all of them.
func since(servers []discovery.Server, table *selection.Table, earlier [][]memory.Cell) []selection.Excess {
	found := make([]selection.Excess, len(table.Players()))
	measured := map[netip.Prefix][]int{}
	for server := range table.Measured() {
		at := topology.Prefix24.Prefix(servers[server].Addr.Addr())
		measured[at] = append(measured[at], server)
	}
	for player := range min(len(earlier), len(found)) {
		var more, times []float64
		var pairs [][2]float64
		for _, cell := range earlier[player] {
			sum, n := 0.0, 0.0
			for _, server := range measured[cell.Prefix] {
				if state, rtt := table.At(player, server); state == discovery.Answered {
					sum, n = sum+millis(rtt), n+1
				}
			}
			if n > 0 && cell.Level() == topology.Prefix24 {
				pairs = append(pairs, [2]float64{sum / n, cell.MS})
				more, times = append(more, sum/n-cell.MS), append(times, sum/n/cell.MS)
			}
		}
		if len(pairs) < parts {
			continue
		}
		slices.Sort(more)
		slices.Sort(times)
		ms, factor := more[len(more)/2], times[len(times)/2]
		few := int((1 - alike) * float64(len(pairs)))
		if ms < longer || more[few] < ms/2 && times[few]-1 < (factor-1)/2 {
			continue
		}
		added, multiplied := 0.0, 0.0
		for _, p := range pairs {
			added, multiplied = added+math.Abs(p[0]-p[1]-ms), multiplied+math.Abs(p[0]-p[1]*factor)
		}
		if found[player].MS = ms; multiplied < added {
			found[player] = selection.Excess{Times: factor}
		}
	}
	return found
}
