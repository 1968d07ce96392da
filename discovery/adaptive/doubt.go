package adaptive

import "math"

// heldUp is how likely a far reply is taken to be one from a near server that
// was held up on its way: the tail of the round trips, and a little more, since
// who is wrong about a network misses all of it.
const heldUp = 0.03

// mostDoubted is how many replies can have been held up all of them.
const mostDoubted = 3

// doubtOf is how likely all replies of a branch were held up, and its servers
// are near after all. The nearer its surroundings are, which are what prior
// says, the likelier. A reply is as doubtful for the twigs that it came through
// as for the branch they are all that is known of.
func (t *tree) doubtOf(n *node, prior float64) float64 {
	up := &t.nodes[n.parent]
	switch {
	case n.count <= 1-leastCount, n.count > mostDoubted, 2*n.sum >= n.count:
		return 0
	case up.level != anywhere && up.count < n.count+leastCount:
		return up.doubt
	}
	odds := prior / (1 - prior) * math.Pow(heldUp, n.count)
	return odds / (1 + odds)
}
