// Package calibrated implements the plans of the papers on optimised discovery: sample
// each cluster of servers, rank the clusters, probe the rest in that order, and stop
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
	"muster/discovery/plan/history"
)

// plan samples each cluster, ranks the clusters by the RTT of their samples, and probes
// the rest in that order.
//
//	clusters ─▶ samples ─▶ median ─┬────────────────────▶ rank ─▶ the rest
//	                               └─▶ spread too wide: split,
//	                                   one sample of each part ─▲
//
// While the last samples are under way it already probes clusters that are certainly
// near enough, so that no time is lost.
type plan struct {
	strategy discovery.Strategy
	servers  []discovery.Server
	options  discovery.PlanOptions
	rng      *rand.Rand

	of       []*cluster // the cluster that waits for a server's RTT
	asked    []bool
	queue    []int // samples to be sent
	waiting  int   // samples that are under way
	measured map[netip.Addr]time.Duration

	// remembered is the RTT of each /24 at earlier visits, and trial compares it with
	// samples.
	remembered map[netip.Prefix]time.Duration
	trial      history.Trial[*cluster]

	settled []*cluster // nearest last
	current []int      // unprobed servers of the current cluster

	summary discovery.PlanSummary
}

// stream separates the random numbers from other plans' numbers with the same seed.
const stream = 0x63616c69

// New returns the plan of one of the papers' strategies. The options must be complete.
func New(strategy discovery.Strategy, servers []discovery.Server, o discovery.PlanOptions) discovery.Plan {
	groups := clusters(strategy, servers, o)
	p := &plan{
		strategy: strategy, servers: servers, options: o,
		rng:        rand.New(rand.NewPCG(o.Seed, stream)),
		of:         make([]*cluster, len(servers)),
		asked:      make([]bool, len(servers)),
		measured:   make(map[netip.Addr]time.Duration),
		remembered: make(map[netip.Prefix]time.Duration, len(o.Priors)),
		summary:    discovery.PlanSummary{Clusters: len(groups)},
	}
	for _, prior := range o.Priors {
		p.remembered[prior.Prefix] = prior.RTT
	}
	for _, members := range groups {
		k := &cluster{members: members, retry: o.SilentRetry, count: 1, rtt: unknownRTT}
		if strategy != discovery.ByCountry {
			k.count = max(1, int(math.Round(o.SampleScale*math.Sqrt(float64(len(members))))))
			k.split = o.Spread >= 0
		}
		k.recall = p.recall(members)
		first := p.unasked(k.recall.members, 1) // verifies the memory
		if !p.recallsSamples() || len(first) == 0 {
			first = p.spreadOver(members, k.count)
		}
		p.sample(k, first)
	}
	p.rng.Shuffle(len(p.queue), func(i, j int) { p.queue[i], p.queue[j] = p.queue[j], p.queue[i] })
	return p
}

// spreadOver draws at most n of the members at random, no two from one /16 (step 4b of
// 2008).
func (p *plan) spreadOver(members []int, n int) []int {
	seen := make(map[netip.Prefix]bool)
	var drawn []int
	for _, i := range p.rng.Perm(len(members)) {
		prefix := p.options.Split.Of(p.servers[members[i]].Addr.Addr())
		if len(drawn) < n && !seen[prefix] {
			seen[prefix] = true
			drawn = append(drawn, members[i])
		}
	}
	return drawn
}

// unasked draws at most n members at random that were not asked, at addresses with
// unknown RTT.
func (p *plan) unasked(members []int, n int) []int {
	var drawn []int
	if n <= 0 {
		return nil
	}
	for _, at := range p.rng.Perm(len(members)) {
		i := members[at]
		if _, known := p.measured[p.servers[i].Addr.Addr()]; len(drawn) < n && !p.asked[i] && !known {
			drawn = append(drawn, i)
		}
	}
	return drawn
}

// sample probes these members of a cluster.
func (p *plan) sample(k *cluster, members []int) {
	for _, i := range members {
		p.of[i], p.asked[i] = k, true
		k.waiting++
		p.queue = append(p.queue, i)
	}
}

