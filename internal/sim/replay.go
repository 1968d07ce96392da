package sim

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
)

// ReplayOptions configure how a replay sends.
type ReplayOptions struct {
	// Rate is the number of new probes per second. The default is 140, as in the papers.
	Rate float64
	// Timeout is the silence after which a query is repeated, and after the last repetition the
	// server is given up. The default is 1 s. Replies that come later still count.
	Timeout time.Duration
	// Retries is how often a query is repeated. The default is 2, and negative is never.
	Retries int
	// Run tells apart the runs on one vantage: each has other packet pairs.
	Run uint64
	// Shift is the change of the player's own line meanwhile.
	Shift Shift
}

// Shift makes all of a player's round trips longer for a while, as a download does. Its times are
// shares of the list: so many servers have been probed.
type Shift struct {
	// By is the most that it adds.
	By time.Duration
	// From is its begin, Full is when all of By is added, at once unless that is later, and Until
	// is its end. 0 is never.
	From, Full, Until float64
}

// ParseShift reads a shift: how much all pings rise, and from which share of the list until which
// other, such as 50ms@0.1-0.3.
func ParseShift(text string) (s Shift, err error) {
	wrong := fmt.Errorf("%q is not how much and when, such as 50ms@0.1 or 50ms@0.1-0.3", text)
	by, when, ok := strings.Cut(text, "@")
	if !ok {
		return Shift{}, wrong
	}
	from, until, ends := strings.Cut(when, "-")
	if s.By, err = time.ParseDuration(by); err != nil {
		return Shift{}, wrong
	}
	if s.From, err = strconv.ParseFloat(from, 64); err != nil || !(0 <= s.From && s.From < 1) {
		return Shift{}, wrong
	}
	if ends {
		if s.Until, err = strconv.ParseFloat(until, 64); err != nil || !(s.From < s.Until) {
			return Shift{}, wrong
		}
	}
	return s, nil
}

// at returns the addition to a round trip when this share of the list has been probed.
func (s Shift) at(asked float64) time.Duration {
	switch {
	case asked < s.From, s.Until > 0 && asked >= s.Until:
		return 0
	case asked < s.Full:
		return time.Duration(float64(s.By) * (asked - s.From) / (s.Full - s.From))
	}
	return s.By
}

func (o ReplayOptions) withDefaults() ReplayOptions {
	o.Rate = cmp.Or(o.Rate, 140)
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	o.Retries = max(0, cmp.Or(o.Retries, 2))
	return o
}

// Replay runs a plan on a vantage in virtual time. It returns the results in the order of the first
// probes, and the time of the last result. A plan that waits for nothing ends.
func (v *Vantage) Replay(plan discovery.Plan, o ReplayOptions) ([]discovery.Result, time.Duration) {
	r := newReplay(v, plan, o, 0, nil)
	r.advance(math.MaxInt64)
	return r.results, r.now
}

func newReplay(v *Vantage, plan discovery.Plan, o ReplayOptions, now time.Duration, seen func(discovery.Result)) *replay {
	o = o.withDefaults()
	return &replay{v: v, plan: plan, o: o, gap: time.Duration(float64(time.Second) / o.Rate), now: now, seen: seen}
}

// replay is one run in virtual time.
type replay struct {
	v       *Vantage
	plan    discovery.Plan
	o       ReplayOptions
	gap     time.Duration // between two probes
	now     time.Duration
	free    time.Duration // the earliest time of the next probe
	results []discovery.Result
	// pending are the results under way, as indexes.
	pending queue[int]
	// verdict is the plan's newest verdict.
	verdict discovery.Verdict
	// seen is called with each result as it comes in, unless it is nil.
	seen func(discovery.Result)
}

// advance lets the run go on until a time. It asks a plan that names nothing again after a result
// if it waits, and after [replay.wake] if it stopped.
func (r *replay) advance(until time.Duration) {
	for {
		for r.pending.hasBy(min(r.free, until)) {
			r.deliver()
		}
		switch {
		case r.verdict == discovery.Go && r.free <= until:
			probe, verdict := r.plan.Next()
			if r.verdict = verdict; verdict == discovery.Go {
				r.now = max(r.now, r.free)
				r.free = r.now + r.gap
				r.send(probe)
			}
		case r.verdict != discovery.Go && r.pending.hasBy(until):
			r.deliver()
			r.free = max(r.free, r.now)
		default:
			return
		}
	}
}

// wake lets the run ask a plan that stopped or waits again from now on.
func (r *replay) wake(now time.Duration) {
	r.advance(now)
	r.now, r.verdict = max(r.now, now), discovery.Go
}

// send probes a server, and again while it is silent.
func (r *replay) send(p discovery.Probe) {
	result := discovery.Result{Server: p.Server, Order: len(r.results) + 1, Phase: p.Phase, State: discovery.Lost}
	at := r.now
	for attempt := range r.o.Retries + 1 {
		rtt, lost := r.v.Pair(p.Server, r.o.Run<<8|uint64(attempt))
		rtt += r.o.Shift.at(float64(len(r.results)) / float64(len(r.v.Servers)))
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
	r.pending.push(at, len(r.results)-1)
}

// deliver lets time pass until the next result is in.
func (r *replay) deliver() {
	at, next := r.pending.pop()
	r.now = max(r.now, at)
	if r.verdict == discovery.Wait {
		r.verdict = discovery.Go
	}
	r.plan.Observe(r.results[next])
	if r.seen != nil {
		r.seen(r.results[next])
	}
}
