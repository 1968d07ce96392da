// Package adaptive is Muster's own plan: every reply moves what it expects of all
// servers, and it stops when hardly a near one can be left.
package adaptive

import (
	"muster/discovery"
	"muster/discovery/topology"
)

// adaptive is our own plan. It does not calibrate first: every reply moves what
// it expects of the servers that have something in common with the one that
// replied. It goes where near servers are likely, and sends a few scouts
// elsewhere to see whether it is wrong.
//
//	one server    ┌──────────────────────────────────────────────┐
//	a country ─▶ batch ─▶ replies ─▶ tree ─▶ forecast ─▶ enough? ─┴▶ stop
type adaptive struct {
	*search
	forecast *forecast
	options  discovery.PlanOptions
	// ends: the plan stops by its own forecast.
	ends    bool
	found   int
	outlook outlook
	nearest *nearest
	// seeded: what is remembered was verified, and the countries were asked.
	seeded bool
	// attentive plans a batch only when most of the last one is back.
	attentive bool

	queue []discovery.Probe
	// Of the last batch, of this size, pending probes are not back. Those of
	// earlier ones that are not are likely silent.
	batches, size, pending int
	batchOf                []int

	asked    int
	fresh    int // replies since the last batch
	underway int
	stopped  bool
	// settling: it would stop, but for what is under way.
	settling bool
	summary  discovery.PlanSummary
}

func New(list *topology.Tree, o discovery.PlanOptions) discovery.Plan {
	servers := list.List()
	a := &adaptive{
		search: newSearch(newTree(servers, o.MaxRTT), o.Seed), options: o,
		forecast: newForecast(), batchOf: make([]int, len(servers)),
	}
	if o.Nearest > 0 {
		a.nearest = &nearest{count: o.Nearest}
		a.wanted, a.attentive = float64(o.Nearest), true
	}
	a.memory = recollect(a.tree, servers, o)
	a.begin()
	// A limit of RTTs is no measure of the nearest: a search for them ends by its
	// own forecast, whatever the auto-stop.
	a.ends = o.AutoStop == discovery.StopConfident || o.Nearest > 0 && o.AutoStop != discovery.StopOff
	return a
}

// mostSeeds bounds the first probes, should a list have very many clusters.
const mostSeeds = 100

// begin asks where near servers are remembered, and then in every other country.
func (a *adaptive) begin() {
	if near, ok := a.memory.nextNear(); ok {
		a.queue = append(a.queue, a.verify(near))
		a.size++
		a.pending++
		return
	}
	a.seeded = true
	a.seed()
}

// seed asks one server of each country, of the largest first.
func (a *adaptive) seed() {
	best := newTop(mostSeeds)
	for i := range a.nodes {
		if n := &a.nodes[i]; n.level == country {
			a.summary.Clusters++
			best.offer(candidate{int32(i), float64(n.size)})
		}
	}
	for _, c := range best.sorted() {
		if a.nodes[c.node].asked() == 0 {
			a.queue = append(a.queue, a.ask(a.draw(c.node), discovery.Calibration))
		}
	}
	a.size, a.pending = a.size+len(a.queue), a.pending+len(a.queue)
}

func (a *adaptive) Next() (discovery.Probe, discovery.Verdict) {
	if len(a.queue) == 0 && !a.seeded {
		a.begin()
	}
	if len(a.queue) == 0 && !a.stopped {
		if a.attentive && a.underway > patience && 2*a.pending > a.size {
			return discovery.Probe{}, discovery.Wait
		}
		if a.settling && a.underway > 0 {
			return discovery.Probe{}, discovery.Wait
		}
		a.refill()
		if a.settling = a.stopped && a.underway > 0; a.settling {
			a.stopped = false // until all have told what they can
			return discovery.Probe{}, discovery.Wait
		}
		a.batches++
		a.size, a.pending = len(a.queue), len(a.queue)
	}
	if len(a.queue) == 0 {
		return discovery.Probe{}, discovery.Stop
	}
	probe := a.queue[0]
	a.queue = a.queue[1:]
	a.asked++
	a.underway++
	a.batchOf[probe.Server] = a.batches
	if probe.Phase == discovery.Calibration {
		a.summary.Calibration++
	}
	return probe, discovery.Go
}

// Batches grow with what is known: a forecast takes as long as a few hundred
// probes of a slow line.
const (
	batchShare = 48 // of the probes sent
	minBatch   = 16
	maxBatch   = 128
)

// patience is how many probes may be under way in any case when an attentive
// plan goes on.
const patience = 24

// refill stops, or fills the queue, as long as there are servers to ask. It
// surveys the countries first if the nearest are wanted, and otherwise before it
// stops.
func (a *adaptive) refill() {
	if a.nodes[0].unprobed == 0 {
		a.outlook = outlook{}
		return
	}
	if a.nearest != nil {
		if a.survey(); len(a.queue) > 0 {
			return
		}
		a.relimit(a.nearest.limit(a.limit))
	}
	a.forecast.learn(a.fresh)
	a.fresh = 0
	a.outlook = a.search.outlook(a.forecast)
	if a.ends && a.enough() {
		a.survey()
		a.stopped = len(a.queue) == 0
		return
	}
	a.attentive = a.nearest != nil
	a.queue = a.batch(min(max(a.asked/batchShare, minBatch), maxBatch), !a.ends)
}

// survey looks into every country, and waits for what it brings.
func (a *adaptive) survey() {
	a.queue = a.search.survey(0)
	if len(a.queue) == 0 && a.nearest != nil && a.nearest.lonely() {
		a.queue = a.search.survey(lonelyNetworks)
	}
	if len(a.queue) > 0 {
		a.attentive = true
	}
}

// enough says that the rest of the list is not worth its probes.
func (a *adaptive) enough() bool {
	missing, few := a.options.Missing, fewLeft
	switch {
	case a.nearest != nil:
		return a.nearest.enough(a.outlook.near, a.memory.trusted())
	case !a.memory.empty():
		missing, few = missing*warmMissing, warmFew
	}
	return a.outlook.nothingLeft(float64(a.found), missing, few)
}

func (a *adaptive) Observe(r discovery.Result) {
	a.underway--
	if a.batchOf[r.Server] == a.batches {
		a.pending--
	}
	a.observe(r.Server, r.State, r.RTT)
	a.tried++
	if r.State != discovery.Answered {
		return
	}
	a.memory.compare(int32(r.Server), r.RTT)
	a.answered++
	a.fresh++
	near := r.RTT < a.limit
	if near {
		a.found++
	}
	if !a.memory.verified[int32(r.Server)] {
		a.forecast.note(a.expected[r.Server], near)
	}
	if a.nearest != nil {
		a.nearest.add(r.RTT, near)
	}
}

func (a *adaptive) Summary() discovery.PlanSummary {
	s := a.summary
	s.AutoStopped = a.stopped && a.nodes[0].unprobed > 0
	if a.nearest == nil {
		s.Claim = a.outlook.claim(float64(a.found), a.limit)
	}
	return s
}
