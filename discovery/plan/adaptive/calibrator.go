package adaptive

import (
	"math"

	"muster/discovery/plan/topology"
)

// calibrator corrects the estimator's expectations by the replies of the servers asked,
// because the likelihood table may not fit this part of the network. The corrected
// log-odds are a line over the expected ones. It has one slope where little is expected
// and another where much is (beta calibration, Kull et al. 2017):
//
//	corrected log-odds
//	│             large ╱
//	│                  ╱
//	│          ______╱   ◀─ shift
//	│  ____╱‾‾
//	│ small
//	└──────────┴────────▶ log-odds of p
//	           0
//
// The servers asked are mostly near ones. Their lesson carries over to the far larger
// number of servers with low expectations, but less than along one line: a near network
// that disappoints says little about far ones.
type calibrator struct {
	// all is the curve of all servers. Those of the depths deviate from it.
	all    curve
	depths [depths]curve
}

// depth tells what a server has in common with a measured one. The table's errors
// differ: if no server of an AS was measured, a surprise concerns a whole network.
type depth uint8

const (
	sameCountry depth = iota // the same country at most
	sameAS                   // the same AS in the country
	samePrefix               // the same /16 or more
	depths
)

// expectation is the expected chance that a server is near, as a bin of its log-odds,
// and how much was known about its neighbours.
type expectation struct {
	bin   uint8
	known depth
}

// Expectations are sorted into bins of their log-odds.
const (
	oddsBins = 48
	minOdds  = -10.0
	oddsStep = 0.4
)

func expect(p float64, known depth) expectation {
	bin := int((math.Log(p/(1-p)) - minOdds) / oddsStep)
	return expectation{uint8(min(max(0, bin), oddsBins-1)), known}
}

func (s *stretch) expectation() expectation {
	switch {
	case s.known < topology.AS:
		return expect(s.p, sameCountry)
	case s.known == topology.AS:
		return expect(s.p, sameAS)
	}
	return expect(s.p, samePrefix)
}

// oddsOf returns the log-odds in the middle of a bin.
func oddsOf(bin int) float64 { return minOdds + (float64(bin)+0.5)*oddsStep }

