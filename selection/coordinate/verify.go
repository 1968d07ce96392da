package coordinate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"muster/discovery/plan/topology"
)

// What players remember is verified before anything else is explored. Wrong forecasts show in two
// ways. A part that seems near and is far is among the leaders, so one answer refutes it. A part
// that seems far and is near is never among them. So a player is asked about each AS that would win if
// this player's way to it alone had become shorter. What is not asked counts in the claim.

const (
	// Everybody asks about firstLeaders remembered parts in the first round, the best first.
	firstLeaders = 40
	// A way may be shorter than remembered by shorterBy ms, or as short as the player's usual way to the
	// country: a full queue may have held up what is remembered. This is tried in shorterSteps steps.
	shorterBy, shorterSteps = 35.0, 7
	// A question about a way must promise a gain of worthAsking ms. A player is asked at most checksRound in a
	// round, and mostChecks in all, beyond the budget of a search that relies on forecasts. Tuned
	// (bench/experiments/memory.md).
	worthAsking, checksRound, mostChecks = 0.005, 16, 150
)

// isRemembering reports whether the search relies on forecasts.
func (a *acquisition) isRemembering() bool {
	return !a.p.estimator.predictor.recall.isEmpty() && a.p.trust() > 0
}

// askRemembered asks everybody for an address in each of the parts that should be the best by what is
// remembered. After the first round, these are parts that should be better than the incumbent. Before
// there is one, the round goes on with the leaders of the first: of a large group only some were asked
// about each.
func (a *acquisition) askRemembered() {
	if !a.isRemembering() && !a.p.isGuided() {
		return
	}
	leaders := slices.Clone(a.posterior.imagined)
	if a.p.round > 0 {
		if a.p.estimator.incumbent == nil {
			return
		}
		leaders = slices.DeleteFunc(leaders, func(v valued) bool { return v.value >= a.p.estimator.best })
	}
	sortValued(leaders)
	left := firstLeaders
	for _, v := range a.withOwn(leaders) {
		if left == 0 {
			return
		}
		fresh := func(at topology.Node) bool { return a.p.candidates.of[at] == nil }
		if at, found := a.anyOf(v.at, fresh); found && a.askAll(a.p.candidates.at(at)) {
			left--
		}
	}
}

// whatIf is a player's remembered way to an AS, which the player has not tested in this session, and what
// happens if it has become shorter.
type whatIf struct {
	at     topology.Node // the part of the AS that needs the least
	player int
	rtts   []float64 // the players' likely RTTs to it, in ms
	// need is by how many ms the way must be shorter to win, and most by how many it may be.
	need, most float64
	// moved is the chance that the way is not the remembered one, and gain what a question about it
	// promises on average, in ms.
	moved, gain float64
}

// whatIfs returns the ways that would win if one of them is shorter, the one that needs the least first.
func (a *acquisition) whatIfs() (all []whatIf) {
	e := a.p.estimator
	if !a.isRemembering() || e.incumbent == nil {
		return nil
	}
	r, least := e.predictor, map[[2]int32]whatIf{}
	for _, leaf := range r.recall.leaves {
		on := r.line(leaf)
		as := on[topology.AS]
		if as < 0 {
			continue
		}
		rtts := make([]float64, len(a.asked), len(a.asked)+len(e.guests))
		for player := range rtts {
			rtts[player], _ = r.predictMean(player, on)
		}
		for player, ms := range rtts {
			if r.recall.tried[int(as)+player].any() || !r.recall.tells(player, on) {
				continue
			}
			w := whatIf{at: leaf, player: player, rtts: rtts, most: shorterBy}
			if usual, _, known := r.recall.forecast(player, on.country(), true); known {
				w.most = max(w.most, ms-usual)
			}
			if w.need = e.needs(&w); w.need > w.most {
				continue
			}
			w.moved = r.recall.moved(player, on)
			w.gain = w.moved / 2 * (1 - w.need/w.most) * e.gains(&w, (w.need+w.most)/2)
			of := [2]int32{as, int32(player)}
			if other, is := least[of]; !is || w.need < other.need {
				least[of] = w
			}
		}
	}
	return slices.SortedFunc(maps.Values(least), func(x, y whatIf) int {
		return cmp.Or(cmp.Compare(x.need, y.need), cmp.Compare(x.at, y.at), cmp.Compare(x.player, y.player))
	})
}

// needs returns by how many ms a way must be shorter to win, +Inf if that is too much.
func (e *estimator) needs(w *whatIf) float64 {
	for step := range shorterSteps + 1 {
		if by := w.most * float64(step) / shorterSteps; e.gains(w, by) > 0 {
			return by
		}
	}
	return math.Inf(1)
}

// gains returns how much better than the incumbent a part is if a way is shorter by so many ms. A stricter
// limit is worth more ms than any RTT.
func (e *estimator) gains(w *whatIf, by float64) float64 {
	rtts := append(make([]float64, 0, cap(w.rtts)), w.rtts...)
	rtts[w.player] = max(minLow, rtts[w.player]-by)
	total := e.total(e.guested(rtts, w.at))
	if kept := int(e.best/overLimit) - int(total/overLimit); kept != 0 {
		return stricter * float64(kept)
	}
	return e.best - total
}

// checkWays asks single players about the ways that may have become shorter.
func (a *acquisition) checkWays() {
	for player := range a.p.questions {
		a.p.questions[player].unchecked = 0
	}
	asked := make([]int, len(a.asked))
	for _, w := range a.ways {
		q := &a.p.questions[w.player]
		switch at, found := a.anyOf(w.at, func(topology.Node) bool { return true }); {
		case w.gain < worthAsking || !found:
		case asked[w.player] == checksRound || q.checks == mostChecks || a.quotas[w.player] <= 0:
			q.unchecked++
		default:
			if of := a.p.candidates.at(at); of.server >= 0 && a.ask(w.player, of.server) {
				of.explored = true
				asked[w.player]++
				q.checks++
			}
		}
	}
}

// shorter draws which ways have become shorter, and by how much. It returns the gain of the best one, in ms.
// Only a round that looks for a stricter limit draws ways that keep one.
func (a *acquisition) shorter() (gain float64) {
	for i := range a.ways {
		if w := &a.ways[i]; a.p.rng.Float64() < w.moved/2 {
			if g := a.p.estimator.gains(w, w.most*a.p.rng.Float64()); g >= stricter == a.p.estimator.climbs {
				gain = max(gain, g)
			}
		}
	}
	return gain
}
