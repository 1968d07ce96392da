package rules_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"muster/selection/rules"
)

const (
	no = rules.Neither
	a  = rules.SideA
	b  = rules.SideB
)

// TestEvenSidesIsTheDifferenceOfTheMeans works out scores and bounds by hand.
func TestEvenSidesIsTheDifferenceOfTheMeans(t *testing.T) {
	for _, c := range []struct {
		rtts, weights []float64
		sides         []rules.Side
		score, bound  float64
	}{
		{[]float64{10, 30, 60, 50}, []float64{1, 1, 1, 1}, []rules.Side{a, a, b, b}, 35, 35},
		{[]float64{60, 50, 10, 30}, []float64{1, 1, 1, 1}, []rules.Side{a, a, b, b}, 35, 35}, // the other way round
		{[]float64{20, 30, 25}, []float64{1, 1, 1}, []rules.Side{a, a, b}, 0, 0},
		{[]float64{20, 40, 300}, []float64{1, 1, 1}, []rules.Side{a, b, no}, 20, 20},      // a caster far away
		{[]float64{10, 40, 60}, []float64{3, 1, 1}, []rules.Side{a, a, b}, 42.5, 42.5},    // 17.5 and 60
		{[]float64{10, 40, 60}, []float64{0, 1, 1}, []rules.Side{a, a, b}, 20, 20},        // no say
		{[]float64{0, 40, 60}, []float64{1, 1, 1}, []rules.Side{a, a, b}, 20, 0},          // the missing one may have 80
		{[]float64{0, 140, 60}, []float64{1, 1, 1}, []rules.Side{a, a, b}, 80, 10},        // and is not below 0
		{[]float64{90, 0, 70, 0}, []float64{1, 1, 1, 1}, []rules.Side{a, a, b, b}, 20, 0}, // both may be anywhere
		{[]float64{60, 0, 300}, []float64{1, 1, 1}, []rules.Side{b, a, b}, 180, 0},        // a has nothing yet: the mean
		{[]float64{10, 50}, []float64{1, 1}, []rules.Side{a, a}, 30, 30},                  // nobody on b: the mean
		{[]float64{10, 50, 30}, []float64{1, 1, 0}, []rules.Side{a, a, b}, 30, 30},        // nobody with a say on b
		{[]float64{10, 50}, []float64{1, 1}, nil, 30, 30},                                 // no sides
		{nil, nil, nil, 0, 0},
	} {
		pings := rules.Pings{RTT: c.rtts, Weight: c.weights, Side: c.sides}
		if got := rules.Of(rules.EvenSides).Score(pings); !isNear(got, c.score) {
			t.Errorf("%v, weights %v, sides %v: %v, want %v", c.rtts, c.weights, c.sides, got, c.score)
		}
		if got := rules.Of(rules.EvenSides).Bound(pings); !isNear(got, c.bound) {
			t.Errorf("%v, weights %v, sides %v: a bound of %v, want %v", c.rtts, c.weights, c.sides, got, c.bound)
		}
	}
}

// TestEvenSidesOrder checks which of two servers comes first.
func TestEvenSidesOrder(t *testing.T) {
	for _, c := range []struct {
		name                            string
		score, mean, otherScore, otherM float64
	}{
		{"the smaller difference", 10, 60, 20, 50},
		{"ten more even is worth much", 8, 120, 18, 60},
		{"nobody feels 4 ms of difference", 4, 32, 0, 90},
		{"a tie goes to the lower mean", 12, 40, 12, 41},
		{"a near tie as well", 30.3, 40, 30.1, 200},
		{"even or not, near 0", 0.3, 40, 0.1, 200},
	} {
		for _, ms := range []float64{1, 1000} { // of any unit
			first, second := rules.Of(rules.EvenSides).Order(c.score*ms, c.mean*ms, ms), rules.Of(rules.EvenSides).Order(c.otherScore*ms, c.otherM*ms, ms)
			if first >= second {
				t.Errorf("%s: %v and %v", c.name, first, second)
			}
		}
	}
}

// TestEvenSidesInvariants checks that the score has no side of its own: swapped sides change nothing,
// a player on neither side changes nothing, and all RTTs times a factor are the score times it.
func TestEvenSidesInvariants(t *testing.T) {
	random, rule := rand.New(rand.NewPCG(4, 4)), rules.Of(rules.EvenSides)
	swapped := map[rules.Side]rules.Side{no: no, a: b, b: a}
	for range 2000 {
		pings, _ := drawn(random)
		if !slices.Contains(pings.Side, a) || !slices.Contains(pings.Side, b) {
			continue
		}
		for player := range pings.Weight {
			pings.Weight[player] = float64(1 + random.IntN(3))
		}
		want := rule.Score(pings)
		other := pings
		other.Side = nil
		for _, side := range pings.Side {
			other.Side = append(other.Side, swapped[side])
		}
		if got := rule.Score(other); !isNear(got, want) {
			t.Fatalf("%+v: %v, and %v with the sides swapped", pings, want, got)
		}
		more := rules.Pings{
			RTT:    append(slices.Clone(pings.RTT), float64(1+random.IntN(300_000))),
			Weight: append(slices.Clone(pings.Weight), 1), Side: append(slices.Clone(pings.Side), no),
		}
		if got := rule.Score(more); !isNear(got, want) {
			t.Fatalf("%+v: %v, and %v with one on neither side", pings, want, got)
		}
		triple := pings
		triple.RTT = nil
		for _, rtt := range pings.RTT {
			triple.RTT = append(triple.RTT, 3*rtt)
		}
		if got := rule.Score(triple); !isNear(got, 3*want) {
			t.Fatalf("%+v: %v, and %v of three times the RTTs", pings, want, got)
		}
	}
}

// TestLeanIsTheDirectionOfAScore checks that the score of a rule that deviates grows along its lean,
// and not across it.
func TestLeanIsTheDirectionOfAScore(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		pings, _ := drawn(random)
		for _, rule := range rules.All() {
			if rule.Lean == nil || rule.Score(pings) < 100 || rule.Sides && !(slices.Contains(pings.Side, a) && slices.Contains(pings.Side, b)) {
				continue
			}
			lean, before := rule.Lean(pings), rule.Score(pings)
			factor := 0.0 // of the slope to the lean
			for player, of := range lean {
				moved := pings
				moved.RTT = slices.Clone(pings.RTT)
				moved.RTT[player] += 0.1
				slope := (rule.Score(moved) - before) / 0.1
				switch {
				case len(pings.RTT) < 2:
				case of == 0 && slope > 1e-4:
					t.Fatalf("%s of %+v: player %d has a slope of %v and no lean", rule.Name, pings, player, slope)
				case of == 0:
				case factor == 0:
					factor = slope / of
				case slope/of < 0.9*factor-1e-3 || slope/of > 1.1*factor+1e-3:
					t.Fatalf("%s of %+v: player %d has a slope of %v, and a lean of %v, the others %v times that", rule.Name, pings, player, slope, of, factor)
				}
			}
		}
	}
}

func TestEvenSidesSays(t *testing.T) {
	rule, figures := rules.Of(rules.EvenSides), rules.Figures{Mean: 30.04, Worst: 60, Figure: 4}
	if got := said(rule.Praise("10.0.0.1:1", figures, 0)); got != "10.0.0.1:1 has the most even sides: 4.0 ms between their averages, 30.0 ms on average for everyone" {
		t.Errorf("%q", got)
	}
	if got := said(rule.SoFar(figures, 0)); got != "4 ms between the sides, 30 ms on average" {
		t.Errorf("%q", got)
	}
}
