package discovery

import "time"

// forecast estimates how many near servers are still unprobed. What the tree
// expects of servers is held against what came of asking such servers, in three
// classes of expectation: the tables of the kernel need not fit this part of the
// network.
type forecast struct {
	classes [3]record
}

// record is what was expected of a class of servers and what was seen.
type record struct{ expected, seen float64 }

// The classes are of p under few, up to some, and over it.
const (
	few, some = 0.02, 0.15
	// memory is the share of a record that one more result leaves.
	memory = 0.998
	// mostTrust is the largest factor by which a record corrects expectations.
	mostTrust = 2
)

func classOf(p float64) int {
	switch {
	case p < few:
		return 0
	case p < some:
		return 1
	}
	return 2
}

// note compares what was expected of a server that answered with what came.
func (f *forecast) note(expected float64, near bool) {
	r := &f.classes[classOf(expected)]
	r.expected = memory*r.expected + expected
	r.seen *= memory
	if near {
		r.seen++
	}
}

// correct is the expectation in the light of the class's record.
func (f *forecast) correct(p float64) float64 {
	r := f.classes[classOf(p)]
	return p * min(mostTrust, (r.seen+0.5)/(r.expected+0.5))
}

// remaining is how many near servers are expected among the unprobed, and
// whether any of them is likely.
func (s *search) remaining(f *forecast) (near float64, ripe bool) {
	s.estimate(closing)
	for i := range s.nodes {
		m := &s.nodes[i]
		if m.level != machine || m.unprobed == 0 {
			continue
		}
		m.q = m.p
		near += float64(m.unprobed) * f.correct(m.p) * s.alive(m)
		ripe = ripe || m.p >= likely
	}
	return near, ripe
}

// closing is the trust in parents with which the end is judged: most of what is
// left lies in branches that few servers were asked of, and whose neighbours
// are far.
const closing = 0.25

// nothingLeft says that the near servers that are left are fewer than the share
// that may be missed. While there are likely ones, they must be far fewer.
func nothingLeft(found, left float64, ripe bool, missing float64) bool {
	const sure, fraction = 0.4, 0.25
	if ripe {
		missing *= sure
	}
	return left <= max(missing*(found+left), fraction)
}

// claimOf is the claim when near servers were found and about as many are left
// as forecast, give or take a factor of two.
func claimOf(found, left float64, limit time.Duration) Claim {
	share := func(left float64) float64 { return (found + 1e-9) / (found + left + 1e-9) }
	return Claim{Low: share(2 * left), High: share(left / 2), Limit: limit}
}
