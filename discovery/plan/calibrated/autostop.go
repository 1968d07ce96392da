package calibrated

import (
	"slices"
	"time"

	"muster/discovery"
)

// StopRule decides from the results whether to go on.
type StopRule interface {
	// Observe takes every result.
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

// Until returns a plan that ends when the rule says so, but not while the plan samples.
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

// window is Algorithm 2 of both papers of 2008: it stops when the RTT that 2 % of the
// last 100 replies are under has reached the limit. Silence is no reply, and samples do
// not count.
type window struct {
	limit      time.Duration
	most       int    // how many of the window may be under the limit
	last       []bool // whether each of the last replies was under it
	next       int
	near, full int
}

// NewWindow returns the rule of the papers. The smooth rule, which they leave to future
// work (2008, §5.2), allows no reply of the window under the limit.
func NewWindow(o discovery.PlanOptions) StopRule {
	w := &window{limit: o.MaxRTT, last: make([]bool, o.Window)}
	if o.AutoStop == discovery.StopPercentile {
		w.most = int(o.Percentile * float64(o.Window))
	}
	return w
}

func (w *window) Observe(r discovery.Result) {
	if r.Phase != discovery.Ordered || r.State != discovery.Answered {
		return
	}
	if w.last[w.next] {
		w.near--
	}
	if w.last[w.next] = r.RTT < w.limit; w.last[w.next] {
		w.near++
	}
	w.next = (w.next + 1) % len(w.last)
	w.full = min(w.full+1, len(w.last))
}

func (w *window) Done() bool { return w.full == len(w.last) && w.near <= w.most }

// Bottom returns Algorithm 2's RTT_bottom: this share of the samples is under it, as in
// figures 4 to 9 of 2008.
func Bottom(window []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(window))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
