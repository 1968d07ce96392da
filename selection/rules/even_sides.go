package rules

import (
	"math"
	"time"
)

// EvenSides is the rule of the smallest difference between the mean RTTs of two sides. While a side
// has nobody with a say, the mean decides.
const EvenSides Name = "even-sides"

const (
	// evenEnough is a difference, in ms, that nobody feels. Up to it the sides are even, and the
	// lower mean wins.
	evenEnough = 5
	// meanPerDifference is how many ms of the mean outweigh one of difference, so that a difference
	// within the noise of measurements does not send everybody far away.
	meanPerDifference = 10
	// Without a limit of the group nobody's RTT may exceed ownLimitFactor times the lowest worst RTT,
	// or minOwnLimit ms: a server can also be even because it is far from everybody. Chosen, like the
	// others (bench/experiments/even-sides.md).
	ownLimitFactor, minOwnLimit = 1.5, 100
)

var evenSides = Rule{
	Name: EvenSides, Measure: EvenSides, Alone: Mean,
	Sides: true, Ladder: true, Deviates: true, Multiplies: true,
	Estimates: 6 * time.Millisecond, // as for fairness: an error may count in full
	Score:     sidesApart,
	Rank: func(score, mean, ms float64) float64 {
		return max(score, evenEnough*ms) + mean/meanPerDifference
	},
	Limit: func(lowestWorst, ms float64) float64 { return max(ownLimitFactor*lowestWorst, minOwnLimit*ms) },
	Lean:  sidesLean,
	Bound: sidesBound,
	Docs: Docs{
		Does: "two sides play each other, and their average pings are as even as can be; while a side is empty, the lowest average",
		Minimises: `$\lvert \bar r_A - \bar r_B \rvert$ of the sides' weighted means, under the strictest limit of a ladder ` +
			`that any server keeps`,
		Note: "up to 5 ms count as even, and 10 ms of the average outweigh 1 ms: then the lower average wins. " +
			"Without a limit nobody may be over 1.5 times the lowest worst ping, or 100 ms: far from everybody is even, too",
	},
}

// side holds what the players of a side measured of a server.
type side struct {
	// total and weight are of the RTTs that count, and missing is the weight of the others.
	total, weight, missing float64
}

// twoSides returns what the sides measured. Players on neither side are left out.
func twoSides(p Pings) (a, b side) {
	if p.Side == nil {
		return a, b
	}
	for player, rtt := range p.RTT {
		s := &a
		switch p.Side[player] {
		case SideB:
			s = &b
		case Neither:
			continue
		}
		if w, counts := p.count(player); counts {
			s.total += w * rtt
			s.weight += w
		} else {
			s.missing += w
		}
	}
	return a, b
}

// sidesApart returns the difference between the sides' weighted means. Until both sides have an RTT
// it returns the mean of all.
func sidesApart(p Pings) float64 {
	a, b := twoSides(p)
	if a.weight == 0 || b.weight == 0 {
		return average(p)
	}
	return math.Abs(a.total/a.weight - b.total/b.weight)
}

// sidesBound returns the least difference that the missing RTTs allow. They may be as high as they
// like, and at least 0.
func sidesBound(p Pings) float64 {
	a, b := twoSides(p)
	if a.weight+a.missing == 0 || b.weight+b.missing == 0 {
		return mean.Bound(p)
	}
	lowA, lowB := a.total/(a.weight+a.missing), b.total/(b.weight+b.missing)
	switch {
	case a.missing > 0 && b.missing > 0:
		return 0
	case a.missing > 0:
		return max(0, lowA-lowB)
	case b.missing > 0:
		return max(0, lowB-lowA)
	}
	return math.Abs(lowA - lowB)
}

// sidesLean returns how much the difference grows with each RTT.
func sidesLean(p Pings) []float64 {
	a, b := twoSides(p)
	lean := make([]float64, len(p.RTT))
	if a.weight == 0 || b.weight == 0 {
		return lean
	}
	for player := range p.RTT {
		w, counts := p.count(player)
		switch {
		case !counts:
		case p.Side[player] == SideA:
			lean[player] = w / a.weight
		case p.Side[player] == SideB:
			lean[player] = -w / b.weight
		}
		if a.total/a.weight < b.total/b.weight {
			lean[player] = -lean[player]
		}
	}
	return lean
}