func (p *plan) Next() (discovery.Probe, discovery.Verdict) {
	if len(p.queue) > 0 {
		i := p.queue[0]
		p.queue = p.queue[1:]
		p.waiting++
		p.summary.Calibration++
		return discovery.Probe{Server: i, Phase: discovery.Calibration}, discovery.Go
	}
	for {
		for len(p.current) > 0 {
			i := p.current[0]
			p.current = p.current[1:]
			if !p.asked[i] {
				p.asked[i] = true
				return discovery.Probe{Server: i, Phase: discovery.Ordered}, discovery.Go
			}
		}
		last := len(p.settled) - 1
		switch {
		case p.waiting > 0 && (last < 0 || p.settled[last].rtt >= p.options.MaxRTT):
			return discovery.Probe{}, discovery.Wait
		case last < 0:
			return discovery.Probe{}, discovery.Stop
		}
		p.current = p.settled[last].members
		p.settled = p.settled[:last]
		if p.strategy == discovery.ByCountry { // its order within a cluster is random, not the list's
			p.current = slices.Clone(p.current)
			p.rng.Shuffle(len(p.current), func(i, j int) { p.current[i], p.current[j] = p.current[j], p.current[i] })
		}
	}
}

func (p *plan) Observe(r discovery.Result) {
	if r.State == discovery.Answered {
		p.measured[p.servers[r.Server].Addr.Addr()] = r.RTT
	}
	k := p.of[r.Server]
	if k == nil {
		return
	}
	p.of[r.Server] = nil
	p.waiting--
	k.waiting--
	if r.State == discovery.Answered {
		k.rtts = append(k.rtts, r.RTT)
		if remembered, ok := p.remembered[networkOf(p.servers[r.Server])]; ok {
			p.trial.Note(k, history.Agree(remembered, r.RTT))
		}
	}
	if k.waiting == 0 {
		p.settle(k)
	}
}

// settle takes a cluster's decision once all samples are back.
func (p *plan) settle(k *cluster) {
	if p.sampleAfterAll(k) {
		return
	}
	if len(k.rtts) == 0 {
		if more := p.unasked(k.members, k.retry); len(more) > 0 {
			k.retry = 0
			p.sample(k, more)
			return
		}
		for _, i := range k.members { // RTTs measured to their addresses
			if rtt, ok := p.measured[p.servers[i].Addr.Addr()]; ok {
				k.rtts = append(k.rtts, rtt)
			}
		}
	}
	if len(k.rtts) > 0 {
		k.rtt = median(k.rtts)
		if k.split && spread(k.rtts) > p.options.Spread {
			p.splitUp(k)
			return
		}
	}
	if r := k.recall; r.confirmed && len(r.near) > 0 && k.rtt >= p.options.MaxRTT {
		p.rank(&cluster{members: r.near, rtt: r.nearRTT}) // they may be few among many
	}
	p.rank(k)
}

// rank inserts a settled cluster in order, the nearest last; ties break by address.
func (p *plan) rank(k *cluster) {
	lowest := func(k *cluster) discovery.Server {
		low := k.members[0]
		for _, i := range k.members {
			if discovery.CompareAddr(p.servers[i], p.servers[low]) < 0 {
				low = i
			}
		}
		return p.servers[low]
	}
	at, _ := slices.BinarySearchFunc(p.settled, k, func(a, b *cluster) int {
		if d := cmp.Compare(b.rtt, a.rtt); d != 0 {
			return d
		}
		return discovery.CompareAddr(lowest(b), lowest(a))
	})
	p.settled = slices.Insert(p.settled, at, k)
}

// splitUp makes a cluster of each /16 of one (step 4e of 2008). Each gets the RTT of
// one more probe, or of an address in it that was already probed or is remembered.
func (p *plan) splitUp(k *cluster) {
	for _, members := range group(k.members, func(i int) key { return key{prefix: p.options.Split.Of(p.servers[i].Addr.Addr())} }) {
		part := &cluster{members: members, rtt: unknownRTT}
		if k.recall.confirmed {
			part.recall = p.recall(members)
			part.recall.confirmed = true
		}
		if more := p.unasked(members, 1); len(more) > 0 && !(p.recallsSamples() && len(part.recall.rtts) > 0) {
			part.retry = p.options.SilentRetry
			p.sample(part, more)
			continue
		}
		p.settle(part)
	}
}

func (p *plan) Summary() discovery.PlanSummary { return p.summary }
