package adaptive

import (
	"math"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// remaining is what is left to find: the expected number of near servers among the
// unasked, and its variance. Likely are those where a near one is likely. Unlabelled
// are those without a known country or AS. Needed are those that the plan can use: at
// most need of a correlated block.
type remaining struct{ near, variance, likely, unlabelled, needed, need float64 }

// remaining estimates the shares again and adds up what is left. A correlated block is
// a node without measurements, under one with some: all of its servers are near or none
// is.
func (e *estimator) remaining() remaining {
	e.estimate()
	total := remaining{need: e.need}
	var block struct {
		near, servers float64
		end           topology.Node
	}
	var last struct { // unknown neighbours are all alike
		p, near float64
		known   topology.Level
	}
	for i := range e.stretches {
		s := &e.stretches[i]
		if s.from >= block.end {
			total.add(block.near, block.servers)
			block.near, block.servers, block.end = 0, 0, s.block
		}
		if s.p != last.p || s.known != last.known {
			last.p, last.known, last.near = s.p, s.known, e.calibrator.correct(s.expectation())
		}
		servers := float64(e.nodes[s.from].unasked)
		near := servers * last.near * e.alive(s.from)
		total.near += near
		if s.p >= likely {
			total.likely += near
		}
		if s.unlabelled {
			total.unlabelled += near
		}
		block.near += near
		block.servers += servers
	}
	total.add(block.near, block.servers)
	return total
}

// add counts the variance of a block of servers with this many near ones expected.
func (r *remaining) add(near, servers float64) {
	if near > 0 {
		p := near / servers
		r.variance += near * near * (1 - p) / p
		r.needed += p * min(servers, r.need)
	}
}

const (
	// Up to fewLeft near servers may be left whatever their share is, but at most fewShare of the
	// servers found. A share of few servers is less than one server, so no estimate can tell it.
	// The bound is fewLeftFresh while the last dryReplies replies had near ones among them, because
	// then more will come. It is fewLeftWarm after an earlier visit.
	fewLeft      = 6
	fewLeftFresh = 1.5
	dryReplies   = 150
	fewLeftWarm  = 2
	fewShare     = 0.03
	// minLeft near servers may be left even if hardly any were found.
	minLeft = 0.5
	// sureSDs is the safety margin over the expected number left, in standard
	// deviations: tuned. Without it, whole networks are missed.
	sureSDs = 0.3
	// warmMissing is the part of the missing share for a plan that starts from an
	// earlier visit: servers that it does not look at again may have changed.
	warmMissing = 0.6
)

// fewAfter returns how many near servers may be left after dry replies without a near one.
func fewAfter(dry int) float64 {
	if dry < dryReplies {
		return fewLeftFresh
	}
	return fewLeft
}

// negligible reports whether the near servers left are fewer than the share that may be
// missed, or few enough anyway. It adds a safety margin: part of a standard deviation,
// or as many again where hardly any are left. Servers that are likely near are never
// too few to ask.
func (r remaining) negligible(found, missing, few float64) bool {
	most := r.near + sureSDs*min(math.Sqrt(r.variance), r.near)
	share := max(missing*(found+r.near), minLeft)
	return r.likely <= share && most <= max(share, min(fewShare*found, few))
}

// Errors of the estimate. If it is too low, then hardly ever by more than a factor and
// a few servers. If it is too high, then hardly ever by more than a factor and half a
// standard deviation. Where only addresses are known it can be lower: a /16 of no
// single AS holds networks of many places, and one far reply makes all of it look far.
// Fitted: these bounds held in 95 of 100 runs (bench/experiments).
const (
	tooLowBy, tooLowServers = 4, 4
	unlabelledTooLowBy      = 10
	tooHighBy, tooHighSDs   = 4, 0.5
)

// claim returns the claim when near servers were found and others are left. Less than
// one server may be none.
func (r remaining) claim(found float64, limit time.Duration) discovery.Claim {
	switch {
	case found == 0:
		return discovery.Claim{}
	case r.near == 0: // everything was asked
		return discovery.Claim{Low: 1, High: 1, Limit: limit}
	}
	least := r.near/tooHighBy - math.Sqrt(r.variance)*tooHighSDs
	if least < 1 {
		least = 0
	}
	most := tooLowBy*(r.near-r.unlabelled) + unlabelledTooLowBy*r.unlabelled + tooLowServers
	return discovery.Claim{Low: found / (found + most), High: found / (found + least), Limit: limit}
}

// Stop ends any plan by the adaptive plan's rule.
type Stop struct {
	estimator *estimator
	missing   float64
	found     float64
	dry       int // replies since a near one
	left      remaining
	results   int // since the last estimate
	enough    bool
}

// estimateEvery is how many results justify a new estimate.
const estimateEvery = 64

// NewStop returns the rule for a plan for the list of this topology.
func NewStop(list *topology.Tree, o discovery.PlanOptions) *Stop {
	return &Stop{estimator: newEstimator(list, o.MaxRTT), missing: o.Missing}
}

// Observe takes every result.
func (s *Stop) Observe(r discovery.Result) {
	s.estimator.ask(r.Server)
	s.estimator.observe(r.Server, r.State, r.RTT)
	if r.State == discovery.Answered {
		s.dry++
		if r.RTT < s.estimator.limit {
			s.found++
			s.dry = 0
		}
	}
	if s.results++; s.results >= estimateEvery {
		s.estimator.calibrator.learn(s.results)
		s.left = s.estimator.remaining()
		s.enough = s.left.negligible(s.found, s.missing, fewAfter(s.dry))
		s.results = 0
	}
}

// Done reports whether hardly any near server can be left.
func (s *Stop) Done() bool { return s.enough }

// Claim returns the estimated share of near servers found.
func (s *Stop) Claim() discovery.Claim { return s.left.claim(s.found, s.estimator.limit) }
