package adaptive

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// plan asks batch after batch:
//
//	one server    ┌──────────────────────────────────────────────────┐
//	a country ─▶ batch ─▶ replies ─▶ estimator ─▶ calibrator ─▶ enough? ─┴▶ stop
type plan struct {
	estimator   *estimator
	acquisition *acquisition
	recall      *recall
	shift       *shift
	nearest     *nearest // nil: the plan looks for all servers under the limit
	options     discovery.PlanOptions
	// ends means that the plan stops by its own estimate.
	ends  bool
	found int
	dry   int // replies since a near one
	left  remaining
	// seeded means that memories were verified, and that the countries were asked.
	seeded bool
	// attentive means that the plan makes a batch only when most of the last one is
	// back.
	attentive bool

	queue []discovery.Probe
	// pending counts the probes of the last batch, of this size, that are not back.
	// Older probes that are not back are likely silent.
	batch, size, pending int
	batchOf              []int32 // by server

	asked    int
	fresh    int // replies since the calibrator learnt
	vouched  int // replies when witnesses were last asked before a stop
	underway int
	stopped  bool
	// settling means that the plan only waits for the probes under way before it stops.
	settling bool
	summary  discovery.PlanSummary
}

// New returns the adaptive plan for the list of a topology. The options must be
// complete.
func New(list *topology.Tree, o discovery.PlanOptions) discovery.Plan {
	e := newEstimator(list, o.MaxRTT)
	p := &plan{
		estimator: e, acquisition: newAcquisition(e, o.Seed), recall: newRecall(e, o),
		options: o, batchOf: make([]int32, len(list.List())),
		// An RTT limit does not tell whether the nearest are found. So a search for
		// them ends by its own estimate, with any auto-stop.
		ends: o.AutoStop == discovery.StopConfident || o.Nearest > 0 && o.AutoStop != discovery.StopOff,
	}
	if o.Nearest > 0 {
		p.nearest = &nearest{count: o.Nearest}
		p.acquisition.wanted, p.attentive = float64(o.Nearest), true
	}
	p.shift, p.acquisition.missing = p.acquisition.shift, o.Missing
	p.begin()
	return p
}

const (
	// maxSeeds bounds the first probes for lists with very many countries.
	maxSeeds = 100
	// A batch is one part in batchPart of the probes sent, so that it grows with the
	// plan's knowledge, and at least minBatch. An estimate takes longer for a longer
	// list. So a search for all near servers spends one probe for every batchNodes of
	// the topology. A batch above maxBatch would act on old news.
	batchPart  = 32
	minBatch   = 16
	batchNodes = 2400
	maxBatch   = 192
	// patience is how many probes may still be under way when an attentive plan goes
	// on.
	patience = 24
)

// begin asks where near servers are remembered, one server of each network. Then it
// asks one server of every other country, the largest country first.
func (p *plan) begin() {
	if unverified := p.recall.unverified; len(unverified) > 0 {
		p.recall.unverified = unverified[1:]
		p.enqueue(p.acquisition.take(unverified[0], discovery.Calibration))
		return
	}
	p.seeded = true
	tree, largest := p.estimator.tree, newTop(maxSeeds)
	for c := topology.Root + 1; int(c) < tree.Nodes(); c = tree.End(c) {
		p.summary.Clusters++
		largest.offer(candidate{c, float64(tree.Size(c))})
	}
	for _, c := range largest.sorted() {
		if p.estimator.asked(c.node) == 0 {
			p.enqueue(p.acquisition.take(c.node, discovery.Calibration))
		}
	}
}

func (p *plan) enqueue(probe discovery.Probe) {
	p.queue = append(p.queue, probe)
	p.size++
	p.pending++
}

func (p *plan) Next() (discovery.Probe, discovery.Verdict) {
	if len(p.queue) == 0 && !p.seeded {
		p.begin()
	}
	if len(p.queue) == 0 && !p.stopped {
		if p.attentive && p.underway > patience && 2*p.pending > p.size {
			return discovery.Probe{}, discovery.Wait
		}
		if p.settling && p.underway > 0 {
			return discovery.Probe{}, discovery.Wait
		}
		p.refill()
		if p.settling = p.stopped && p.underway > 0; p.settling {
			p.stopped = false // until all have told what they can
			return discovery.Probe{}, discovery.Wait
		}
		p.batch++
		p.size, p.pending = len(p.queue), len(p.queue)
	}
	if len(p.queue) == 0 {
		return discovery.Probe{}, discovery.Stop
	}
	probe := p.queue[0]
	p.queue = p.queue[1:]
	p.asked++
	p.underway++
	p.batchOf[probe.Server] = int32(p.batch)
	if probe.Phase == discovery.Calibration {
		p.summary.Calibration++
	}
	return probe, discovery.Go
}

