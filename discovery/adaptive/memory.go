package adaptive

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/history"
	"muster/discovery/topology"
)

// recollection is what an adaptive plan makes of earlier visits. A remembered
// RTT is an observation of its /24 that counts for a little less than a fresh
// one, and makes way for it; but a route may have changed. Of a cell, where one
// change moves everything, memories count only once a probe has confirmed one.
//
//	             ┌─ confirmed ────▶ nearly as good as measured
//	remembered ──┤
//	             └─ contradicted ─▶ as if never seen; most of them: all forgotten
//
// A plan that looks for the nearest, and does not say how many it found, lets
// the unconfirmed count a little, as where to look and where not to.
type recollection struct {
	*tree
	trial history.Trial[int32] // by cell
	sites map[int32]int
	cells map[int32]*recalledCell
	// unverified are the /24s that are asked first, verified the servers asked
	// there.
	unverified []int32
	verified   map[int32]bool
	// unconfirmed is what a cell's memories count together while no probe has
	// confirmed them.
	unconfirmed float64
}

// recalled is a remembered /24.
type recalled struct {
	site      int32
	rtt       time.Duration
	certainty float64
	weight    float64 // in the tree
	spent     bool    // a fresh reply came from there
}

// recalledCell is what is remembered of an AS in a country, in the tree's order.
type recalledCell struct{ first, after int }

const (
	// confirmedWeight is what each of a confirmed cell's memories counts, but for
	// its age; unconfirmedWeight is for those of any other together.
	confirmedWeight   = 0.9
	unconfirmedWeight = 0.3
	// warmMissing is what part of the share that may be missed is left to a plan
	// with memories: what it does not look at again may have changed.
	warmMissing = 0.8
	// warmFew is what it has of [fewLeft].
	warmFew = 1.0
)

// recollect hangs what is remembered on the tree.
func recollect(t *tree, servers []discovery.Server, o discovery.PlanOptions) *recollection {
	m := &recollection{
		tree:  t,
		sites: make(map[int32]int), cells: make(map[int32]*recalledCell), verified: make(map[int32]bool),
	}
	if o.Nearest > 0 {
		m.unconfirmed = unconfirmedWeight
	}
	known := make(map[netip.Prefix]discovery.Prior, len(o.Priors))
	for _, p := range o.Priors {
		known[p.Prefix] = p
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.level != site {
			continue
		}
		if p, ok := known[topology.Prefix24.Prefix(servers[t.order[n.first]].Addr.Addr())]; ok {
			m.add(int32(i), p)
		}
	}
	for at := 0; at < len(t.recalled); {
		c := m.cells[m.above(t.recalled[at].site, cell)]
		m.believe(c, 0)
		at = c.after
	}
	m.unverified = m.near()
	return m
}

func (m *recollection) add(branch int32, p discovery.Prior) {
	at, of := len(m.recalled), m.above(branch, cell)
	if m.cells[of] == nil {
		m.cells[of] = &recalledCell{first: at}
	}
	m.cells[of].after = at + 1
	m.sites[branch] = at
	m.recalled = append(m.recalled, recalled{site: branch, rtt: p.RTT, certainty: p.Certainty})
}

// believe has a cell's memories count as its score in the trial says.
func (m *recollection) believe(c *recalledCell, score int) {
	trust := 0.0
	switch {
	case score > 0:
		trust = confirmedWeight
	case score == 0:
		trust = m.unconfirmed / float64(c.after-c.first)
	}
	for i := c.first; i < c.after; i++ {
		m.reweigh(&m.recalled[i], trust)
	}
}

// reweigh has a memory count so much; a spent one does not count.
func (m *recollection) reweigh(r *recalled, trust float64) {
	weight := trust * r.certainty
	if r.spent {
		weight = 0
	}
	if change := weight - r.weight; change != 0 {
		m.weigh(r.site, r.rtt, change)
		r.weight = weight
	}
}

// compare holds a fresh RTT against what is remembered of its /24.
func (m *recollection) compare(server int32, rtt time.Duration) {
	at, ok := m.sites[m.above(m.leaf[server], site)]
	if !ok || m.recalled[at].spent {
		return
	}
	r := &m.recalled[at]
	r.spent = true
	of := m.above(r.site, cell)
	m.believe(m.cells[of], m.trial.Note(of, history.Agree(r.rtt, rtt)))
	if m.trial.Refuted() {
		m.forget()
	}
}

// forget drops all memories: the player is elsewhere.
func (m *recollection) forget() {
	for i := range m.recalled {
		m.reweigh(&m.recalled[i], 0)
	}
	clear(m.sites)
	clear(m.cells)
	m.unverified = nil
}

// surveyed says that a network need not be looked into again: its cell is
// remembered, and nothing speaks against that. Who claims to have found nearly
// all looks again.
func (m *recollection) surveyed(branch int32) bool {
	if m == nil {
		return false
	}
	of := m.above(branch, cell)
	_, ok := m.cells[of]
	return ok && m.unconfirmed > 0 && m.trial.Score(of) >= 0
}

// empty says that nothing is remembered, or nothing any more.
func (m *recollection) empty() bool { return len(m.cells) == 0 }

// trusted says that memories proved right, and seldom wrong.
func (m *recollection) trusted() bool {
	return !m.empty() && m.trial.Trusted()
}

// mostVerified bounds the probes that see first whether memories hold.
const mostVerified = 48

// near are the /24s to verify memories at: of each cell that is remembered under
// the limit its nearest, the nearest cell first.
func (m *recollection) near() []int32 {
	nearest := make(map[int32]recalled)
	for _, r := range m.recalled {
		of := m.above(r.site, cell)
		if best, ok := nearest[of]; r.rtt < m.limit && (!ok || r.rtt < best.rtt) {
			nearest[of] = r
		}
	}
	all := slices.SortedFunc(maps.Values(nearest), func(x, y recalled) int {
		return cmp.Or(cmp.Compare(x.rtt, y.rtt), cmp.Compare(x.site, y.site))
	})
	var sites []int32
	for _, r := range all[:min(len(all), mostVerified)] {
		sites = append(sites, r.site)
	}
	return sites
}

// nextNear is the next /24 to verify memories at.
func (m *recollection) nextNear() (site int32, ok bool) {
	if len(m.unverified) == 0 {
		return 0, false
	}
	site, m.unverified = m.unverified[0], m.unverified[1:]
	return site, true
}

// verify asks a server of a remembered /24. What comes of it is no news to the
// forecast, which is of what the tree expects.
func (a *adaptive) verify(site int32) discovery.Probe {
	probe := a.ask(a.draw(site), discovery.Calibration)
	a.memory.verified[int32(probe.Server)] = true
	return probe
}
