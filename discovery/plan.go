package discovery

import "time"

// Probe is one server to be asked, and why.
type Probe struct {
	Server int // index in the list
	Phase  Phase
}

// Verdict is what a plan wants of its executor now.
type Verdict uint8

const (
	// Go: send the probe that came with the verdict.
	Go Verdict = iota
	// Wait: nothing to send before another result is observed.
	Wait
	// Stop: nothing more to send. Results still under way are observed.
	Stop
)

// Plan decides which server to probe next, and when to stop. It is pure: the
// same seed and the same results give the same probes.
//
// An executor calls Next whenever it may send, and Observe once for every
// probe, in the order in which the probes end; never both at once. A plan never
// names a server twice, and never answers Wait when no probe is under way.
type Plan interface {
	Next() (Probe, Verdict)
	Observe(Result)
	Summary() PlanSummary
}

// Waker is a plan that may want more although nothing was observed, because
// somebody asked it for more. The channel says so; an executor that was told to
// wait or to stop, and still has probes under way, then calls Next again.
type Waker interface{ Woken() <-chan struct{} }

// Witness is a plan that wants to know when the first packet to a server left. It
// may have to wait although the plan has named the server, or never leave.
type Witness interface{ Asked(server int) }

// PlanSummary says how a plan went about its list.
type PlanSummary struct {
	// Clusters is how many groups of servers the plan told apart.
	Clusters int
	// Calibration is how many probes went into learning the clusters' RTTs.
	Calibration int
	// AutoStopped: the plan stopped before its list was through.
	AutoStopped bool
	// Claim is what the plan believes to have found, if it claims anything.
	Claim Claim
	// Shift is by how much all round trips became longer meanwhile, at the most, as
	// when the player's own line is busy; below 0 they became shorter. The plan has
	// allowed for it, but the results have not, and it claims nothing.
	Shift time.Duration
}
