package calibrated

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/history"
	"muster/discovery/topology"
)

// recall is what is remembered of a cluster. It counts once one probe there has
// confirmed it. The networks that are remembered near are then ranked by
// themselves if the cluster is far. Of an AS the remembered networks stand for
// its samples: one probe confirms them, and if it contradicts, the AS is sampled
// as if nothing were known. Larger clusters are as mixed as the world; theirs
// are drawn anew each time.
type recall struct {
	rtts []time.Duration // a network each
	// near are the servers of those that are remembered under the limit, at
	// about nearRTT.
	near    []int
	nearRTT time.Duration
	// confirmed: a probe of the cluster, or of the one it was part of, did.
	confirmed bool
	// members are the servers of these networks, count is how many samples the
	// cluster would have without.
	members []int
	count   int
}

// clusterMemory is what a calibrated plan knows of earlier visits.
type clusterMemory struct {
	known map[netip.Prefix]time.Duration
	trial history.Trial[*cluster]
	limit time.Duration
	// sampled: what is remembered stands for samples.
	sampled bool
}

func newClusterMemory(o discovery.PlanOptions) clusterMemory {
	m := clusterMemory{known: make(map[netip.Prefix]time.Duration, len(o.Priors)), limit: o.MaxRTT}
	for _, p := range o.Priors {
		m.known[p.Prefix] = p.RTT
	}
	return m
}

// of is what is remembered of these servers.
func (m *clusterMemory) of(servers []discovery.Server, members []int) recall {
	var r recall
	var near []time.Duration
	seen := make(map[netip.Prefix]bool)
	for _, i := range members {
		network := topology.Prefix24.Prefix(servers[i].Addr.Addr())
		rtt, ok := m.known[network]
		if !ok {
			continue
		}
		r.members = append(r.members, i)
		if !seen[network] {
			seen[network] = true
			r.rtts = append(r.rtts, rtt)
		}
		if rtt < m.limit {
			r.near, near = append(r.near, i), append(near, rtt)
		}
	}
	if len(near) > 0 {
		r.nearRTT = median(near)
	}
	return r
}

// compare holds a sample of a cluster against what is remembered of its network.
func (m *clusterMemory) compare(k *cluster, s discovery.Server, rtt time.Duration) {
	if remembered, ok := m.known[topology.Prefix24.Prefix(s.Addr.Addr())]; ok {
		m.trial.Note(k, history.Agree(remembered, rtt))
	}
}

// confirmed says that a probe found a cluster where it is remembered.
func (m *clusterMemory) confirmed(k *cluster) bool {
	return m.trial.Score(k) > 0 && !m.trial.Refuted()
}

// firstSamples are the members that are asked first: one that shows whether
// what is remembered holds, or else so many.
func (c *calibrated) firstSamples(k *cluster, count int) []int {
	k.recall = c.memory.of(c.servers, k.members)
	k.recall.count = count
	if confirming := c.unasked(k.recall.members, 1); c.memory.sampled && len(confirming) > 0 {
		return confirming
	}
	return c.spreadOver(k.members, count)
}

// recallOr takes what is remembered of a cluster for samples if that was
// confirmed. If not, it has the cluster sampled, and says so.
func (c *calibrated) recallOr(k *cluster) (sampling bool) {
	r := &k.recall
	r.confirmed = r.confirmed || c.memory.confirmed(k)
	switch {
	case !c.memory.sampled, len(r.rtts) == 0:
		return false
	case r.confirmed:
		k.rtts = append(k.rtts, r.rtts...)
		return false
	}
	var more []int
	for _, i := range c.spreadOver(k.members, r.count) {
		if !c.asked[i] {
			more = append(more, i)
		}
	}
	k.recall = recall{}
	c.sample(k, more)
	return len(more) > 0
}

// recalls says that a part of a cluster needs no sample of its own.
func (c *calibrated) recalls(part *cluster) bool {
	return c.memory.sampled && len(part.recall.rtts) > 0
}

// rankNear ranks those servers of a far cluster apart that are remembered near:
// they may be few among many.
func (c *calibrated) rankNear(k *cluster) {
	if r := k.recall; r.confirmed && len(r.near) > 0 && k.rtt >= c.options.MaxRTT {
		c.rank(&cluster{members: r.near, rtt: r.nearRTT})
	}
}
