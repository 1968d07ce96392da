package rules_test

import (
	"testing"

	"muster/selection/rules"
)

func TestPairwiseIsTheSumOfTheTwoHighest(t *testing.T) {
	for _, c := range []struct {
		rtts, weights []float64
		want          float64
	}{
		{[]float64{10, 60, 20, 40}, []float64{1, 1, 1, 1}, 100},
		{[]float64{60, 10, 60}, []float64{1, 1, 1}, 120},
		{[]float64{60}, []float64{1}, 60},
		{[]float64{60, 0, 10}, []float64{1, 1, 1}, 70},
		{[]float64{60, 50, 10}, []float64{0, 1, 1}, 60},     // no say
		{[]float64{10, 60, 20}, []float64{1, 2, 1}, 120},    // is both of the pair
		{[]float64{10, 60, 20}, []float64{1, 0.5, 0.5}, 50}, // 30 + 10 + 10
		{nil, nil, 0},
	} {
		if got := rules.Of(rules.Pairwise).Score(rules.Pings{RTT: c.rtts, Weight: c.weights}); !isNear(got, c.want) {
			t.Errorf("%v, weights %v: %v, want %v", c.rtts, c.weights, got, c.want)
		}
	}
}

func TestPairwiseSays(t *testing.T) {
	rule, figures := rules.Of(rules.Pairwise), rules.Figures{Mean: 30.04, Worst: 60, Figure: 100}
	if got := said(rule.Praise("10.0.0.1:1", figures, 0)); got != "10.0.0.1:1 has the lowest sum of the two highest pings: 100.0 ms, with 30.0 ms on average" {
		t.Errorf("%q", got)
	}
	if got := said(rule.SoFar(figures, 0)); got != "100 ms for the slowest pair" {
		t.Errorf("%q", got)
	}
}
