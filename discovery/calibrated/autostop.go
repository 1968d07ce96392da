package calibrated

import (
	"slices"
	"time"

	"muster/discovery"
)

// StopRule decides from what came back whether to go on.
type StopRule interface {
	// Observe is told every result.
	Observe(discovery.Result)
	// Done reports whether the rest of the list is not worth its probes.
	Done() bool
}

// stopping ends a plan when a rule says so.
type stopping struct {
	discovery.Plan
	rule    StopRule
	stopped bool
}

// Until ends a plan when the rule says so, but not while it samples.
func Until(plan discovery.Plan, rule StopRule) discovery.Plan {
	return &stopping{Plan: plan, rule: rule}
}

func (s *stopping) Next() (discovery.Probe, discovery.Verdict) {
	if s.stopped {
		return discovery.Probe{}, discovery.Stop
	}
	probe, verdict := s.Plan.Next()
	if verdict == discovery.Go && probe.Phase == discovery.Ordered && s.rule.Done() {
		s.stopped = true
		return discovery.Probe{}, discovery.Stop
	}
	return probe, verdict
}

func (s *stopping) Observe(r discovery.Result) {
	s.rule.Observe(r)
	s.Plan.Observe(r)
}

func (s *stopping) Summary() discovery.PlanSummary {
	summary := s.Plan.Summary()
	summary.AutoStopped = s.stopped
	if c, ok := s.rule.(interface{ Claim() discovery.Claim }); ok {
		summary.Claim = c.Claim()
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

func NewPercentile(o discovery.PlanOptions) StopRule {
	return &percentile{limit: o.MaxRTT, below: int(o.Percentile * float64(o.Window)), size: o.Window}
}

func (p *percentile) Observe(r discovery.Result) {
	if r.Phase != discovery.Ordered || r.State != discovery.Answered {
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

func (p *percentile) Done() bool { return len(p.window) == p.size && p.near <= p.below }

// smooth stops after an unbroken run of replies at or over the limit, which the
// papers leave to future work (2008, §5.2).
type smooth struct {
	limit       time.Duration
	length, run int
}

func NewSmooth(o discovery.PlanOptions) StopRule { return &smooth{limit: o.MaxRTT, length: o.Window} }

func (s *smooth) Observe(r discovery.Result) {
	switch {
	case r.Phase != discovery.Ordered || r.State != discovery.Answered:
	case r.RTT < s.limit:
		s.run = 0
	default:
		s.run++
	}
}

func (s *smooth) Done() bool { return s.run >= s.length }

// Bottom is Algorithm 2's RTT_bottom: the RTT under which this share of the
// samples lies, as figures 4 to 9 of 2008 draw it.
func Bottom(window []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(window))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
