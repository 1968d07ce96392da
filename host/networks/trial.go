package networks

import (
	"cmp"
	"math"
	"slices"

	"muster/discovery/plan/topology"
	"muster/selection/memory"
)

const (
	// agreeing is how many values must agree, each of another room and another network. The package
	// comment says why.
	agreeing = 3
	// maxSamples is how many values a trial has: three that agree are the majority of them.
	maxSamples = 2*agreeing - 1
	// trialLife is how long a trial lasts, in hours.
	trialLife = 28 * 24
	// maxTrials bounds the trials of a memory. They take some 20 MB.
	maxTrials = 1 << 17
)

// trialKey says what a trial is about.
type trialKey struct {
	origin
	part
}

func (k trialKey) compare(to trialKey) int {
	return cmp.Or(k.origin.compare(to.origin), k.part.compare(to.part))
}

// voice is a room and a network, by their hashes. Each pair counts once in a trial.
type voice struct{ room, network uint32 }

// sample is the value of a voice, in ticks.
type sample struct {
	voice
	ms, spread uint16
}

// trial has the values that were heard of a cell, the oldest first.
type trial struct {
	samples [maxSamples]sample
	n       uint8
	begun   uint32 // in hours
}

// Values agree if they are near their median: by apart, in ms, and by tolerance, as a share of the
// median. Apart depends on the part's level. Two players in an AS have different lines, and two rooms
// measure different servers of a country.
var maxApart = [topology.Levels]float64{topology.Country: 30, topology.AS: 20, topology.Prefix16: 15}

const tolerance = 0.2

// agree reports whether a value agrees with a middle one, in ticks.
func (k kind) agree(ms, middle uint16) bool {
	return math.Abs(inMS(ms)-inMS(middle)) <= maxApart[k.level()]+tolerance*inMS(middle)
}

// hear takes a value for a cell. A fresh cell that agrees needs no trial.
func (m *Memory) hear(key trialKey, s sample, now uint32) {
	r := m.rows[key.origin]
	at, known := r.find(key.part)
	if known && !isPast(r[at].seen, now, fresh) && key.kind.agree(s.ms, r[at].ms) {
		return
	}
	t, begun := m.trials[key]
	if !begun || isPast(t.begun, now, trialLife) {
		t = trial{begun: now}
	}
	if !t.add(s) {
		return
	}
	agreed, is := t.settle(key.kind)
	if !is {
		if m.trials[key] = t; !begun && len(m.trials) > m.maxTrials {
			m.evictTrials(now)
		}
		return
	}
	delete(m.trials, key)
	c := cell{part: key.part, ms: agreed.ms, spread: agreed.spread, count: agreed.count, seen: now}
	if known {
		c = c.after(r[at], now)
	}
	m.put(key.origin, c)
}

// add takes a value, and reports whether it is the first of its room and its network. The oldest
// value gives way.
func (t *trial) add(s sample) bool {
	for _, other := range t.samples[:t.n] {
		if other.room == s.room || other.network == s.network {
			return false
		}
	}
	if t.n == maxSamples {
		copy(t.samples[:], t.samples[1:])
		t.n--
	}
	t.samples[t.n] = s
	t.n++
	return true
}

// agreed is the result of a trial, in ticks.
type agreed struct {
	ms, spread uint16
	count      uint8
}

// settle returns the median of the values that agree, if there are enough of them. The spread
// combines the typical spread within a room with the distance between rooms.
func (t *trial) settle(k kind) (agreed, bool) {
	samples := slices.Clone(t.samples[:t.n])
	slices.SortFunc(samples, func(a, b sample) int { return cmp.Compare(a.ms, b.ms) })
	if len(samples) < agreeing {
		return agreed{}, false
	}
	middle := samples[(len(samples)-1)/2].ms
	samples = slices.DeleteFunc(samples, func(s sample) bool { return !k.agree(s.ms, middle) })
	if len(samples) < agreeing {
		return agreed{}, false
	}
	middle = samples[(len(samples)-1)/2].ms
	spreads, between := make([]uint16, len(samples)), 0.0
	for i, s := range samples {
		off := inMS(s.ms) - inMS(middle)
		spreads[i], between = s.spread, between+off*off
	}
	slices.Sort(spreads)
	within := inMS(spreads[(len(spreads)-1)/2])
	return agreed{middle, ticksOf(math.Sqrt(within*within + between/float64(len(samples)))), uint8(len(samples))}, true
}

// after returns a cell after an earlier one of the same part.
func (c cell) after(before cell, now uint32) cell {
	var same memory.Part // the part does not matter, because it is the same one
	merged := memory.After([]memory.Cell{before.whole(same)}, []memory.Cell{c.whole(same)}, timeOf(now))[0]
	c.ms, c.spread, c.count = ticksOf(merged.MS), ticksOf(merged.Spread), uint8(min(merged.Count, math.MaxUint8))
	return c
}

// evictTrials drops old trials. If that does not free a quarter of them, those with the fewest values
// go, the oldest first.
func (m *Memory) evictTrials(now uint32) {
	keys := make([]trialKey, 0, len(m.trials))
	for key, t := range m.trials {
		if isPast(t.begun, now, trialLife) {
			delete(m.trials, key)
			continue
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b trialKey) int {
		x, y := m.trials[a], m.trials[b]
		return cmp.Or(cmp.Compare(x.n, y.n), cmp.Compare(x.begun, y.begun), a.compare(b))
	})
	for _, key := range keys[:max(0, len(keys)-m.maxTrials*3/4)] {
		delete(m.trials, key)
	}
}
