package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// PlanOptions tune a plan. A zero field is the default. For the papers' strategies,
// that is the paper's value.
type PlanOptions struct {
	// Seed determines all random choices.
	Seed uint64
	// MaxRTT is the largest playable RTT, the limit of every auto-stop: 200 ms.
	MaxRTT time.Duration
	// AutoStop ends probing early; see [AutoStop.Of].
	AutoStop AutoStop
	// Nearest makes the adaptive strategy look for this number of nearest servers, instead of all
	// servers under MaxRTT.
	Nearest int
	// Priors are earlier measurements of the networks; see discovery/plan/history.
	Priors []Prior

	// Window is how many of the last replies percentile and smooth look at: 100.
	Window int
	// Percentile of the window that must reach MaxRTT: 0.02.
	Percentile float64
	// Missing is the expected share of near servers not yet found at which confident
	// stops: 0.02.
	Missing float64

	// Refine makes the country strategy ask one server of each country and prefix,
	// rather than one of each country (ATNAC 2006, §V).
	Refine bool
	// ClusterMembers and ClusterShare are what a prefix must exceed to become a cluster
	// of its own within its country: 10 servers, 0.1 of the country.
	ClusterMembers int
	ClusterShare   float64
	// SampleScale·√N servers of a cluster of N are sampled. The default is 1.
	SampleScale float64
	// Spread is the difference between the 20th and the 80th percentile of a cluster's
	// samples at which the cluster is split: 40 ms; negative never splits.
	Spread time.Duration
	// Cluster and Split are the prefixes that form clusters, and into which clusters
	// are split: /8 and /16, in IPv6 /20 and /32.
	Cluster, Split Bits
	// SilentRetry is how many more servers are asked if all samples of a cluster are
	// silent: 2; negative is none. The papers leave this open.
	SilentRetry int
}

// Complete fills in the defaults for a plan of this strategy. It refuses invalid
// options and unknown strategies.
func (o PlanOptions) Complete(s Strategy) (PlanOptions, error) {
	if err := cmp.Or(s.UnmarshalText([]byte(s)), o.AutoStop.UnmarshalText([]byte(o.AutoStop))); err != nil {
		return o, err
	}
	o.AutoStop = o.AutoStop.Of(s)
	o.MaxRTT = cmp.Or(o.MaxRTT, 200*time.Millisecond)
	o.Window = cmp.Or(o.Window, 100)
	o.Percentile = cmp.Or(o.Percentile, 0.02)
	o.Missing = cmp.Or(o.Missing, 0.02)
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

// Prior is what a plan knows about a network before it asks any server there.
type Prior struct {
	Prefix netip.Prefix
	RTT    time.Duration
	// Certainty is 1 for a measurement just made, and falls with its age.
	Certainty float64
}
