package adaptive

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// A survey has several networks of each country answer, because one may do so by
// way of the other side of the world.
const (
	// surveyNetworks in a country, nearNetworks in the nearer third of them.
	surveyNetworks = 4
	nearNetworks   = 6
	nearerPart     = 3
	// lonelyNetworks more in every country where nobody is near: all of the
	// player's own country may be reached by such ways so far.
	lonelyNetworks = 4
	// As many of the largest blocks are looked into, whatever they are labelled as, as
	// the list has blockServers, and leastBlocks: near servers behind a wrong label are
	// many at once there.
	blockServers = 200
	leastBlocks  = 48
)

// survey asks one server of each of the largest networks of the countries of
// which too few have answered, may yet, or are remembered. So many further ones
// are asked in each.
func (a *acquisition) survey(further int, recalled *recall) []discovery.Probe {
	e := a.estimator
	nearest := make(map[topology.Node]time.Duration)
	for _, r := range e.replies {
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
	var probes []discovery.Probe
	for i, c := range countries {
		networks := surveyNetworks
		if nearerPart*i < len(countries) {
			networks = nearNetworks
		}
		probes = append(probes, a.askLargest(c, networks+further, recalled)...)
	}
	return probes
}

// surveyBlocks asks one server of each of the list's largest /16s, whatever their
// labels.
func (a *acquisition) surveyBlocks() []discovery.Probe {
	e := a.estimator
	largest := newTop(max(leastBlocks, e.tree.Size(topology.Root)/blockServers))
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

// askLargest asks one server of each of a country's largest ASes, and of its /16s
// if it has too few ASes, until n of them have answered, may yet, or are
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
