package coordinate

import (
	"math"

	"muster/discovery/plan/topology"
)

// predictor predicts a player's RTT to an address from the mean of the player's RTTs to its nearest
// relatives in the tree. It also learns how far such predictions are off.
type predictor struct {
	tree    *topology.Tree
	players int
	// means are by player, a node's from index on. Addresses have none, because an address has one
	// RTT, which is the candidate's.
	index map[topology.Node]int
	means []mean
	// errors are the squared errors of predictions from a level.
	errors [topology.Levels]mean
	recall recall
}

// mean averages values that come one by one.
type mean struct {
	sum float32
	n   int32
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+float32(x), m.n+1 }

func (m mean) value() float64 { return float64(m.sum) / float64(m.n) }

// priorError is how far a prediction from a level is off, in ms, before any was tested. It counts
// like priorWeight tests. Fitted.
var priorError = [topology.Levels]float64{60, 28, 14, 8, 5}

const (
	priorWeight = 6
	// Errors and deviations count as at most outlying standard deviations.
	outlying = 3
	// Nothing is known of a player who has measured nothing, so this prediction, in ms, is as wide
	// as possible.
	nothingRTT, nothingError = 150, 100
)

func newPredictor(tree *topology.Tree, players int) *predictor {
	return &predictor{tree: tree, players: players, index: map[topology.Node]int{}}
}

// grow returns the index of a node, and gives it one.
func (r *predictor) grow(node topology.Node) int {
	i, known := r.index[node]
	if !known {
		i = len(r.means)
		r.index[node] = i
		r.means = append(r.means, make([]mean, r.players)...)
		r.recall.past = append(r.recall.past, make([]past, r.players)...)
		r.recall.tried = append(r.recall.tried, make([]tried, r.players)...)
	}
	return i
}

// add notes a player's first RTT to an address, in ms.
func (r *predictor) add(player int, at topology.Node, ms float64) {
	if predicted, l, known := r.nearest(player, at); known {
		off := min(math.Abs(ms-predicted), outlying*priorError[l])
		r.errors[l].add(off * off)
	}
	r.recall.test(player, r.line(at), ms)
	for node := r.tree.Parent(at); node >= 0; node = r.tree.Parent(node) {
		r.means[r.grow(node)+player].add(ms)
	}
}

// correct notes that a player's RTT to an address fell, in ms.
func (r *predictor) correct(player int, at topology.Node, by float64) {
	for node := r.tree.Parent(at); node >= 0; node = r.tree.Parent(node) {
		r.means[r.index[node]+player].sum -= float32(by)
	}
}

// line holds, by level, the indexes in means of the nodes from an address or node up to the list,
// or -1 where nobody measured anything below.
type line [topology.Levels]int32

func (r *predictor) line(at topology.Node) (l line) {
	for i := range l {
		l[i] = -1
	}
	for node := at; node >= 0; node = r.tree.Parent(node) {
		if i, known := r.index[node]; known {
			l[r.tree.Level(node)] = int32(i)
		}
	}
	return l
}

// country returns a line's part from the country up.
func (l line) country() line {
	for deeper := topology.AS; deeper < topology.Levels; deeper++ {
		l[deeper] = -1
	}
	return l
}

// nearest returns the mean of a player's RTTs to the nearest measured relatives of a node, and the
// level that they share with it. The node itself is one of them unless it is an address.
func (r *predictor) nearest(player int, at topology.Node) (ms float64, l topology.Level, known bool) {
	return r.nearestOn(player, r.line(at))
}

func (r *predictor) nearestOn(player int, on line) (ms float64, l topology.Level, known bool) {
	for l := len(on) - 1; l >= 0; l-- {
		if i := on[l]; i >= 0 && r.means[int(i)+player].n > 0 {
			return r.means[int(i)+player].value(), topology.Level(l), true
		}
	}
	return 0, topology.List, false
}

