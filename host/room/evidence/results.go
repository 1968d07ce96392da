package evidence

import (
	"iter"
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/roomtime"
	"muster/selection"
	"muster/selection/line"
)

// PlayerResults is the evidence of one player: the servers that the player was asked for, and the
// results. The zero value has no questions yet.
type PlayerResults struct{ results }

// Reading is a player's evidence for readers, who cannot change it.
type Reading struct{ *results }

// Reading returns the evidence for reading.
func (w *PlayerResults) Reading() Reading { return Reading{&w.results} }

// results is the common part of [PlayerResults] and [Reading].
type results struct {
	// probes has one result for each server, in the order in which the probes ended.
	probes []discovery.Result
	// places are the servers' indexes in probes.
	places map[int]int
	asked  asked
	shown  exposure
	// looks are the results of the second looks, which count before probes.
	looks            map[int]Look
	probed, answered int
	// late is how late the timers fire on the player's machine. It belongs to a connection, and is
	// not saved.
	late time.Duration
	// probeLimit is the most servers that the player lets a round ask for, 0 for no bound.
	probeLimit int
	// line learns from the probes, and seen is the number of probes so far. delays are the delays of
	// the player's own busy line. They are not taken off looks.
	line   line.Line
	seen   int
	delays line.Delays
	// shares says that the player measures its part of the list, and the others behind the same
	// address measure the rest.
	shares bool
	// packed holds the probes in their saved form. It is nil if they have changed since the newest
	// save.
	packed []byte
}

// Next returns the player's results for the next round, still empty.
func (w *PlayerResults) Next() *PlayerResults {
	return &PlayerResults{results{probeLimit: w.probeLimit}}
}

// LimitProbes notes the most servers that the player lets a round ask for, 0 for no bound. It
// reports whether that is new.
func (w *PlayerResults) LimitProbes(most int) (isNew bool) {
	isNew = most != w.probeLimit
	w.probeLimit = most
	return isNew
}

// ProbeLimit returns the player's bound on servers in a round, 0 for none.
func (w *results) ProbeLimit() int { return w.probeLimit }

// Share notes whether the player measures only a part of the list.
func (w *PlayerResults) Share(part bool) { w.shares = part }

// IsSharing reports whether the player measures only a part of the list.
func (w *results) IsSharing() bool { return w.shares }

// NoteLate notes how late the timers fire on the player's machine, as its program says.
func (w *PlayerResults) NoteLate(by time.Duration) { w.late = by }

// Look is the result of several samples of a finalist.
type Look struct {
	discovery.Result
	Quality selection.Quality
	// RTTs are all samples after the search of a short list, in ms, the search's own first.
	RTTs []float64
}

// At returns the result that counts for a server.
func (w *results) At(server int) discovery.Result {
	if look, looked := w.looks[server]; looked {
		return look.Result
	}
	if place, probed := w.places[server]; probed && w.asked.has(server) {
		return w.quiet(place)
	}
	return discovery.Result{Server: server}
}

// IsUnprobed reports whether no result for a server counts.
func (w *results) IsUnprobed(server int) bool { return w.At(server).State == discovery.Unprobed }

// Servers yields the servers with a result, each once.
func (w *results) Servers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range w.probes {
			if server := w.probes[i].Server; w.asked.has(server) && !yield(server) {
				return
			}
		}
		for _, server := range slices.Sorted(maps.Keys(w.looks)) {
			if _, probed := w.places[server]; !(probed && w.asked.has(server)) && !yield(server) {
				return
			}
		}
	}
}

// Progress returns the number of servers with a result, and the number that answered.
func (w *results) Progress() (probed, answered int) { return w.probed, w.answered }

// Probes returns everything that the player reported, with or without a question, in the order of
// the probes' ends, and with the delays of a busy line. Do not change it; it only grows.
func (w *results) Probes() []discovery.Result { return slices.Clip(w.probes) }

// Probe returns the player's report on a server before any look.
func (w *results) Probe(server int) (probe discovery.Result, probed bool) {
	place, probed := w.places[server]
	if probed {
		probe = w.quiet(place)
	}
	return probe, probed
}

// Looked returns the result of the newest look at a server.
func (w *results) Looked(server int) (look Look, looked bool) {
	look, looked = w.looks[server]
	return look, looked
}

// CanName reports whether the player may know a server's name that nobody has told. A second look
// reports the name, too.
func (w *results) CanName(server int) bool {
	_, looked := w.looks[server]
	return !looked && w.At(server).State == discovery.Answered
}

// Report notes a probe, or news of an earlier one of the same server. Passed is how long the
// measuring has gone on by our clock. The probe's time must lie within that, and not before the
// last probe's, whatever the player's clock says. Report returns whether the probe has any news
// that counts, and whether the player has brought the server up: see [PlayerResults.Allow].
func (w *PlayerResults) Report(probe discovery.Result, passed time.Duration, now roomtime.Time) (isNew, isOwn bool) {
	probe.At = min(max(0, probe.At), passed)
	if n := len(w.probes); n > 0 {
		probe.At = max(probe.At, w.probes[n-1].At)
	}
	if isOwn = !w.asked.has(probe.Server) && probe.State == discovery.Answered && w.shown.own > 0; isOwn {
		w.shown.own--
		w.shown.servers.add(probe.Server)
		w.Admit(probe.Server)
	}
	isNew = w.asked.has(probe.Server) && w.IsUnprobed(probe.Server)
	w.add(w.asked.believed(probe, now))
	return isNew, isOwn
}

func (w *PlayerResults) add(probe discovery.Result) {
	w.packed = nil
	defer w.count(probe.Server, w.At(probe.Server).State)
	if place, again := w.places[probe.Server]; again {
		w.probes[place].State, w.probes[place].RTT = probe.State, probe.RTT
		return
	}
	if w.places == nil {
		w.places = map[int]int{}
	}
	w.places[probe.Server] = len(w.probes)
	probe.Info = nil // the room keeps it once, for all
	w.probes = append(w.probes, probe)
}

// Look notes the result of a look at a server.
func (w *PlayerResults) Look(look Look) {
	defer w.count(look.Server, w.At(look.Server).State)
	if w.looks == nil {
		w.looks = map[int]Look{}
	}
	w.looks[look.Server] = look
}

// Forget drops all measurements of a server.
func (w *PlayerResults) Forget(server int) {
	before := w.At(server).State
	w.packed = nil
	delete(w.looks, server)
	if place, probed := w.places[server]; probed {
		w.probes = slices.Delete(w.probes, place, place+1)
		delete(w.places, server)
		w.line, w.seen = line.Line{}, 0
		for i := range w.probes[place:] {
			w.places[w.probes[place+i].Server] = place + i
		}
	}
	w.count(server, before)
}

// count updates the numbers of results and answers after a server's result has changed.
func (w *PlayerResults) count(server int, before discovery.State) {
	after := w.At(server).State
	w.probed += toInt(after.Asked()) - toInt(before.Asked())
	w.answered += toInt(after == discovery.Answered) - toInt(before == discovery.Answered)
}

func toInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

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
