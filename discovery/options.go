package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// PlanOptions tune a plan. A zero field is the default, which for the papers'
// strategies is the value that their paper gives.
type PlanOptions struct {
	// Seed decides what is random.
	Seed uint64
	// MaxRTT is the largest RTT that is playable, the limit of every auto-stop:
	// 200 ms.
	MaxRTT time.Duration
	// AutoStop ends probing early; see [AutoStop.Of].
	AutoStop AutoStop
	// Nearest, for the adaptive strategy, has it look for this many nearest
	// servers instead of all under MaxRTT.
	Nearest int
	// Priors are what was measured of the networks at earlier visits; see
	// discovery/plan/history.
	Priors []Prior

	// Window is how many of the last replies percentile and smooth look at: 100.
	Window int
	// Percentile of the window that must reach MaxRTT: 0.02.
	Percentile float64
	// Missing is the expected share of near servers still unfound at which
	// confident stops: 0.01.
	Missing float64

	// Refine, for the country strategy, asks one server of each country and
	// prefix rather than of each country (ATNAC 2006, §V).
	Refine bool
	// ClusterMembers and ClusterShare are what a prefix must have more of to be
	// a cluster of its own within its country: 10 servers, 0.1 of the country.
	ClusterMembers int
	ClusterShare   float64
	// SampleScale times √N is how many servers of a cluster are sampled: 1.
	SampleScale float64
	// Spread is the difference of the 20th and the 80th percentile of a
	// cluster's samples at which it is split: 40 ms; negative never splits.
	Spread time.Duration
	// Cluster and Split are the prefixes that make clusters, and that clusters
	// are split into: /8 and /16, of IPv6 /20 and /32.
	Cluster, Split Bits
	// SilentRetry is how many more servers are asked if all samples of a cluster
	// are silent, about which the papers say nothing: 2; negative is none.
	SilentRetry int
}

// Complete has the default in place of each zero, for a plan of this strategy,
// and refuses options and strategies that there are not.
func (o PlanOptions) Complete(s Strategy) (PlanOptions, error) {
	if err := cmp.Or(s.UnmarshalText([]byte(s)), o.AutoStop.UnmarshalText([]byte(o.AutoStop))); err != nil {
		return o, err
	}
	o.AutoStop = o.AutoStop.Of(s)
	o.MaxRTT = cmp.Or(o.MaxRTT, 200*time.Millisecond)
	o.Window = cmp.Or(o.Window, 100)
	o.Percentile = cmp.Or(o.Percentile, 0.02)
	o.Missing = cmp.Or(o.Missing, 0.01)
	o.ClusterMembers = cmp.Or(o.ClusterMembers, 10)
	o.ClusterShare = cmp.Or(o.ClusterShare, 0.1)
	o.SampleScale = cmp.Or(o.SampleScale, 1)
	o.Spread = cmp.Or(o.Spread, 40*time.Millisecond)
	o.Cluster = cmp.Or(o.Cluster, Bits{V4: 8, V6: 20})
	o.Split = cmp.Or(o.Split, Bits{V4: 16, V6: 32})
	o.SilentRetry = cmp.Or(o.SilentRetry, 2)
	switch {
	case o.MaxRTT < 0:
		return o, errors.New("discovery: the limit of the RTT is negative")
	case o.Window < 1:
		return o, errors.New("discovery: the auto-stop's window needs at least one reply")
	case !(0 <= o.Percentile && o.Percentile < 1):
		return o, fmt.Errorf("discovery: percentile %v is not from 0 up to 1", o.Percentile)
	case !(0 < o.Missing && o.Missing < 1):
		return o, fmt.Errorf("discovery: share %v of missing servers is not between 0 and 1", o.Missing)
	case o.Nearest < 0:
		return o, errors.New("discovery: the number of nearest servers is negative")
	case o.SampleScale < 0 || o.ClusterShare < 0 || o.ClusterMembers < 0:
		return o, errors.New("discovery: a threshold of the clusters is negative")
	case !o.Cluster.valid() || !o.Split.valid():
		return o, fmt.Errorf("discovery: no address has prefixes of /%d or /%d bits", o.Cluster, o.Split)
	}
	return o, nil
}

// Prior is what a plan is told of a network before it asks any server there.
type Prior struct {
	Prefix netip.Prefix
	RTT    time.Duration
	// Certainty is 1 for what was measured just now, and less the older it is.
	Certainty float64
}