// count returns how many addresses below a node a player has measured.
func (r *predictor) count(player int, node topology.Node) int32 {
	i, known := r.index[node]
	if !known {
		return 0
	}
	return r.means[i+player].n
}

// predictOn returns a player's predicted RTT to a line's node in ms, and the standard deviation of
// the error. Measured relatives and forecasts count by their precision.
func (r *predictor) predictOn(player int, on line) (ms, off float64) {
	return r.predict(player, on, false)
}

// predictMean is predictOn for the mean of the RTTs to a line's part.
func (r *predictor) predictMean(player int, on line) (ms, off float64) {
	return r.predict(player, on, true)
}

func (r *predictor) predict(player int, on line, isMean bool) (ms, off float64) {
	then, doubt, recalled := r.recall.forecast(player, on, isMean)
	ms, l, known := r.nearestOn(player, on)
	switch {
	case !known && !recalled:
		return nothingRTT, nothingError
	case !known:
		return then, doubt
	case !recalled:
		return ms, r.off(l)
	}
	now, past := 1/(r.off(l)*r.off(l)), 1/(doubt*doubt)
	return (ms*now + then*past) / (now + past), 1 / math.Sqrt(now+past)
}

// without predicts a player's RTT to an address from relatives in its AS, as if the address had not
// been measured. Without relatives, what is remembered of its /24 counts.
func (r *predictor) without(player int, on line, ms float64) (predicted, off float64, known bool) {
	for l := topology.Prefix24; l >= topology.AS; l-- {
		if m := r.means[int(on[l])+player]; m.n > 1 {
			return (float64(m.sum) - ms) / float64(m.n-1), r.off(l), true
		}
	}
	return r.recall.before(player, on)
}

// straySD is by how many standard deviations a player's RTTs to a part differ from those to its surroundings if it
// stands elsewhere. Tuned (bench/experiments/memory.md).
const straySD = 1.5

// strays reports by level, for ASes and /16s, whether the next part on a line stands elsewhere than the rest: some
// player's RTTs differ, or what the player remembers. Without memories no part does: there a player's wrong word about
// one part would count against all that the others have measured around it.
func (r *predictor) strays(on line) (strays [topology.Levels]bool) {
	if r.recall.isVague || len(r.recall.leaves) == 0 {
		return strays
	}
	for l := topology.AS; l <= topology.Prefix16 && on[l+1] >= 0; l++ {
		part, whole, most := int(on[l+1]), int(on[l]), straySD*r.off(l)
		for player := range r.players {
			if of, all := r.means[part+player], r.means[whole+player]; of.n > 0 && all.n > of.n {
				rest := float64(all.sum-of.sum) / float64(all.n-of.n)
				strays[l] = strays[l] || math.Abs(of.value()-rest) > most
			}
			if of, all := r.recall.past[part+player], r.recall.past[whole+player]; of.sd > 0 && all.sd > 0 {
				strays[l] = strays[l] || math.Abs(float64(of.ms-all.ms)) > most
			}
		}
	}
	return strays
}

// believed returns what of a line tells of a player's RTT: only the country, if the player knows no more than the
// surroundings of a part that stands elsewhere.
func (r *predictor) believed(player int, on line, strays [topology.Levels]bool) line {
	for l := topology.Prefix24; l >= topology.AS; l-- {
		if i := int(on[l]); i >= 0 && r.knows(i, player) {
			if strays[l] {
				return on.country()
			}
			break
		}
	}
	return on
}

// knows reports whether a player has measured or remembers anything below the node of an index.
func (r *predictor) knows(i, player int) bool {
	return r.means[i+player].n > 0 || r.recall.past[i+player].sd > 0
}

// off returns the standard deviation of predictions from a level.
func (r *predictor) off(l topology.Level) float64 {
	e, prior := r.errors[l], priorError[l]
	return math.Sqrt((float64(e.sum) + priorWeight*prior*prior) / (float64(e.n) + priorWeight))
}
