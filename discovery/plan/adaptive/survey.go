package adaptive

import (
	"cmp"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// A survey asks several networks of each country, because one may be reached by way of
// the other side of the world.
const (
	// surveyNetworks is how many networks in a country, and nearNetworks how many in
	// the nearer third of the countries.
	surveyNetworks = 2
	nearNetworks   = 4
	nearerPart     = 3
	// doubtNetworks more are asked if labels are missing or often wrong, because a
	// country then holds networks of others, and if nobody near is found.
	doubtNetworks = 2
	// A search for the nearest asks fewer, because its limit soon tells which countries
	// are too far: its stop weighs what is left there.
	fewNetworks     = 1
	fewNearNetworks = 3
	// It looks at no country as near that is this much over the limit.
	detour = 40 * time.Millisecond
	// lonelyNetworks more are asked in every country if nobody is near: so far all
	// routes to the player's own country may take such ways.
	lonelyNetworks = 6
	// The survey looks into a share of the largest blocks, across labels: one for every
	// blockServers of the list, and at least minBlocks. A wrong label hides many near
	// servers at once there.
	blockServers = 200
	minBlocks    = 48
)

// survey asks one server of each of the largest networks in the countries with too few
// answers. Servers that may answer yet and remembered ones count as answers. It asks
// this many further ones in each. A search for all near servers asks half as many again
// in a country that may hide more of them than may be missed (spread.go).
func (a *acquisition) survey(further int, recalled *recall) []discovery.Probe {
	e := a.estimator
	nearest := make(map[topology.Node]time.Duration)
	all, found := math.IsInf(a.wanted, 1), 0.0
	for _, r := range e.replies {
		if r.rtt < e.limit {
			found++
		}
		c := e.above(r.server, topology.Country)
		if rtt, ok := nearest[c]; !ok || r.rtt < rtt {
			nearest[c] = r.rtt
		}
	}
	var countries []topology.Node
	for c := topology.Root + 1; int(c) < len(e.nodes); c = e.tree.End(c) {
		if e.nodes[c].unasked > 0 {
			countries = append(countries, c)
		}
	}
	// The nearest first; those that have not answered could be.
	slices.SortStableFunc(countries, func(a, b topology.Node) int { return cmp.Compare(nearest[a], nearest[b]) })
	doubt := int(math.Round(doubtNetworks * e.labels.wrong / wrongShares[len(wrongShares)-1]))
	if found == 0 {
		doubt = doubtNetworks
	}
	var ases map[topology.Node]*spread
	if all {
		ases = e.distances()
	}
	var probes []discovery.Probe
	for i, c := range countries {
		networks, near := surveyNetworks+doubt, nearNetworks+doubt
		switch {
		case e.tree.Unknown(c):
			networks, near = surveyNetworks+doubtNetworks, nearNetworks+doubtNetworks
		case further > 0:
			networks, near = surveyNetworks, nearNetworks
		case !all:
			networks, near = fewNetworks, fewNearNetworks
		}
		if nearerPart*i < len(countries) && (all || nearest[c] < e.limit+detour) {
			networks = near
		}
		if replied, unasked, near := e.hidden(c, ases); all && near > max(a.missing*found, fewLeft) {
			networks = max(networks, replied+min(unasked, replied/2+1))
		}
		probes = append(probes, a.askLargest(c, networks+further, recalled)...)
	}
	return probes
}

// surveyBlocks asks one server of each of the list's largest /16s, across labels.
func (a *acquisition) surveyBlocks() []discovery.Probe {
	e := a.estimator
	largest := newTop(max(minBlocks, e.tree.Size(topology.Root)/blockServers))
	for i := range e.nodes {
		if i := topology.Node(i); e.tree.Level(i) == topology.Prefix16 && e.nodes[i].unasked > 0 {
			largest.offer(candidate{i, float64(e.tree.Size(i))})
		}
	}
	var probes []discovery.Probe
	for _, c := range largest.sorted() {
		if e.asked(c.node) == 0 {
			probes = append(probes, a.take(c.node, discovery.Calibration))
		}
	}
	return probes
}

// askLargest asks one server of each of a country's largest ASes, and of its /16s if it
// has too few ASes. It stops when n of them have answered, may answer yet, or are
// remembered.
func (a *acquisition) askLargest(country topology.Node, n int, recalled *recall) []discovery.Probe {
	e := a.estimator
	var probes []discovery.Probe
	for _, l := range []topology.Level{topology.AS, topology.Prefix16} {
		best, left := newTop(n), n
		for i, end := country+1, e.tree.End(country); i < end && left > 0; {
			if e.tree.Level(i) < l {
				i++
				continue
			}
			switch asked := e.asked(i); {
			case asked > e.outcomes[i].silent || recalled.surveyed(i):
				left--
			case asked == 0:
				best.offer(candidate{i, float64(e.tree.Size(i))})
			}
			i = e.tree.End(i)
		}
		if left <= 0 { // of its /16s, too
			break
		}
		largest := best.sorted()
		for _, c := range largest[:min(left, len(largest))] {
			probes = append(probes, a.take(c.node, discovery.Calibration))
		}
	}
	return probes
}
