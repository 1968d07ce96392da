package coordinate

import "math"

// relatives predicts a player's RTT to a machine from what the player measured of
// its nearest relatives in the tree, and learns how far such predictions are off.
type relatives struct {
	*tree
	// means are each node's, by player; nil where nobody measured below.
	means [][]mean
	// errors are of predictions from a level, squared.
	errors [levels]mean
}

// mean of values that came one by one.
type mean struct {
	sum float32
	n   int32
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+float32(x), m.n+1 }

func (m mean) value() float64 { return float64(m.sum) / float64(m.n) }

// priorError is how far a prediction from a level is off, in ms, before any was
// tested; it counts like priorWeight tests.
var priorError = [levels]float64{60, 28, 14, 8, 5, 2}

func newRelatives(t *tree) *relatives {
	return &relatives{tree: t, means: make([][]mean, t.nodes())}
}

// add notes a player's first RTT to a machine, in ms.
func (r *relatives) add(player, players int, at int32, ms float64) {
	if predicted, l, known := r.nearest(player, at); known {
		off := min(math.Abs(ms-predicted), outlying*priorError[l])
		r.errors[l].add(off * off)
	}
	for node := at; node >= 0; node = r.parent[node] {
		if missing := players - len(r.means[node]); missing > 0 {
			r.means[node] = append(r.means[node], make([]mean, missing)...)
		}
		r.means[node][player].add(ms)
	}
}

// correct notes that a player's RTT to a machine is lower than it was, in ms.
func (r *relatives) correct(player int, at int32, by float64) {
	for node := at; node >= 0; node = r.parent[node] {
		r.means[node][player].sum -= float32(by)
	}
}

// nearest is the mean of the nearest relatives that the player measured, and the
// level of what they share with the machine.
func (r *relatives) nearest(player int, at int32) (ms float64, l level, known bool) {
	for node := at; node >= 0; node = r.parent[node] {
		if means := r.means[node]; player < len(means) && means[player].n > 0 {
			return means[player].value(), r.level[node], true
		}
	}
	return 0, everything, false
}

// without is what a player's RTT to a machine would be predicted to be if it had
// not been measured.
func (r *relatives) without(player int, at int32, ms float64) (predicted, off float64, known bool) {
	for node := at; r.level[node] >= network; node = r.parent[node] {
		if m := r.means[node][player]; m.n > 1 {
			return (float64(m.sum) - ms) / float64(m.n-1), r.off(r.level[node]), true
		}
	}
	return 0, 0, false
}

// off is how far predictions from a level are off, as standard deviation.
func (r *relatives) off(l level) float64 {
	e, prior := r.errors[l], priorError[l]
	return math.Sqrt((float64(e.sum) + priorWeight*prior*prior) / (float64(e.n) + priorWeight))
}

// predict is a player's RTT to a machine in ms, and the standard deviation of
// the error. Who has measured nothing is as far as anything can be.
func (r *relatives) predict(player int, at int32) (ms, off float64) {
	ms, l, known := r.nearest(player, at)
	if !known {
		return 150, 100
	}
	return ms, r.off(l)
}