func logistic(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// curve is the correction of one depth, and the records behind it.
type curve struct {
	records     [oddsBins]record
	corrections [oddsBins]float64
	// The corrected log-odds are shift + small · ln p - large · ln(1-p).
	shift, small, large float64
}

// record counts the servers of one expectation that answered, and the near ones among
// them.
type record struct{ answered, near float64 }

// gaussian is the prior of a curve's parameters: means and standard deviations.
type gaussian struct{ shift, small, large, shiftSD, slopeSD float64 }

// Prior deviations of the table, and of the depths from each other, in log-odds.
// Fitted: the deviations of lines between places and worlds, at least doubled, because
// worlds are not the internet.
const (
	allShiftSD, allSlopeSD     = 1.0, 0.6
	depthShiftSD, depthSlopeSD = 0.3, 0.1
	// slopesSD is the deviation between the two slopes. Tuned.
	slopesSD = 0.6
	// fading is the share of a record that stays after another result: about the last
	// thousand count.
	fading = 0.997
	// Newton's method takes newtonSteps. Each moves a parameter by newtonLongest at
	// most, so that it does not overshoot.
	newtonSteps   = 8
	newtonLongest = 0.5
	// minSlope keeps the order of expectations. maxSmall bounds the slope where
	// little is expected. Otherwise one disappointing network would push the many
	// servers with low expectations to almost 0. Tuned.
	minSlope = 0.3
	maxSmall = 1.2
)

func newCalibrator() *calibrator {
	c := &calibrator{all: curve{small: 1, large: 1}}
	for i := range c.depths {
		c.depths[i] = c.all
		c.depths[i].tabulate()
	}
	return c
}

// note compares the expectation for a server with its answer.
func (c *calibrator) note(expected expectation, near bool) {
	for _, l := range []*curve{&c.all, &c.depths[expected.known]} {
		r := &l.records[expected.bin]
		r.answered++
		if near {
			r.near++
		}
	}
}

// correct returns the expectation after correction by the records.
func (c *calibrator) correct(e expectation) float64 {
	return c.depths[e.known].corrections[e.bin]
}

// learn fits the curves to the records, then fades the records for this many fresh
// results.
func (c *calibrator) learn(fresh int) {
	c.all.learn(fresh, gaussian{0, 1, 1, allShiftSD, allSlopeSD})
	for i := range c.depths {
		c.depths[i].learn(fresh, gaussian{c.all.shift, c.all.small, c.all.large, depthShiftSD, depthSlopeSD})
	}
}

func (l *curve) learn(fresh int, before gaussian) {
	for range newtonSteps {
		step := l.step(before)
		for i, parameter := range []*float64{&l.shift, &l.small, &l.large} {
			*parameter += min(max(step[i], -newtonLongest), newtonLongest)
		}
	}
	l.small, l.large = min(max(l.small, minSlope), maxSmall), max(l.large, minSlope)
	l.fade(fresh)
	l.tabulate()
}

// fade shrinks the records to make room for this many fresh results.
func (l *curve) fade(fresh int) {
	fade := math.Pow(fading, float64(fresh))
	for i := range l.records {
		l.records[i].answered *= fade
		l.records[i].near *= fade
	}
}

// fade shrinks all records to make room for this many fresh results.
func (c *calibrator) fade(fresh int) {
	c.all.fade(fresh)
	for i := range c.depths {
		c.depths[i].fade(fresh)
	}
}

// step returns the way from the curve to the maximum of the posterior, approximated by
// a parabola.
func (l *curve) step(before gaussian) [3]float64 {
	shift, slope := 1/(before.shiftSD*before.shiftSD), 1/(before.slopeSD*before.slopeSD)
	h00, h11, h22 := shift, slope, slope
	var h01, h02, h12 float64
	g0, g1, g2 := (before.shift-l.shift)*h00, (before.small-l.small)*h11, (before.large-l.large)*h22
	const tie = 1 / (slopesSD * slopesSD)
	h11, h22, h12 = h11+tie, h22+tie, h12-tie
	g1, g2 = g1-tie*(l.small-l.large), g2+tie*(l.small-l.large)
	for i, r := range l.records {
		if r.answered == 0 {
			continue
		}
		u, v := parts[i].small, parts[i].large
		p := logistic(l.shift + l.small*u + l.large*v)
		miss, weight := r.near-r.answered*p, r.answered*p*(1-p)
		g0, g1, g2 = g0+miss, g1+miss*u, g2+miss*v
		h00, h01, h02 = h00+weight, h01+weight*u, h02+weight*v
		h11, h12, h22 = h11+weight*u*u, h12+weight*u*v, h22+weight*v*v
	}
	// The inverse of a symmetric matrix, by its cofactors.
	c00, c01, c02 := h11*h22-h12*h12, h02*h12-h01*h22, h01*h12-h02*h11
	c11, c12, c22 := h00*h22-h02*h02, h01*h02-h00*h12, h00*h11-h01*h01
	det := h00*c00 + h01*c01 + h02*c02
	return [3]float64{
		(c00*g0 + c01*g1 + c02*g2) / det,
		(c01*g0 + c11*g1 + c12*g2) / det,
		(c02*g0 + c12*g1 + c22*g2) / det,
	}
}

func (l *curve) tabulate() {
	for i := range l.corrections {
		l.corrections[i] = logistic(l.shift + l.small*parts[i].small + l.large*parts[i].large)
	}
}

// parts splits the log-odds in the middle of each bin in two terms: ln p, which dominates for small
// p, and -ln(1-p), which dominates for large p.
var parts = func() (parts [oddsBins]struct{ small, large float64 }) {
	for i := range parts {
		parts[i].small, parts[i].large = -math.Log1p(math.Exp(-oddsOf(i))), math.Log1p(math.Exp(oddsOf(i)))
	}
	return parts
}()
