package evidence

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// A download makes all of a player's RTTs longer. So measurements of that time count without the
// delay.

// minRTT is the least RTT that remains when a delay is taken off.
const minRTT = time.Millisecond

// quiet returns a probe as it would be on the player's line without a delay.
func (w *results) quiet(place int) discovery.Result {
	probe := w.probes[place]
	if by := w.delays.At(probe.At); by > 0 && probe.State == discovery.Answered {
		probe.RTT = max(probe.RTT-by, min(probe.RTT, minRTT))
	}
	return probe
}

// Watch finds out from the newest probes when the player's own line was busy. It returns the
// servers whose RTTs this changes.
func (w *PlayerResults) Watch(tree *topology.Tree) (changed []int) {
	if w.seen == len(w.probes) {
		return nil
	}
	for _, probe := range w.probes[w.seen:] {
		if probe.State == discovery.Answered {
			w.line.Note(tree, tree.Of(probe.Server), probe.At, probe.RTT)
		}
	}
	w.seen = len(w.probes)
	before, after := w.delays, w.line.Delays()
	if slices.Equal(before, after) {
		return nil
	}
	w.delays = after
	for _, probe := range w.probes {
		if before.At(probe.At) != after.At(probe.At) {
			changed = append(changed, probe.Server)
		}
	}
	return changed
}

// Delay returns how much longer the player's RTTs are now because the player's line is busy.
func (w *results) Delay() time.Duration { return w.delays.Now() }

// WasDelayed reports whether the player's line was busy when it probed a server.
func (w *results) WasDelayed(server int) bool {
	place, probed := w.places[server]
	return probed && w.delays.At(w.probes[place].At) > 0
}
