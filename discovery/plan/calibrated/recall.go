package calibrated

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// recall is what is remembered of a cluster. It counts once one probe there has
// confirmed it. If the cluster is far, its networks remembered as near are ranked
// apart.
//
// For an AS the remembered networks replace its samples. One probe confirms them. If it
// contradicts, the AS is sampled as if nothing were known. Larger clusters are too
// mixed: their samples are drawn again each time.
type recall struct {
	members []int           // the servers of the remembered networks
	rtts    []time.Duration // one of each network
	// near are the servers of the networks remembered under the limit, at about
	// nearRTT.
	near    []int
	nearRTT time.Duration
	// confirmed reports that a probe of the cluster, or of the one that it came from,
	// agreed.
	confirmed bool
}

// networkOf returns the network that memories of a server are kept for.
func networkOf(s discovery.Server) netip.Prefix { return topology.Prefix24.Prefix(s.Addr.Addr()) }

// recall returns what is remembered of these servers.
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

// recallsSamples reports whether memories replace samples.
func (p *plan) recallsSamples() bool { return p.strategy == discovery.ByAS }

// sampleAfterAll replaces a cluster's samples by its memories if they were confirmed.
// If not, it samples the cluster, and reports that.
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
