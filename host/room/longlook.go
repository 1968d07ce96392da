package room

import (
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// A long look tells lines apart that a moment does not: of three packets hardly one gets
// lost on a way that loses 3 %. Everyone asks the finalists over and over, as gently as in
// a short look (see [slot]): an address about once a second, which the strictest servers,
// DarkPlaces', answer, and a server at most ten times a second by all players together,
// as many as Quake 3's answer. More would measure the servers' limits, and not the lines.

// usualEvery is what a peer takes from one sample to the next if nobody else waits for a
// turn: a second, and up to a quarter more that no server can foresee.
const usualEvery = 1250 * time.Millisecond

// tellsAfter is how many samples tell a percentile and a share of losses, and not chance
// alone; what a look that was cut short has less of says no more than a short one.
const tellsAfter = 8

// worstShare of the replies come no later than the worst that counts.
const worstShare = 0.95

// looksLong reports whether the look that begins is a long one: before the vote or the
// launch, and not just before it is too late.
func (r *Room) looksLong() bool {
	_, is := r.phase.(*Verifying)
	return is && r.settings.LongLook > 0
}

// samplesIn is how many samples fit into a time.
func (s slot) samplesIn(d time.Duration) int {
	every := s.every
	if every == 0 {
		every = usualEvery
	}
	return min(max(s.samples, int(d/every)), wire.MaxSamples)
}

// longQualityOf is what many samples show of a way.
func longQualityOf(seen wire.Finalist) (q selection.Quality) {
	if seen.Sent < tellsAfter || len(seen.RTTs) == 0 {
		return qualityOf(seen, discovery.Result{})
	}
	sorted := slices.Sorted(slices.Values(seen.RTTs))
	worst := sorted[int(worstShare*float64(len(sorted)-1))] - sorted[0]
	ms := func(ms float64) time.Duration { return time.Duration(math.Round(ms*1000)) * time.Microsecond }
	return selection.Quality{
		Loss: float64(seen.Sent-len(seen.RTTs)) / float64(seen.Sent), Jitter: ms(jitterOf(seen.RTTs)), Sent: seen.Sent, Worst: ms(worst),
	}
}

// cutShort ends a long look with what everybody has seen so far.
func (r *Room) cutShort(v *Verifying) {
	l := &r.round.look
	if !l.Long {
		return
	}
	r.note("the organiser says go: what the look has shown so far counts")
	for _, name := range l.Waiting {
		if p := r.round.player(name); p != nil {
			stop := r.finalistsFor(p)
			stop.Servers = []int{}
			r.send(p, stop)
		}
	}
	l.Waiting = nil
	v.settle(r)
}

// lookedFor is for how many seconds everyone has looked, 0 if that was no more than a moment.
func (r *Room) lookedFor() float64 {
	if !r.round.look.Long {
		return 0
	}
	return math.Round(min(r.now.Sub(r.since), time.Duration(r.settings.LongLook)).Seconds())
}

// lookView is how far a long look is, nil without one.
func (r *Room) lookView() *wire.LongLook {
	l := &r.round.look
	if _, is := r.phase.(*Verifying); !is || !l.Long {
		return nil
	}
	groups := r.round.natGroups(r.round.active())
	last := slotOf(0, mostPlaces(groups), len(groups)-1, len(groups))
	v := &wire.LongLook{Until: r.since.Add(last.after + time.Duration(r.settings.LongLook)), Finalists: []wire.LookedAt{}}
	for _, server := range l.Servers {
		f := wire.LookedAt{Addr: r.round.servers.List[server].Addr.String(), Name: cardOf(r.round.servers, server).Name, Lines: map[string]wire.Line{}}
		for _, p := range r.round.active() {
			if look, has := p.witness.Looked(server); has && look.Quality.Sent > 0 {
				q := look.Quality
				f.Lines[p.name] = wire.Line{Sent: q.Sent, RTT: rttMS(look.RTT), Loss: q.Loss, JitterMS: rttMS(q.Jitter), WorstMS: rttMS(look.RTT + q.Worst)}
			}
		}
		v.Finalists = append(v.Finalists, f)
	}
	return v
}
