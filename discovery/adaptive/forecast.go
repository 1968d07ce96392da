package adaptive

import (
	"math"
	"time"

	"muster/discovery"
)

// forecast corrects what the tree expects of servers by what came of asking such
// servers: the tables of the kernel need not fit this part of the network. The
// corrected log-odds are a straight line over the expected ones (Platt scaling),
// so that what was learnt where servers were asked carries over to the far
// larger number of servers of which little is expected.
type forecast struct {
	// all is the line of all servers, from which those of the depths differ.
	all   line
	lines [depths]line
}

// expectation is how likely a server was thought to be near, and how much was
// known of its neighbours.
type expectation struct {
	p     float64
	known depth
}

// depth sorts servers by what they have in common with one that was measured.
// The errors of the kernel differ: where nothing was measured of a network, a
// surprise is a whole network.
type depth uint8

const (
	byCountry  depth = iota // its country at most
	byNetwork               // its AS in the country
	byNeighbor              // its /16 at least
	depths
)

func (n *node) expectation() expectation {
	e := expectation{n.p, byNeighbor}
	switch {
	case n.known < cell:
		e.known = byCountry
	case n.known == cell:
		e.known = byNetwork
	}
	return e
}

// line is the correction of one depth, and what it was learnt from.
type line struct {
	records     [oddsBins]record
	shift       float64
	slope       float64
	corrections [oddsBins]float64
}

// record is how many servers of which about as much was expected answered, and
// how many of them were near.
type record struct{ answered, near float64 }

func (r *record) add(near bool) {
	r.answered++
	if near {
		r.near++
	}
}

// Expectations are sorted into bins of their log-odds.
const (
	oddsBins = 48
	minOdds  = -10.0
	oddsStep = 0.4
)

// The standard deviations of the lines' parameters before anything is measured:
// how little the kernel is believed, and how far the depths may differ.
const (
	allShift, allSlope     = 1.0, 0.6
	depthShift, depthSlope = 0.3, 0.1
	// memory is the share of a record that stays when another result comes.
	memory = 0.997
)

func newForecast() *forecast {
	f := &forecast{all: line{slope: 1}}
	for i := range f.lines {
		f.lines[i].slope = 1
		f.lines[i].tabulate()
	}
	return f
}

func binOf(p float64) int {
	odds := math.Log(p / (1 - p))
	return min(max(0, int((odds-minOdds)/oddsStep)), oddsBins-1)
}

func oddsOf(bin int) float64 { return minOdds + (float64(bin)+0.5)*oddsStep }

func logistic(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// note compares what was expected of a server that answered with what came.
func (f *forecast) note(expected expectation, near bool) {
	bin := binOf(expected.p)
	f.all.records[bin].add(near)
	f.lines[expected.known].records[bin].add(near)
}

// learn fits the lines to the records; fresh is how many results came since the
// last time.
func (f *forecast) learn(fresh int) {
	f.all.learn(fresh, belief{0, 1, allShift, allSlope})
	for i := range f.lines {
		f.lines[i].learn(fresh, belief{f.all.shift, f.all.slope, depthShift, depthSlope})
	}
}

// belief is what a line's parameters are taken for before anything is measured,
// and with which standard deviation.
type belief struct{ shift, slope, shiftDoubt, slopeDoubt float64 }

// learn fits the line to the records, by Newton's method in steps short enough
// not to overshoot, and lets old ones fade.
func (l *line) learn(fresh int, before belief) {
	const steps, longest = 8, 0.5
	for range steps {
		shift, slope := l.step(before)
		l.shift += min(max(shift, -longest), longest)
		l.slope += min(max(slope, -longest), longest)
	}
	l.slope = max(l.slope, 0.3) // less is expected where less was expected
	fade := math.Pow(memory, float64(fresh))
	for i := range l.records {
		l.records[i].answered *= fade
		l.records[i].near *= fade
	}
	l.tabulate()
}

// step is the way from the line to the top of the posterior, taken for a
// parabola.
func (l *line) step(before belief) (shift, slope float64) {
	h00, h01, h11 := 1/(before.shiftDoubt*before.shiftDoubt), 0.0, 1/(before.slopeDoubt*before.slopeDoubt)
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

// correct is the expectation in the light of the records.
func (f *forecast) correct(e expectation) float64 {
	return f.lines[e.known].corrections[binOf(e.p)]
}

// outlook is what is left to find.
type outlook struct {
	// near servers are expected among the unprobed, with this variance. Of a
	// branch in which nothing was measured all servers are near or none is.
	near, variance float64
}

// outlook estimates the tree and adds up what is left in it. A clump is a branch
// in which nothing was measured, of one of which something was.
func (s *search) outlook(f *forecast) outlook {
	s.estimate()
	var o outlook
	var clump struct {
		near, servers float64
		after         int32
	}
	for i, n := range s.open() {
		if i >= clump.after {
			o.addClump(clump.near, clump.servers)
			clump.near, clump.servers, clump.after = 0, 0, 0
			if n.known < n.level || n.level == machine {
				clump.after = n.after
			}
		}
		if n.level != machine {
			continue
		}
		near := float64(n.unprobed) * f.correct(n.expectation()) * s.alive(n)
		o.near += near
		clump.near += near
		clump.servers += float64(n.unprobed)
	}
	o.addClump(clump.near, clump.servers)
	return o
}

func (o *outlook) addClump(near, servers float64) {
	if near > 0 {
		p := near / servers
		o.variance += near * near * (1 - p) / p
	}
}

// most is one standard deviation more than what is expected, and twice that where
// hardly any are.
func (o outlook) most() float64 { return o.near + min(math.Sqrt(o.variance), o.near) }

// nothingLeft says that the near servers that are left, even if they are more
// than expected, are fewer than the share that may be missed. A share of few
// servers is less than one, which no forecast can tell: there so few are enough,
// or fewer if hardly any were found.
func (o outlook) nothingLeft(found, missing, few float64) bool {
	const sure, leastFew, share = 0.75, 0.5, 0.05
	return o.most() <= max(sure*missing*(found+o.near), leastFew, min(share*found, few))
}

// fewLeft is how many near servers may be left whatever their share is.
const fewLeft = 2.5

// claim is what can be said when near servers were found and others are left. A
// forecast is hardly ever wrong by more than a factor of three and one server
// where it is too low, or of four and half a standard deviation where it is too
// high; what is less than one server may be none.
func (o outlook) claim(found float64, limit time.Duration) discovery.Claim {
	switch {
	case found == 0:
		return discovery.Claim{}
	case o.near == 0: // everything was asked
		return discovery.Claim{Low: 1, High: 1, Limit: limit}
	}
	least := o.near/4 - math.Sqrt(o.variance)/2
	if least < 1 {
		least = 0
	}
	return discovery.Claim{Low: found / (found + 3*o.near + 1), High: found / (found + least), Limit: limit}
}
