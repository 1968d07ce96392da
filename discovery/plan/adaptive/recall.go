package adaptive

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/history"
	"muster/discovery/plan/topology"
)

// recall is an adaptive plan's use of earlier visits. A remembered RTT is an
// observation of its /24 that weighs a little less than a fresh one, which replaces it.
// But a route may have changed. One change moves all of an AS in a country, so memories
// there count only once a probe has confirmed one.
//
//	             ┌─ confirmed ────▶ nearly as good as measured
//	remembered ──┤
//	             └─ contradicted ─▶ as if never seen; most of them: all forgotten
//
// A plan that looks for the nearest makes no claim of how many it found. It lets
// unconfirmed memories count a little, to know where to look.
type recall struct {
	estimator *estimator
	trial     history.Trial[topology.Node] // by AS
	networks  map[topology.Node]int        // the memory of a /24
	ases      map[topology.Node]span       // those of an AS
	// unverified are the /24s to ask first.
	unverified []topology.Node
	// unconfirmed is the joint weight of an AS's memories while no probe has confirmed
	// them.
	unconfirmed float64
}

// span is a range of memories, in the order of the topology.
type span struct{ first, end int }

// memory is a remembered /24.
type memory struct {
	network   topology.Node
	rtt       time.Duration
	certainty float64
	weight    float64 // in the estimator
	spent     bool    // a fresh reply came from there
}

const (
	// confirmedWeight is the weight of each memory of a confirmed AS, before its age
	// counts; unconfirmedWeight is the joint weight for any other AS.
	confirmedWeight   = 0.9
	unconfirmedWeight = 0.3
	// maxVerified bounds the first probes, which verify memories.
	maxVerified = 48
)

// newRecall gives the estimator the memories of its list.
func newRecall(e *estimator, o discovery.PlanOptions) *recall {
	m := &recall{estimator: e, networks: make(map[topology.Node]int), ases: make(map[topology.Node]span)}
	if o.Nearest > 0 {
		m.unconfirmed = unconfirmedWeight
	}
	if len(o.Priors) == 0 {
		return m
	}
	known := make(map[netip.Prefix]discovery.Prior, len(o.Priors))
	for _, p := range o.Priors {
		known[p.Prefix] = p
	}
	nearest := make(map[topology.Node]memory) // of each AS that is remembered under the limit
	for n := range topology.Node(e.tree.Nodes()) {
		if e.tree.Level(n) != topology.Prefix24 {
			continue
		}
		first := e.tree.List()[e.tree.Servers(n)[0]]
		p, ok := known[topology.Prefix24.Prefix(first.Addr.Addr())]
		if !ok {
			continue
		}
		at, as := len(e.memories), e.tree.Above(n, topology.AS)
		if _, ok := m.ases[as]; !ok {
			m.ases[as] = span{first: at}
		}
		m.ases[as], m.networks[n] = span{m.ases[as].first, at + 1}, at
		one := memory{network: n, rtt: p.RTT, certainty: p.Certainty}
		e.memories = append(e.memories, one)
		if best, ok := nearest[as]; one.rtt < e.limit && (!ok || one.rtt < best.rtt) {
			nearest[as] = one
		}
	}
	for at := 0; at < len(e.memories); {
		s := m.ases[e.tree.Above(e.memories[at].network, topology.AS)]
		m.believe(s, 0)
		at = s.end
	}
	nearestFirst := slices.SortedFunc(maps.Values(nearest), func(x, y memory) int {
		return cmp.Or(cmp.Compare(x.rtt, y.rtt), cmp.Compare(x.network, y.network))
	})
	for _, one := range nearestFirst[:min(len(nearestFirst), maxVerified)] {
		m.unverified = append(m.unverified, one.network)
	}
	return m
}

// believe weighs the memories of an AS by its score in the trial. A spent one does not
// count.
func (m *recall) believe(s span, score int) {
	trust := 0.0
	switch {
	case score > 0:
		trust = confirmedWeight
	case score == 0:
		trust = m.unconfirmed / float64(s.end-s.first)
	}
	for i := s.first; i < s.end; i++ {
		one := &m.estimator.memories[i]
		weight := trust * one.certainty
		if one.spent {
			weight = 0
		}
		if change := weight - one.weight; change != 0 {
			m.estimator.weigh(one.network, one.rtt, change)
			one.weight = weight
		}
	}
}

// compare holds a fresh RTT against the memory of its /24.
func (m *recall) compare(server int, rtt time.Duration) {
	e := m.estimator
	at, ok := m.networks[e.above(server, topology.Prefix24)]
	if !ok || e.memories[at].spent {
		return
	}
	one := &e.memories[at]
	one.spent = true
	as := e.tree.Above(one.network, topology.AS)
	m.believe(m.ases[as], m.trial.Note(as, history.Agree(one.rtt, rtt)))
	if m.trial.Refuted() { // all are forgotten: the player is elsewhere
		m.believe(span{0, len(e.memories)}, -1)
		clear(m.networks)
		clear(m.ases)
		m.unverified = nil
	}
}

// surveyed reports whether a network needs no other look: its AS is remembered, and
// nothing contradicts that. A plan that claims to have found nearly all looks again.
func (m *recall) surveyed(network topology.Node) bool {
	if m == nil || m.unconfirmed == 0 {
		return false
	}
	as := m.estimator.tree.Above(network, topology.AS)
	_, ok := m.ases[as]
	return ok && m.trial.Score(as) >= 0
}

// empty reports whether there are no memories, or none are left.
func (m *recall) empty() bool { return len(m.ases) == 0 }

// trusted reports whether memories proved right, and seldom wrong.
func (m *recall) trusted() bool { return !m.empty() && m.trial.Trusted() }
