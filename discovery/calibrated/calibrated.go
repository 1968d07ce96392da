// Package calibrated has the plans of the papers on optimised discovery: sample each
// cluster of servers, rank the clusters, probe the rest in that order, and stop
// when the replies are too far.
package calibrated

import (
	"cmp"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
)

// calibrated is the plan of the three papers: it samples each cluster, ranks
// the clusters by the RTT of their samples, and probes the rest in that order.
//
//	clusters ─▶ samples ─▶ median ─┬────────────────────▶ rank ─▶ the rest
//	                               └─▶ spread too wide: split,
//	                                   one sample of each part ─▲
//
// While the last samples are under way it already probes clusters that are near
// enough to be probed in any case, so that no time is lost.
type calibrated struct {
	servers []discovery.Server
	options discovery.PlanOptions
	rng     *rand.Rand
	// shuffled: the order within a cluster is random, not the list's.
	shuffled bool

	of       []*cluster // the cluster that waits for a server's RTT
	asked    []bool
	queue    []int // samples to be sent
	waiting  int   // samples that are under way
	measured map[netip.Addr]time.Duration
	memory   clusterMemory

	settled []*cluster // nearest last
	current []int      // what is left of the cluster that is being probed

	summary discovery.PlanSummary
}

// sampling says how a strategy samples its clusters.
type sampling struct {
	count    func(members int) int
	split    bool
	recall   bool // what is remembered stands for samples
	shuffled bool
}

func NewByCountry(servers []discovery.Server, o discovery.PlanOptions) *calibrated {
	one := func(int) int { return 1 }
	return newCalibrated(servers, clusterByCountry(servers, o.Refine, o.Cluster), sampling{count: one, shuffled: true}, o)
}

func NewByCountryPrefix(servers []discovery.Server, o discovery.PlanOptions) *calibrated {
	return newCalibrated(servers, clusterByCountryPrefix(servers, o), sampling{count: rootOf(o), split: true}, o)
}

func NewByAS(servers []discovery.Server, o discovery.PlanOptions) *calibrated {
	return newCalibrated(servers, clusterByAS(servers, o.Cluster), sampling{count: rootOf(o), split: true, recall: true}, o)
}

// rootOf is the papers' number of samples, √N, rounded.
func rootOf(o discovery.PlanOptions) func(int) int {
	return func(n int) int { return max(1, int(math.Round(o.SampleScale*math.Sqrt(float64(n))))) }
}

func newCalibrated(servers []discovery.Server, groups [][]int, how sampling, o discovery.PlanOptions) *calibrated {
	c := &calibrated{
		servers: servers, options: o, shuffled: how.shuffled,
		rng:      rand.New(rand.NewPCG(o.Seed, 0x63616c69)),
		of:       make([]*cluster, len(servers)),
		asked:    make([]bool, len(servers)),
		measured: make(map[netip.Addr]time.Duration),
		memory:   newClusterMemory(o),
		summary:  discovery.PlanSummary{Clusters: len(groups)},
	}
	c.memory.sampled = how.recall
	for _, members := range groups {
		k := &cluster{members: members, retry: o.SilentRetry, split: how.split && o.Spread >= 0, rtt: unknownRTT}
		c.sample(k, c.firstSamples(k, how.count(len(members))))
	}
	c.rng.Shuffle(len(c.queue), func(i, j int) { c.queue[i], c.queue[j] = c.queue[j], c.queue[i] })
	return c
}

// spreadOver draws at most n of the members at random, no two from one /16
// (step 4b of 2008).
func (c *calibrated) spreadOver(members []int, n int) []int {
	seen := make(map[netip.Prefix]bool)
	var drawn []int
	for _, i := range c.rng.Perm(len(members)) {
		prefix := c.options.Split.Of(c.servers[members[i]].Addr.Addr())
		if len(drawn) < n && !seen[prefix] {
			seen[prefix] = true
			drawn = append(drawn, members[i])
		}
	}
	return drawn
}

// sample has these members of a cluster probed.
func (c *calibrated) sample(k *cluster, members []int) {
	for _, i := range members {
		c.of[i], c.asked[i] = k, true
		k.waiting++
		c.queue = append(c.queue, i)
	}
}

func (c *calibrated) Next() (discovery.Probe, discovery.Verdict) {
	if len(c.queue) > 0 {
		i := c.queue[0]
		c.queue = c.queue[1:]
		c.waiting++
		c.summary.Calibration++
		return discovery.Probe{Server: i, Phase: discovery.Calibration}, discovery.Go
	}
	if i, ok := c.nextOrdered(); ok {
		return discovery.Probe{Server: i, Phase: discovery.Ordered}, discovery.Go
	}
	if c.waiting > 0 {
		return discovery.Probe{}, discovery.Wait
	}
	return discovery.Probe{}, discovery.Stop
}