// refill stops, or fills the queue, while there are servers to ask. It surveys the
// countries first for a search for the nearest, and otherwise before it stops.
func (p *plan) refill() {
	if p.estimator.nodes[topology.Root].unasked == 0 {
		p.left = remaining{}
		return
	}
	if p.nearest != nil {
		if p.survey(); len(p.queue) > 0 {
			return
		}
		// Under the same limit nothing would change, except by memories, which then
		// count in another order.
		if limit := p.nearest.limit(p.estimator.limit); limit != p.estimator.limit || len(p.estimator.memories) > 0 {
			p.estimator.relimit(limit)
		}
		p.estimator.need = p.nearest.missing(p.estimator.limit)
	}
	p.estimator.calibrator.learn(p.fresh)
	p.fresh = 0
	p.left = p.estimator.remaining()
	if p.ends && p.hasEnough() {
		p.survey()
		if replies := len(p.estimator.replies); len(p.queue) == 0 && replies > p.vouched+patience {
			p.queue = p.acquisition.witnesses(nil, shiftWindow)
			p.vouched = replies + p.underway + len(p.queue)
		}
		if len(p.queue) > 0 {
			return
		}
		if p.underway > 0 || p.nearest != nil || !p.suspects() {
			p.stopped = true
			return
		}
		p.left = p.estimator.remaining()
	}
	p.attentive = p.nearest != nil
	least := minBatch
	if p.nearest == nil {
		least = max(least, len(p.estimator.nodes)/batchNodes)
	}
	p.queue = p.acquisition.batch(min(max(p.asked/batchPart, least), maxBatch), !p.ends)
}

// survey looks into every country, and waits for the replies. A search for all near
// servers looks into the largest blocks of addresses, too.
func (p *plan) survey() {
	p.queue = p.acquisition.survey(0, p.recall)
	switch {
	case len(p.queue) > 0:
	case p.nearest == nil:
		p.queue = p.acquisition.surveyBlocks()
	case len(p.nearest.rtts) == 0 || p.nearest.rtts[0] > lonelyRTT: // nobody near has replied
		p.queue = p.acquisition.survey(lonelyNetworks, p.recall)
	}
	if len(p.queue) > 0 {
		p.attentive = true
	}
}

// hasEnough reports whether the rest of the list is not worth its probes.
func (p *plan) hasEnough() bool {
	switch {
	case p.nearest != nil:
		return p.nearest.hasEnough(p.left, p.doubt(), p.recall.trusted())
	case p.recall.empty():
		return p.left.negligible(float64(p.found), p.options.Missing, fewAfter(p.dry))
	}
	return p.left.negligible(float64(p.found), warmMissing*p.options.Missing, fewLeftWarm)
}

// doubt returns how little a search for the nearest relies on labels, from 0 to 1.
func (p *plan) doubt() float64 {
	if p.left.unlabelled > p.left.near/2 {
		return 1
	}
	return min(1, p.estimator.labels.wrong/doubtfulLabels)
}

func (p *plan) Observe(r discovery.Result) {
	p.underway--
	if int(p.batchOf[r.Server]) == p.batch {
		p.pending--
	}
	if r.State == discovery.Answered {
		p.notice(p.estimator.above(r.Server, topology.Prefix24), r.RTT)
		r.RTT = max(r.RTT-p.shift.delay, 0)
	}
	near := r.State == discovery.Answered && r.RTT < p.estimator.limit
	p.estimator.observe(r.Server, r.State, r.RTT)
	if r.State != discovery.Answered {
		return
	}
	p.recall.compare(r.Server, r.RTT)
	p.fresh++
	p.dry++
	if near {
		p.found++
		p.dry = 0
	}
	if p.nearest != nil {
		p.nearest.add(r.RTT, near)
	}
}

// notice checks whether the player's own line has become slower or faster, and then
// counts the replies since that again.
func (p *plan) notice(network topology.Node, rtt time.Duration) {
	e := p.estimator
	if change, noticed := p.shift.note(network, len(e.replies), rtt); noticed {
		p.correct(change)
	}
}

// suspects reports whether the line may have been busy from the start on.
func (p *plan) suspects() bool {
	e := p.estimator
	if len(e.replies) == 0 {
		return false
	}
	nearest := slices.MinFunc(e.replies, func(a, b reply) int { return cmp.Compare(a.rtt, b.rtt) }).rtt
	change, suspicious := p.shift.suspect(nearest, e.limit)
	if suspicious {
		p.correct(change)
	}
	return suspicious
}

// correct counts all replies again after a change of the line.
func (p *plan) correct(c change) {
	e := p.estimator
	e.correct(c)
	p.found = 0
	for _, r := range e.replies {
		if r.rtt < e.limit {
			p.found++
		}
	}
	if p.nearest != nil {
		p.nearest.restart(e.replies)
	}
}

func (p *plan) Summary() discovery.PlanSummary {
	s := p.summary
	s.AutoStopped = p.stopped && p.estimator.nodes[topology.Root].unasked > 0
	s.Shift = p.shift.largest
	if p.nearest == nil && s.Shift == 0 && !p.shift.suspected {
		s.Claim = p.left.claim(float64(p.found), p.estimator.limit)
	}
	return s
}
