package finals

import (
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// This file judges the line between a player and a server by samples.

const (
	// doubtfulBy is the difference between a look's sample and the search's that puts them in doubt.
	// A queue may have delayed one, or the line jitters too much for a choice.
	doubtfulBy = 5 * time.Millisecond
	// doubtfulShort is that difference after the search of a short list.
	doubtfulShort = 10 * time.Millisecond
	// forgivenLosses is how many lost packets prove nothing. If four players send three each, one
	// is lost in every fifth look on lines that lose 2 %.
	forgivenLosses = 1
	// spike is the factor by which one packet in a full queue raises the jitter of the samples. If
	// eight players send three samples each, and one in 70 meets a queue, every third look has such
	// a sample. The best server would lose by it.
	spike = 6
	// enoughSamples are enough to tell a path that jitters from one packet that met a full queue.
	enoughSamples = 3
	// tellsAfter is the number of samples from which a percentile and a share of losses are more
	// than chance. A long look with fewer samples is judged like a short one.
	tellsAfter = 8
	// worstShare is the share of replies that are no slower than a quality's worst RTT.
	worstShare = 0.95
)

// qualityOf returns the quality of a path by a few samples. One packet that met a full queue does
// not count, because it predicts nothing. With two samples the earlier RTT shows which one did.
func qualityOf(seen wire.Finalist, before discovery.Result) (q selection.Quality) {
	if lost := seen.Sent - len(seen.RTTs) - forgivenLosses; lost > 0 {
		q.Loss = float64(lost) / float64(seen.Sent)
	}
	jitter := jitterOf(seen.RTTs)
	if len(seen.RTTs) > 1 {
		at := slices.Index(seen.RTTs, slices.Max(seen.RTTs))
		others := slices.Concat(seen.RTTs[:at], seen.RTTs[at+1:])
		if len(others) == 1 && before.State == discovery.Answered {
			others = append(others, discovery.MS(before.RTT))
		}
		if rest := jitterOf(others); len(others) > 1 && jitter > spike*rest {
			jitter = rest
		}
	}
	q.Jitter = time.Duration(jitter * float64(time.Millisecond))
	return q
}

// qualityOfFew returns the quality by single samples after the search of a short list. Jitter
// counts only if the two lowest samples disagree.
func qualityOfFew(rtts []float64) (q selection.Quality) {
	if len(rtts) < enoughSamples {
		return q
	}
	sorted := slices.Sorted(slices.Values(rtts))
	if sorted[1]-sorted[0] > discovery.MS(doubtfulShort) {
		q.Jitter = time.Duration(jitterOf(rtts) * float64(time.Millisecond))
	}
	return q
}

// qualityOfMany returns the quality by the samples of a long look.
func qualityOfMany(seen wire.Finalist) (q selection.Quality) {
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

// jitterOf returns the mean difference between successive RTTs.
func jitterOf(rtts []float64) float64 {
	if len(rtts) < 2 {
		return 0
	}
	sum := 0.0
	for i := range len(rtts) - 1 {
		sum += math.Abs(rtts[i+1] - rtts[i])
	}
	return sum / float64(len(rtts)-1)
}

// sampled returns all samples of a server after the search of a short list, the newest last.
func (k Known) sampled(seen wire.Finalist) (rtts []float64) {
	if k.Look != nil {
		rtts = k.Look.RTTs
	}
	if before := k.now(); len(rtts) == 0 && before.State == discovery.Answered {
		rtts = []float64{discovery.MS(before.RTT)}
	}
	return append(slices.Clip(rtts), seen.RTTs...)
}

// isDoubtful reports whether a player's result for a server needs another look.
func (l *Looks) isDoubtful(seen wire.Finalist, k Known) bool {
	if l.state.IsShort {
		return disagree(k.sampled(seen))
	}
	return isDoubtful(seen, k.now())
}

// isDoubtful reports whether a single sample and the earlier measurement do not settle the path's
// quality, because one of the two may have been delayed.
func isDoubtful(seen wire.Finalist, before discovery.Result) bool {
	switch {
	case len(seen.RTTs) == 0:
		return false // Settle decides about servers that several players do not hear
	case before.State != discovery.Answered:
		return true
	}
	return time.Duration(math.Abs(seen.RTTs[0]-discovery.MS(before.RTT))*float64(time.Millisecond)) > doubtfulBy
}

// disagree reports whether two samples differ so much that a third has to tell which of them
// met a full queue.
func disagree(rtts []float64) bool {
	return len(rtts) == enoughSamples-1 && slices.Max(rtts)-slices.Min(rtts) > discovery.MS(doubtfulShort)
}

// isElsewhere reports whether a player's look contradicts most of the RTTs of the others behind the
// same address. VPNs and carriers give one address to homes far from each other.
func isElsewhere(p Looker, seen []wire.Finalist) bool {
	borrowed, wrong := 0, 0
	for _, s := range seen {
		known := p.Known[s.Server]
		hasOwn := known.now().State == discovery.Answered && (known.Look != nil || known.IsAsked)
		if len(s.RTTs) == 0 || hasOwn || known.MatesRTT == 0 {
			continue
		}
		borrowed++
		if areApart(slices.Min(s.RTTs), discovery.MS(known.MatesRTT)) {
			wrong++
		}
	}
	return 2*wrong > borrowed
}

// areApart reports whether two RTTs, in ms, are too different for one home's line.
func areApart(a, b float64) bool {
	const apart, times = 20, 1.5
	return max(a, b) > apart+times*min(a, b)
}
