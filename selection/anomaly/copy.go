package anomaly

import (
	"cmp"
	"math"
	"slices"
)

const (
	// fewestStops is how many distances two reports must have in common before they are compared,
	// and mostStops bounds the work.
	fewestStops, mostStops = 20, 64
	// stopsApart, in microseconds, is how far apart distances are at least, so that the many servers
	// of one city count once.
	stopsApart = 2_000
	// leverage, in microseconds, is how far apart two servers are at least that tell a factor.
	leverage = 30_000
	// Two RTTs agree if the copied one is changed by no more than a packet's jitter, in microseconds,
	// and this share.
	copyJitter, copyNoise = 1_000, 0.005
	// A factor of a copy differs from 1 by leastFactor, because a smaller one looks like an access
	// line's delay.
	leastFactor = 0.015
	// A copy agrees at the share copied of the distances, and at copiedMore more of them than with
	// any constant difference.
	copied, copiedMore = 0.75, 0.2
)

// stop is a distance at which two reports are compared: their RTTs to one server, in microseconds.
type stop struct{ theirs, own float64 }

// copies looks for reports that are others' reports times a factor. A player who lives beside another
// has another access line, which adds the same delay to every RTT, and other jitter. No line
// multiplies. Nobody can tell which of two is the copy. The one with the longer RTTs is named,
// because a liar who shortens RTTs contradicts others. It changes little: the other report says
// nearly the same.
func (r *reports) copies(suspects []int) (found []Anomaly) {
	for _, player := range suspects {
		for _, other := range suspects {
			if n, of, longer := r.copied(other, player); n > 0 && longer > 0 {
				found = append(found, Anomaly{Player: r.players[player], Other: r.players[other], Sign: Copied, Servers: n, Of: of})
				break
			}
		}
	}
	return found
}

// copied returns at how many distances, of so many, one report agrees with another's, and how much
// longer its RTTs are there, in microseconds; 0 if it is no copy.
func (r *reports) copied(from, player int) (n, of int, longer float64) {
	var all []stop
	for server, theirs := range r.columns[from] {
		if own := r.columns[player][server]; own > 0 && theirs > 0 {
			all = append(all, stop{float64(theirs), float64(own)})
		}
	}
	if len(all) < fewestStops {
		return 0, 0, 0
	}
	slices.SortStableFunc(all, func(a, b stop) int { return cmp.Compare(a.theirs, b.theirs) })
	apart := max(stopsApart, (all[len(all)-1].theirs-all[0].theirs)/mostStops)
	stops, last := all[:0], math.Inf(-1)
	for _, s := range all {
		if s.theirs >= last+apart {
			stops, last = append(stops, s), s.theirs
		}
	}
	of = len(stops)
	if of < fewestStops {
		return 0, 0, 0
	}
	agreeing := func(factor, more float64) (n int) {
		for _, s := range stops {
			if math.Abs(s.own-factor*s.theirs-more) <= copyJitter+copyNoise*s.own {
				n++
			}
		}
		return n
	}
	middle := stops[of/2].theirs
	added, scaled := 0, 0
	for i, s := range stops {
		added = max(added, agreeing(1, s.own-s.theirs))
		if i+of/2 >= of {
			continue
		}
		far := stops[i+of/2]
		factor := (far.own - s.own) / (far.theirs - s.theirs)
		if far.theirs-s.theirs < leverage || math.Abs(factor-1) < leastFactor {
			continue
		}
		if n := agreeing(factor, s.own-factor*s.theirs); n > scaled {
			scaled, longer = n, s.own-s.theirs+(factor-1)*(middle-s.theirs)
		}
	}
	if enough := float64(of); float64(scaled) < copied*enough || float64(scaled-added) < copiedMore*enough {
		return 0, 0, 0
	}
	return scaled, of, longer
}
