package discovery

import (
	"slices"
	"time"
)

// stopRule decides from what came back whether to go on.
type stopRule interface {
	// observe is told every result.
	observe(Result)
	// done says that the rest of the list is not worth its probes.
	done() bool
}

// stopping ends a plan when a rule says so.
type stopping struct {
	Plan
	rule    stopRule
	stopped bool
}

// withStop ends a plan by the rule that the options name.
func withStop(plan Plan, servers []Server, o PlanOptions) Plan {
	switch o.AutoStop {
	case StopPercentile:
		return &stopping{Plan: plan, rule: newPercentile(o)}
	case StopSmooth:
		return &stopping{Plan: plan, rule: &smooth{limit: o.MaxRTT, length: o.Window}}
	case StopConfident:
		return &stopping{Plan: plan, rule: newConfident(servers, o)}
	}
	return plan
}

func (s *stopping) Next() (Probe, Verdict) {
	if s.stopped {
		return Probe{}, Stop
	}
	probe, verdict := s.Plan.Next()
	if verdict == Go && probe.Phase == Ordered && s.rule.done() {
		s.stopped = true
		return Probe{}, Stop
	}
	return probe, verdict
}

func (s *stopping) Observe(r Result) {
	s.rule.observe(r)
	s.Plan.Observe(r)
}

func (s *stopping) Summary() PlanSummary {
	summary := s.Plan.Summary()
	summary.AutoStopped = s.stopped
	if c, ok := s.rule.(claimer); ok {
		summary.Claim = c.claim()
	}
	return summary
}

// percentile is Algorithm 2 of both papers of 2008: stop when the RTT under
// which 2 % of the last 100 replies lie has reached the limit. Silence is no
// reply, and samples do not count.
type percentile struct {
	limit  time.Duration
	below  int // how many of the window may be under the limit
	window []time.Duration
	next   int
	size   int
	near   int // how many of the window are under the limit
}

func newPercentile(o PlanOptions) *percentile {
	return &percentile{limit: o.MaxRTT, below: int(o.Percentile * float64(o.Window)), size: o.Window}
}

func (p *percentile) observe(r Result) {
	if r.Phase != Ordered || r.State != Answered {
		return
	}
	if len(p.window) < p.size {
		p.window = append(p.window, r.RTT)
	} else {
		p.near -= p.isNear(p.window[p.next])
		p.window[p.next] = r.RTT
		p.next = (p.next + 1) % p.size
	}
	p.near += p.isNear(r.RTT)
}

func (p *percentile) isNear(rtt time.Duration) int {
	if rtt < p.limit {
		return 1
	}
	return 0
}

func (p *percentile) done() bool { return len(p.window) == p.size && p.near <= p.below }

// smooth stops after an unbroken run of replies at or over the limit, which the
// papers leave to future work (2008, §5.2).
type smooth struct {
	limit       time.Duration
	length, run int
}

func (s *smooth) observe(r Result) {
	switch {
	case r.Phase != Ordered || r.State != Answered:
	case r.RTT < s.limit:
		s.run = 0
	default:
		s.run++
	}
}

func (s *smooth) done() bool { return s.run >= s.length }

// Bottom is Algorithm 2's RTT_bottom: the RTT under which this share of the
// samples lies, as figures 4 to 9 of 2008 draw it.
func Bottom(window []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(window))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