// nextOrdered takes the next server of the nearest cluster.
func (c *calibrated) nextOrdered() (server int, ok bool) {
	for {
		for len(c.current) > 0 {
			i := c.current[0]
			c.current = c.current[1:]
			if !c.asked[i] {
				c.asked[i] = true
				return i, true
			}
		}
		last := len(c.settled) - 1
		if last < 0 || (c.waiting > 0 && c.settled[last].rtt >= c.options.MaxRTT) {
			return 0, false
		}
		c.current = c.inOrder(c.settled[last].members)
		c.settled = c.settled[:last]
	}
}

// farther puts the nearest cluster last; ties break by address.
func (c *calibrated) farther(a, b *cluster) int {
	if d := cmp.Compare(b.rtt, a.rtt); d != 0 {
		return d
	}
	return discovery.CompareAddr(c.lowest(b), c.lowest(a))
}

func (c *calibrated) lowest(k *cluster) discovery.Server {
	low := c.servers[k.members[0]]
	for _, i := range k.members[1:] {
		if discovery.CompareAddr(c.servers[i], low) < 0 {
			low = c.servers[i]
		}
	}
	return low
}

func (c *calibrated) inOrder(members []int) []int {
	if c.shuffled {
		members = slices.Clone(members)
		c.rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	return members
}

func (c *calibrated) Observe(r discovery.Result) {
	if r.State == discovery.Answered {
		c.measured[c.servers[r.Server].Addr.Addr()] = r.RTT
	}
	k := c.of[r.Server]
	if k == nil {
		return
	}
	c.of[r.Server] = nil
	c.waiting--
	k.waiting--
	if r.State == discovery.Answered {
		k.rtts = append(k.rtts, r.RTT)
		c.memory.compare(k, c.servers[r.Server], r.RTT)
	}
	if k.waiting == 0 {
		c.settle(k)
	}
}

// settle decides what a cluster's samples mean once all are back.
func (c *calibrated) settle(k *cluster) {
	if c.recallOr(k) {
		return
	}
	if len(k.rtts) == 0 {
		if more := c.unasked(k.members, k.retry); len(more) > 0 {
			k.retry = 0
			c.sample(k, more)
			return
		}
		k.rtts = c.known(k.members)
	}
	if len(k.rtts) > 0 {
		k.rtt = median(k.rtts)
		if k.split && spread(k.rtts) > c.options.Spread {
			c.splitUp(k)
			return
		}
	}
	c.rankNear(k)
	c.rank(k)
}

// rank puts a settled cluster in its place.
func (c *calibrated) rank(k *cluster) {
	at, _ := slices.BinarySearchFunc(c.settled, k, c.farther)
	c.settled = slices.Insert(c.settled, at, k)
}

// splitUp makes a cluster of each /16 of one (step 4e of 2008). Each gets the
// RTT of one more probe, or of a machine in it that was probed already or is
// remembered.
func (c *calibrated) splitUp(k *cluster) {
	prefix := func(i int) clusterKey { return clusterKey{prefix: c.options.Split.Of(c.servers[i].Addr.Addr())} }
	for _, members := range group(k.members, prefix) {
		part := &cluster{members: members, rtt: unknownRTT}
		if k.recall.confirmed {
			part.recall = c.memory.of(c.servers, members)
			part.recall.confirmed = true
		}
		if more := c.unasked(members, 1); len(more) > 0 && !c.recalls(part) {
			part.retry = c.options.SilentRetry
			c.sample(part, more)
			continue
		}
		c.settle(part)
	}
}

// unasked draws at most n of the members at random that were not asked, on
// machines whose RTT is not known.
func (c *calibrated) unasked(members []int, n int) []int {
	var drawn []int
	if n <= 0 {
		return nil
	}
	for _, at := range c.rng.Perm(len(members)) {
		i := members[at]
		if _, known := c.measured[c.servers[i].Addr.Addr()]; len(drawn) < n && !c.asked[i] && !known {
			drawn = append(drawn, i)
		}
	}
	return drawn
}

// known are the RTTs that were measured to machines of the members.
func (c *calibrated) known(members []int) []time.Duration {
	var rtts []time.Duration
	for _, i := range members {
		if rtt, ok := c.measured[c.servers[i].Addr.Addr()]; ok {
			rtts = append(rtts, rtt)
		}
	}
	return rtts
}

func (c *calibrated) Summary() discovery.PlanSummary { return c.summary }
