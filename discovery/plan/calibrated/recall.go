package calibrated

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// recall is what is remembered of a cluster. It counts once one probe there has
// confirmed it. The networks that are remembered near are then ranked by
// themselves if the cluster is far. Of an AS the remembered networks stand for
// its samples: one probe confirms them, and if it contradicts, the AS is sampled
// as if nothing were known. Larger clusters are as mixed as the world; theirs
// are drawn anew each time.
type recall struct {
	members []int           // the servers of the remembered networks
	rtts    []time.Duration // a network each
	// near are the servers of those that are remembered under the limit, at
	// about nearRTT.
	near    []int
	nearRTT time.Duration
	// confirmed: a probe of the cluster, or of the one it was part of, did.
	confirmed bool
}

// networkOf is the network that is remembered as one.
func networkOf(s discovery.Server) netip.Prefix { return topology.Prefix24.Prefix(s.Addr.Addr()) }

// recall is what is remembered of these servers.
func (p *plan) recall(members []int) recall {
	var r recall
	var near []time.Duration
	seen := make(map[netip.Prefix]bool)
	for _, i := range members {
		network := networkOf(p.servers[i])
		rtt, ok := p.remembered[network]
		if !ok {
			continue
		}
		r.members = append(r.members, i)
		if !seen[network] {
			seen[network] = true
			r.rtts = append(r.rtts, rtt)
		}
		if rtt < p.options.MaxRTT {
			r.near, near = append(r.near, i), append(near, rtt)
		}
	}
	if len(near) > 0 {
		r.nearRTT = median(near)
	}
	return r
}

// recallsSamples reports whether what is remembered stands for samples.
func (p *plan) recallsSamples() bool { return p.strategy == discovery.ByAS }

// sampleAfterAll takes what is remembered of a cluster for samples if that was
// confirmed. If not, it has the cluster sampled, and says so.
func (p *plan) sampleAfterAll(k *cluster) bool {
	r := &k.recall
	r.confirmed = r.confirmed || p.trial.Score(k) > 0 && !p.trial.Refuted()
	if !p.recallsSamples() || len(r.rtts) == 0 {
		return false
	}
	if r.confirmed {
		k.rtts = append(k.rtts, r.rtts...)
		return false
	}
	var more []int
	for _, i := range p.spreadOver(k.members, k.count) {
		if !p.asked[i] {
			more = append(more, i)
		}
	}
	*r = recall{}
	p.sample(k, more)
	return len(more) > 0
}
