package adaptive

import "math"

// labels weighs the servers' labels, their country and AS, against their neighbours by
// address:
//
//	label:    list ─▶ region ─▶ country ─▶ AS ─┐
//	                                           ├─ mixed ─▶ /16 ─▶ /24 ─▶ address
//	address:  list ─▶ /8 ─▶ /16 of all labels ─┘
//
// The share of wrong labels is learnt from the first reply of each /16: how much better
// did one predict it than the other? The share is one of a few values. Each is as
// likely as its predictions were good (a Bayesian mixture, as in context-tree
// weighting).
type labels struct {
	odds  [len(wrongShares)]float64 // of each share, as logarithms
	wrong float64                   // their mean
}

var wrongShares = [...]float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3}

// A label's prediction is never surer than this. A reply can be delayed, and a network
// of an AS can lie abroad without a wrong label.
const minLabelled, maxLabelled = 1e-4, 0.99

// firstOdds of the shares. Large ones are less likely, so labels are believed until
// they err. Tuned.
var firstOdds = [len(wrongShares)]float64{0, 0, 0, -1, -2, -3}

func newLabels() labels {
	l := labels{odds: firstOdds}
	l.learn()
	return l
}

// judge compares how well a /16's label and its address predicted its first server. It
// returns the chance that the label is wrong.
func (l *labels) judge(labelled, addressed float64, near bool) float64 {
	labelled = min(max(labelled, minLabelled), maxLabelled)
	if !near {
		labelled, addressed = 1-labelled, 1-addressed
	}
	stray := l.wrong * addressed / (l.wrong*addressed + (1-l.wrong)*labelled)
	for i, wrong := range wrongShares {
		l.odds[i] += math.Log((1-wrong)*labelled + wrong*addressed)
	}
	l.learn()
	return stray
}

func (l *labels) learn() {
	best, total, sum := l.odds[0], 0.0, 0.0
	for _, odds := range l.odds {
		best = max(best, odds)
	}
	for i, odds := range l.odds {
		weight := math.Exp(odds - best)
		total += weight
		sum += weight * wrongShares[i]
	}
	l.wrong = sum / total
}
