package discovery

import (
	"math"
	"time"
)

// forecast corrects what the tree expects of servers by what came of asking such
// servers: the tables of the kernel need not fit this part of the network. The
// corrected log-odds are a straight line over the expected ones (Platt scaling),
// so that what was learnt where servers were asked carries over to the far
// larger number of servers of which little is expected.
type forecast struct {
	records     [oddsBins]record
	shift       float64
	slope       float64
	corrections [oddsBins]float64
}

// record is how many servers of which about as much was expected answered, and
// how many of them were near.
type record struct{ answered, near float64 }

// Expectations are sorted into bins of their log-odds.
const (
	oddsBins = 48
	minOdds  = -10.0
	oddsStep = 0.4
)

// How firmly the kernel is believed, as the standard deviations of the line's
// parameters before anything is measured; and the share of a record that stays
// when another result comes.
const (
	shiftDoubt = 1.0
	slopeDoubt = 0.6
	memory     = 0.999
)

func newForecast() *forecast {
	f := &forecast{slope: 1}
	f.tabulate()
	return f
}

func binOf(p float64) int {
	odds := math.Log(p / (1 - p))
	return min(max(0, int((odds-minOdds)/oddsStep)), oddsBins-1)
}

func oddsOf(bin int) float64 { return minOdds + (float64(bin)+0.5)*oddsStep }

func logistic(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// note compares what was expected of a server that answered with what came.
func (f *forecast) note(expected float64, near bool) {
	r := &f.records[binOf(expected)]
	r.answered++
	if near {
		r.near++
	}
}

// learn fits the line to the records, by Newton's method, and lets old ones
// fade: fresh is how many results came since the last time.
func (f *forecast) learn(fresh int) {
	const steps = 4
	for range steps {
		// Gradient and Hessian of the logarithm of the posterior.
		g0, g1 := -f.shift/(shiftDoubt*shiftDoubt), -(f.slope-1)/(slopeDoubt*slopeDoubt)
		h00, h01, h11 := 1/(shiftDoubt*shiftDoubt), 0.0, 1/(slopeDoubt*slopeDoubt)
		for i, r := range f.records {
			if r.answered == 0 {
				continue
			}
			x := oddsOf(i)
			p := logistic(f.shift + f.slope*x)
			miss, weight := r.near-r.answered*p, r.answered*p*(1-p)
			g0, g1 = g0+miss, g1+miss*x
			h00, h01, h11 = h00+weight, h01+weight*x, h11+weight*x*x
		}
		det := h00*h11 - h01*h01
		f.shift += (h11*g0 - h01*g1) / det
		f.slope += (h00*g1 - h01*g0) / det
		f.slope = min(max(f.slope, 0.3), 3)
		f.shift = min(max(f.shift, -3), 3)
	}
	fade := math.Pow(memory, float64(fresh))
	for i := range f.records {
		f.records[i].answered *= fade
		f.records[i].near *= fade
	}
	f.tabulate()
}

func (f *forecast) tabulate() {
	for i := range f.corrections {
		f.corrections[i] = logistic(f.shift + f.slope*oddsOf(i))
	}
}

// correct is the expectation in the light of the records.
func (f *forecast) correct(p float64) float64 { return f.corrections[binOf(p)] }

// remaining is how many near servers are expected among the unprobed, and
// whether any of them is likely.
func (s *search) remaining(f *forecast) (near float64, ripe bool) {
	s.estimate()
	for i := range s.nodes {
		m := &s.nodes[i]
		if m.level != machine || m.unprobed == 0 {
			continue
		}
		near += float64(m.unprobed) * f.correct(m.p) * s.alive(m)
		ripe = ripe || m.p >= likely
	}
	return near, ripe
}

// nothingLeft says that the near servers that are left are fewer than the share
// that may be missed. While there are likely ones, they must be far fewer. A
// share of few is less than one server, which no forecast can tell: there a part
// of a server is enough.
func nothingLeft(found, left float64, ripe bool, missing float64) bool {
	const sure, leastPart, part, mostPart = 0.4, 0.25, 0.03, 0.75
	if ripe {
		missing *= sure
	}
	return left <= max(missing*(found+left), leastPart, min(part*found, mostPart))
}

// claimOf is the claim when near servers were found and about as many are left
// as forecast, give or take a factor of two.
func claimOf(found, left float64, limit time.Duration) Claim {
	share := func(left float64) float64 { return (found + 1e-9) / (found + left + 1e-9) }
	return Claim{Low: share(2 * left), High: share(left / 2), Limit: limit}
}
