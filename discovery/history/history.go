// Package history is what a player's visits leave for the next one: how far the
// networks were, as a file and as what a plan is told beforehand.
package history

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
)

// Memory is what is kept of a player's visits for the next one: how far the
// networks were. A network has one entry, its newest.
type Memory []Network

// Network is a /24, of IPv6 a /48, and how far it was.
type Network struct {
	Prefix netip.Prefix `json:"prefix"`
	// RTT is the median of the network's servers, the lower of two.
	RTT  discovery.Millis `json:"rtt_ms"`
	Seen time.Time        `json:"seen"`
}

// What is kept, and for how long.
const (
	// maxMemory networks are what a full probe of 30,000 servers sees of them
	// within an ordinary limit; they take 600 kB as JSON.
	maxMemory = 8192
	// halfLife is the time in which a memory loses half of its certainty,
	// forgotten when there is no use for it any more.
	halfLife  = 7 * 24 * time.Hour
	forgotten = 5 * halfLife
)

// Priors are the memories that are still worth something.
func (m Memory) Priors(now time.Time) []discovery.Prior {
	var priors []discovery.Prior
	for _, n := range m {
		if age := n.age(now); age < forgotten {
			certainty := math.Exp2(-float64(age) / float64(halfLife))
			priors = append(priors, discovery.Prior{Prefix: n.Prefix, RTT: time.Duration(n.RTT), Certainty: certainty})
		}
	}
	return priors
}

// age is how long ago the network was seen. A time to come is as doubtful.
func (n Network) age(now time.Time) time.Duration { return now.Sub(n.Seen).Abs() }

// Newest is when the last visit was, or zero.
func (m Memory) Newest() (newest time.Time) {
	for _, n := range m {
		if n.Seen.After(newest) {
			newest = n.Seen
		}
	}
	return newest
}

// After is the memory after another visit: what the visit measured takes the
// place of what was remembered of the same network. Of a memory that it outdates
// nothing is kept.
func (m Memory) After(servers []discovery.Server, results []discovery.Result, now time.Time) Memory {
	fresh := measuredNetworks(servers, results)
	after := make(Memory, 0, len(fresh)+len(m))
	for prefix, rtts := range fresh {
		after = append(after, Network{prefix, discovery.Millis(lowerMedian(rtts)), now.UTC().Truncate(time.Second)})
	}
	if !m.OutdatedBy(servers, results) {
		for _, n := range m {
			if _, again := fresh[n.Prefix]; !again && n.age(now) < forgotten {
				after = append(after, n)
			}
		}
	}
	slices.SortFunc(after, func(a, b Network) int {
		return cmp.Or(b.Seen.Compare(a.Seen), cmp.Compare(a.RTT, b.RTT), a.Prefix.Compare(b.Prefix))
	})
	return after[:min(len(after), maxMemory)]
}

// measuredNetworks are the RTTs of the servers that answered, by network.
func measuredNetworks(servers []discovery.Server, results []discovery.Result) map[netip.Prefix][]time.Duration {
	rtts := make(map[netip.Prefix][]time.Duration)
	for _, r := range results {
		if r.State == discovery.Answered {
			at := networkOf(servers[r.Server])
			rtts[at] = append(rtts[at], max(r.RTT, time.Microsecond))
		}
	}
	return rtts
}

// OutdatedBy reports whether results contradict most of the memory: the player is
// not where the memory is from. A changed route moves the servers of an AS in a
// country together, so those are compared once.
func (m Memory) OutdatedBy(servers []discovery.Server, results []discovery.Result) bool {
	if len(m) == 0 {
		return false
	}
	known := make(map[netip.Prefix]time.Duration, len(m))
	for _, n := range m {
		known[n.Prefix] = time.Duration(n.RTT)
	}
	tree := topology.New(servers)
	var trial Trial[topology.Node]
	for _, r := range results {
		rtt, remembered := known[networkOf(servers[r.Server])]
		if remembered && r.State == discovery.Answered {
			trial.Note(tree.Above(tree.Of(r.Server), topology.AS), Agree(rtt, r.RTT))
		}
	}
	return trial.Refuted()
}

// networkOf is the /24 of a server, of IPv6 the /48.
func networkOf(s discovery.Server) netip.Prefix { return topology.Prefix24.Prefix(s.Addr.Addr()) }

// lowerMedian is the middle of the RTTs, the lower of two.
func lowerMedian(rtts []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(rtts))
	return sorted[(len(sorted)-1)/2]
}
