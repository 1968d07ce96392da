package sim

import (
	"cmp"
	"time"

	"muster/discovery"
)

// ReplayOptions is how a replay's executor sends.
type ReplayOptions struct {
	// Rate is the number of new probes per second: 140, as in the papers.
	Rate float64
	// Timeout is the silence after which a query is repeated, and after the last
	// the server given up: 1 s. Replies that come later than that still count.
	Timeout time.Duration
	// Retries is how often a query is repeated: 2; negative is never.
	Retries int
	// Run tells apart the runs on one vantage: each has other packet pairs.
	Run uint64
}

func (o ReplayOptions) withDefaults() ReplayOptions {
	o.Rate = cmp.Or(o.Rate, 140)
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	o.Retries = max(0, cmp.Or(o.Retries, 2))
	return o
}

// Replay runs a plan on a vantage in virtual time, and returns the results in
// the order in which the servers were first asked, and when the last of them
// came in. A plan that waits for nothing ends.
func (v *Vantage) Replay(plan discovery.Plan, o ReplayOptions) ([]discovery.Result, time.Duration) {
	r := &replay{v: v, plan: plan, o: o.withDefaults()}
	r.gap = time.Duration(float64(time.Second) / r.o.Rate)
	for r.step() {
	}
	for len(r.pending) > 0 {
		r.deliver()
	}
	return r.results, r.now
}

// replay is one run in virtual time.
type replay struct {
	v        *Vantage
	plan     discovery.Plan
	o        ReplayOptions
	gap      time.Duration // between two probes
	now      time.Duration
	free     time.Duration // when the next probe may be sent
	results  []discovery.Result
	pending  []arrival // a heap, the next to come first
	arrivals int
}

// arrival is a result under way.
type arrival struct {
	at  time.Duration
	nth int // breaks ties
	of  int // index in results
}

func (a arrival) before(b arrival) bool { return a.at < b.at || a.at == b.at && a.nth < b.nth }

// step sends one probe or takes one result; false is the end.
func (r *replay) step() bool {
	for len(r.pending) > 0 && r.pending[0].at <= r.free {
		r.deliver()
	}
	switch probe, verdict := r.plan.Next(); {
	case verdict == discovery.Go:
		r.now = max(r.now, r.free)
		r.free = r.now + r.gap
		r.send(probe)
	case verdict == discovery.Wait && len(r.pending) > 0:
		r.deliver()
		r.free = max(r.free, r.now)
	default:
		return false
	}
	return true
}

// send asks a server, and again while it is silent.
func (r *replay) send(p discovery.Probe) {
	result := discovery.Result{Server: p.Server, Order: len(r.results) + 1, Phase: p.Phase, State: discovery.Lost}
	at := r.now
	for attempt := range r.o.Retries + 1 {
		rtt, lost := r.v.Pair(p.Server, r.o.Run<<8|uint64(attempt))
		if left := r.o.Timeout * time.Duration(r.o.Retries+1-attempt); !lost && rtt <= left {
			result.State, result.RTT = discovery.Answered, rtt
			at += rtt
			break
		}
		at += r.o.Timeout
	}
	if r.v.Infos != nil && result.State == discovery.Answered {
		result.Info = &r.v.Infos[p.Server]
	}
	r.results = append(r.results, result)
	r.push(arrival{at: at, nth: r.arrivals, of: len(r.results) - 1})
	r.arrivals++
}

// deliver lets time pass until the next result is in.
func (r *replay) deliver() {
	next := r.pop()
	r.now = max(r.now, next.at)
	r.plan.Observe(r.results[next.of])
}

func (r *replay) push(a arrival) {
	r.pending = append(r.pending, a)
	i := len(r.pending) - 1
	for i > 0 && a.before(r.pending[(i-1)/2]) {
		r.pending[i] = r.pending[(i-1)/2]
		i = (i - 1) / 2
	}
	r.pending[i] = a
}

func (r *replay) pop() arrival {
	top := r.pending[0]
	last := len(r.pending) - 1
	a := r.pending[last]
	r.pending = r.pending[:last]
	for i := 0; last > 0; {
		child := 2*i + 1
		if child+1 < last && r.pending[child+1].before(r.pending[child]) {
			child++
		}
		if child >= last || !r.pending[child].before(a) {
			r.pending[i] = a
			break
		}
		r.pending[i] = r.pending[child]
		i = child
	}
	return top
}
