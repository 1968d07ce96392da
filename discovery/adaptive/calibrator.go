package adaptive

import (
	"math"

	"muster/discovery/topology"
)

// calibrator corrects what the estimator expects by what came of asking such
// servers: the likelihood table need not fit this part of the network. The
// corrected log-odds are a straight line over the expected ones (Platt scaling),
// so that what was learnt where servers were asked carries over to the far larger
// number of servers of which little is expected.
type calibrator struct {
	// all is the line of all servers, from which those of the depths differ.
	all   line
	lines [depths]line
}

// depth sorts servers by what they have in common with one that was measured. The
// table's errors differ: where nothing was measured of an AS, a surprise is a
// whole network.
type depth uint8

const (
	sameCountry depth = iota // its country at most
	sameAS                   // its AS in the country
	samePrefix               // its /16 at least
	depths
)

// expectation is how likely a server was thought to be near, as a bin of its
// log-odds, and how much was known of its neighbours.
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

// expectation is that of a server at an address.
func (e *estimator) expectation(at topology.Node) expectation {
	n := &e.nodes[at]
	switch {
	case n.known < topology.AS:
		return expect(n.p, sameCountry)
	case n.known == topology.AS:
		return expect(n.p, sameAS)
	}
	return expect(n.p, samePrefix)
}

// oddsOf are the log-odds in the middle of a bin.
func oddsOf(bin int) float64 { return minOdds + (float64(bin)+0.5)*oddsStep }

func logistic(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// line is the correction of one depth, and what it was learnt from.
type line struct {
	records      [oddsBins]record
	shift, slope float64
	corrections  [oddsBins]float64
}

// record is how many servers of which about as much was expected answered, and
// how many of them were near.
type record struct{ answered, near float64 }

// gaussian is what a line's parameters are taken for before anything is measured,
// and with which standard deviation.
type gaussian struct{ shift, slope, shiftSD, slopeSD float64 }

// How little the table is believed, and how far the depths may differ, in
// log-odds. Fitted: the deviations of lines between places and worlds, twice or
// more, as worlds are not the internet.
const (
	allShiftSD, allSlopeSD     = 1.0, 0.6
	depthShiftSD, depthSlopeSD = 0.3, 0.1
	// fading is the share of a record that stays when another result comes: the
	// last thousand or so count.
	fading = 0.997
	// Newton's method takes newtonSteps, each newtonLongest at most in both
	// parameters, so that it does not overshoot.
	newtonSteps   = 8
	newtonLongest = 0.5
	// leastSlope keeps the order: less is expected where less was expected.
	leastSlope = 0.3
)

func newCalibrator() *calibrator {
	c := &calibrator{all: line{slope: 1}}
	for i := range c.lines {
		c.lines[i].slope = 1
		c.lines[i].tabulate()
	}
	return c
}

// note compares what was expected of a server that answered with what came.
func (c *calibrator) note(expected expectation, near bool) {
	for _, l := range []*line{&c.all, &c.lines[expected.known]} {
		r := &l.records[expected.bin]
		r.answered++
		if near {
			r.near++
		}
	}
}

// correct is the expectation in the light of the records.
func (c *calibrator) correct(e expectation) float64 {
	return c.lines[e.known].corrections[e.bin]
}

// learn fits the lines to the records, and lets those fade by so many fresh
// results.
func (c *calibrator) learn(fresh int) {
	c.all.learn(fresh, gaussian{0, 1, allShiftSD, allSlopeSD})
	for i := range c.lines {
		c.lines[i].learn(fresh, gaussian{c.all.shift, c.all.slope, depthShiftSD, depthSlopeSD})
	}
}

func (l *line) learn(fresh int, before gaussian) {
	for range newtonSteps {
		shift, slope := l.step(before)
		l.shift += min(max(shift, -newtonLongest), newtonLongest)
		l.slope += min(max(slope, -newtonLongest), newtonLongest)
	}
	l.slope = max(l.slope, leastSlope)
	l.fade(fresh)
	l.tabulate()
}

// fade has the records make way for so many fresh results.
func (l *line) fade(fresh int) {
	fade := math.Pow(fading, float64(fresh))
	for i := range l.records {
		l.records[i].answered *= fade
		l.records[i].near *= fade
	}
}

// fade has all records make way for so many fresh results.
func (c *calibrator) fade(fresh int) {
	c.all.fade(fresh)
	for i := range c.lines {
		c.lines[i].fade(fresh)
	}
}

// step is the way from the line to the top of the posterior, taken for a
// parabola.
func (l *line) step(before gaussian) (shift, slope float64) {
	h00, h01, h11 := 1/(before.shiftSD*before.shiftSD), 0.0, 1/(before.slopeSD*before.slopeSD)
	g0, g1 := (before.shift-l.shift)*h00, (before.slope-l.slope)*h11
	for i, r := range l.records {
		if r.answered == 0 {
			continue
		}
		x := oddsOf(i)
		p := logistic(l.shift + l.slope*x)
		miss, weight := r.near-r.answered*p, r.answered*p*(1-p)
		g0, g1 = g0+miss, g1+miss*x
		h00, h01, h11 = h00+weight, h01+weight*x, h11+weight*x*x
	}
	det := h00*h11 - h01*h01
	return (h11*g0 - h01*g1) / det, (h00*g1 - h01*g0) / det
}

func (l *line) tabulate() {
	for i := range l.corrections {
		l.corrections[i] = logistic(l.shift + l.slope*oddsOf(i))
	}
}
