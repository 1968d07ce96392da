package discovery

import (
	"fmt"
	"math"
	"time"
)

// Probe names one server to ask, and the reason.
type Probe struct {
	Server int // index in the list
	Phase  Phase
}

// Verdict is what a plan wants its executor to do now.
type Verdict uint8

const (
	// Go means: send the probe that came with the verdict.
	Go Verdict = iota
	// Wait means: there is nothing to send before another result is observed.
	Wait
	// Stop means: there is nothing more to send. Results under way are still observed.
	Stop
)

// Plan decides which server to probe next, and when to stop. It is pure: the same seed
// and the same results give the same probes.
//
// An executor calls Next whenever it may send. It calls Observe once for every probe,
// in the order in which the probes end. It never makes both calls at once. A plan never
// names a server twice, and never answers Wait when no probe is under way.
type Plan interface {
	Next() (Probe, Verdict)
	Observe(Result)
	Summary() PlanSummary
}

// Waker is a plan that may want to send more without a new result, because of a new
// request. The channel then wakes an executor that was told to wait or to stop and
// still has probes under way. The executor calls Next again.
type Waker interface{ Woken() <-chan struct{} }

// SendObserver is a plan that wants to know when the first packet to a server left. The
// packet may leave later than the plan named the server, or never.
type SendObserver interface{ Asked(server int) }

// PlanSummary tells how a plan went about its list.
type PlanSummary struct {
	// Clusters is how many groups of servers the plan distinguished.
	Clusters int
	// Calibration is how many probes were spent on learning the clusters' RTTs.
	Calibration int
	// AutoStopped reports whether the plan stopped before the end of its list.
	AutoStopped bool
	// Claim is what the plan estimates that it found, if anything.
	Claim Claim
	// Shift is the largest increase of all round trips during the run, as when the
	// player's own line is busy. Below 0 they became shorter. The plan has corrected
	// for it, but the results have not. The plan then makes no claim.
	Shift time.Duration
}

// Claim is an estimate of how many of the near servers a plan has found. It follows
// from the measurements and is no proof.
type Claim struct {
	// Low and High bound the share of the answering servers under Limit that
	// were found; both are 0 if the plan claims nothing.
	Low, High float64
	Limit     time.Duration
}

// String returns the claim as a sentence, or "" if there is no claim.
func (c Claim) String() string {
	if c.High == 0 {
		return ""
	}
	low, high := math.Floor(c.Low*100), math.Floor(c.High*100)
	share := fmt.Sprintf("%.0f–%.0f %%", low, high)
	if low == high {
		share = fmt.Sprintf("%.0f %%", low)
	}
	return fmt.Sprintf("%s of the servers under %d ms found", share, c.Limit.Milliseconds())
}

// conventional probes every server in the order of the list.
type conventional struct{ next, servers int }

// NewConventional returns the plan of every server browser, and the baseline of the
// papers: all servers, in the master's order.
func NewConventional(servers int) Plan { return &conventional{servers: servers} }

func (c *conventional) Next() (Probe, Verdict) {
	if c.next == c.servers {
		return Probe{}, Stop
	}
	c.next++
	return Probe{Server: c.next - 1}, Go
}

func (c *conventional) Observe(Result) {}

func (c *conventional) Summary() PlanSummary { return PlanSummary{} }
