package discovery

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"
)

// Memory is what is kept of a player's visits for the next one: how far the
// networks were. A network has one entry, its newest.
type Memory []Network

// Network is a /24, of IPv6 a /48, and how far it was.
type Network struct {
	Prefix netip.Prefix `json:"prefix"`
	// RTT is the median of the network's servers, the lower of two.
	RTT  Millis    `json:"rtt_ms"`
	Seen time.Time `json:"seen"`
}

// What is kept, and for how long.
const (
	// maxMemory networks are what a full probe of 30,000 servers sees of them
	// within an ordinary limit; they take 600 kB as JSON.
	maxMemory = 8192
	// memoryHalves is the time in which a memory loses half of its certainty,
	// forgotten when there is no use for it any more.
	memoryHalves = 7 * 24 * time.Hour
	forgotten    = 5 * memoryHalves
)

// Prior is what a plan is told of a network before it asks any server there.
type Prior struct {
	Prefix netip.Prefix
	RTT    time.Duration
	// Certainty is 1 for what was measured just now, and less the older it is.
	Certainty float64
}

// Priors are the memories that are still worth something.
func (m Memory) Priors(now time.Time) []Prior {
	var priors []Prior
	for _, n := range m {
		if age := n.age(now); age < forgotten {
			certainty := math.Exp2(-float64(age) / float64(memoryHalves))
			priors = append(priors, Prior{n.Prefix, time.Duration(n.RTT), certainty})
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
func (m Memory) After(servers []Server, results []Result, now time.Time) Memory {
	fresh := measuredNetworks(servers, results)
	after := make(Memory, 0, len(fresh)+len(m))
	for prefix, rtts := range fresh {
		after = append(after, Network{prefix, Millis(lowerMedian(rtts)), now.UTC().Truncate(time.Second)})
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
func measuredNetworks(servers []Server, results []Result) map[netip.Prefix][]time.Duration {
	rtts := make(map[netip.Prefix][]time.Duration)
	for _, r := range results {
		if r.State == Answered {
			at := siteBits.Of(servers[r.Server].Addr.Addr())
			rtts[at] = append(rtts[at], max(r.RTT, time.Microsecond))
		}
	}
	return rtts
}

// OutdatedBy says that results contradict most of the memory: the player is not
// where the memory is from.
func (m Memory) OutdatedBy(servers []Server, results []Result) bool {
	known := make(map[netip.Prefix]time.Duration, len(m))
	for _, n := range m {
		known[n.Prefix] = time.Duration(n.RTT)
	}
	trial := newTrial[clusterKey]()
	for _, r := range results {
		s := servers[r.Server]
		rtt, remembered := known[siteBits.Of(s.Addr.Addr())]
		if remembered && r.State == Answered {
			trial.note(routeOf(s), agree(rtt, r.RTT))
		}
	}
	return trial.refuted()
}

// routeOf is what the servers share that one change of a route moves: the origin
// AS in a country, or else the prefix.
func routeOf(s Server) clusterKey {
	if s.ASN == 0 {
		return clusterKey{country: s.Country, prefix: clusterOf(s)}
	}
	return clusterKey{country: s.Country, asn: s.ASN}
}

// lowerMedian is the middle of the RTTs, the lower of two.
func lowerMedian(rtts []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(rtts))
	return sorted[(len(sorted)-1)/2]
}

// agree says that one packet pair's RTT is what was remembered of its network,
// but for the servers' own lines and what varies from minute to minute. What
// came nearer is believed sooner than what went away: it must not be missed.
func agree(remembered, rtt time.Duration) bool {
	nearer := 10*time.Millisecond + remembered/20
	farther := 15*time.Millisecond + remembered/8
	return remembered-nearer <= rtt && rtt <= remembered+farther
}

// trial hears, network by network, what fresh measurements say of the remembered
// ones. A network counts once, however many of its servers were asked.
type trial[K comparable] struct {
	scores       map[K]int
	right, wrong int
}

func newTrial[K comparable]() trial[K] { return trial[K]{scores: make(map[K]int)} }

// note takes one comparison down, and returns how many more were right than
// wrong in its network.
func (t *trial[K]) note(network K, right bool) (score int) {
	score = t.scores[network]
	t.count(score, -1)
	if score--; right {
		score += 2
	}
	t.scores[network] = score
	t.count(score, 1)
	return score
}

func (t *trial[K]) count(score, n int) {
	switch {
	case score > 0:
		t.right += n
	case score < 0:
		t.wrong += n
	}
}

// refuted says that most of what was remembered is wrong.
func (t *trial[K]) refuted() bool {
	const fewest = 6
	return t.wrong >= fewest && t.wrong > t.right
}
