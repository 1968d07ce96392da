// Package line finds out when a player's own line was busy. A download or another radio cell makes
// all of the player's RTTs longer by the same time, see [Delays].
//
// Two replies from one part of the internet differ little. So each part tells whether the line
// changed at some moment: its first reply after the moment is compared with its last reply before.
// No server is asked twice for this:
//
//	difference
//	│              ·    · ·
//	│   ·      ·    ·  ·     ◀─ the median of the parts' differences is the change
//	│ ·    ·
//	└──────────┴───────────▶ replies
//	         moment
package line

import (
	"cmp"
	"math"
	"slices"
	"time"

	"muster/discovery/plan/topology"
)

// Delay is how much longer RTTs are from a time on, until the next delay.
type Delay struct {
	Since time.Duration `json:"since"`
	By    time.Duration `json:"by"`
}

// Delays are those of a player's line, in order. Before the first there is none.
type Delays []Delay

// At returns the delay of a reply that came at a time.
func (d Delays) At(at time.Duration) (by time.Duration) {
	for _, delay := range d {
		if at >= delay.Since {
			by = delay.By
		}
	}
	return by
}

// Now returns the newest delay.
func (d Delays) Now() time.Duration { return d.At(math.MaxInt64) }

// Line learns from a player's replies. Its zero value has seen none.
type Line struct {
	replies []reply
	newest  map[topology.Node]int32 // reply from each part
	pairs   []pair
}

type reply struct {
	at time.Duration
	ms float64
}

// pair holds two successive replies from one part. It also says how far such replies usually are
// apart, in ms.
type pair struct {
	before, after int32
	usual         float64
}

// usual is how far two replies from a part are apart, in ms, by the level of the part. They were
// seen in searches on PlanetLab's RTTs.
var usual = [topology.Levels]float64{
	topology.Country: 13.5, topology.AS: 6.8, topology.Prefix16: 3.8, topology.Prefix24: 3.8, topology.Address: 2.2,
}

const (
	// A part counts as at most clip times the usual distance, because one with a bad route proves no
	// more. It takes minParts to tell a change.
	clip, minParts = 2.5, 8
	// A sum of differences that are due to chance exceeds certain times its standard deviation in
	// less than one search of a thousand (bench/experiments/wrong-assumptions.md).
	certain = 9
	// minChange is the smallest change that may matter to a choice, in ms. maxChanges bounds their
	// number.
	minChange, maxChanges = 10, 4
)

// Note takes a reply from an address, in the order of the replies.
func (l *Line) Note(tree *topology.Tree, address topology.Node, at, rtt time.Duration) {
	if l.newest == nil {
		l.newest = map[topology.Node]int32{}
	}
	i, isPaired := int32(len(l.replies)), false
	l.replies = append(l.replies, reply{at, rtt.Seconds() * 1000})
	for node := address; node > topology.Root; node = tree.Parent(node) {
		if before, known := l.newest[node]; known && !isPaired {
			l.pairs, isPaired = append(l.pairs, pair{before, i, usual[tree.Level(node)]}), true
		}
		l.newest[node] = i
	}
}

// Delays returns the delays that the replies reveal.
func (l *Line) Delays() (d Delays) {
	delays := make([]float64, len(l.replies)) // of each reply, compared with the first
	var starts []int
	for range maxChanges {
		at, by := l.change(delays)
		if by == 0 {
			break
		}
		starts = append(starts, at)
		for i := at; i < len(delays); i++ {
			delays[i] += by
		}
	}
	if starts == nil {
		return nil
	}
	slices.Sort(starts)
	quietest := slices.Min(delays)
	for _, at := range slices.Compact(append([]int{0}, starts...)) {
		by := delays[at] - quietest
		if by < minChange {
			by = 0 // the quiet line again
		}
		delay := time.Duration(by * float64(time.Millisecond)).Round(time.Microsecond)
		if since := l.replies[at].at; at == 0 && delay > 0 {
			d = append(d, Delay{0, delay})
		} else if at > 0 {
			d = append(d, Delay{since, delay})
		}
	}
	return d
}

// change finds the surest change of RTTs. It returns the first reply after it and the change in ms,
// or 0 without a change.
func (l *Line) change(delays []float64) (at int, by float64) {
	n := len(l.replies)
	sums, counts := make([]float64, n+1), make([]int, n+1) // differences of successive moments
	for _, p := range l.pairs {
		apart := min(max(l.gap(p, delays)/p.usual, -clip), clip)
		sums[p.before+1] += apart
		sums[p.after+1] -= apart
		counts[p.before+1]++
		counts[p.after+1]--
	}
	sum, parts, most := 0.0, 0, 0.0
	for i := range n {
		sum += sums[i]
		parts += counts[i]
		if surely := math.Abs(sum) / math.Sqrt(float64(max(parts, 1))); parts >= minParts && surely > most {
			at, most = i, surely
		}
	}
	if most < certain {
		return 0, 0
	}
	if by = l.median(at, delays); math.Abs(by) < minChange {
		return 0, 0
	}
	return at, by
}

func (l *Line) gap(p pair, delays []float64) float64 {
	return l.replies[p.after].ms - delays[p.after] - (l.replies[p.before].ms - delays[p.before])
}

// median returns the median of the parts' differences at a moment. The nearer the replies of a part
// are, the more it counts.
func (l *Line) median(at int, delays []float64) float64 {
	type difference struct{ ms, weight float64 }
	var all []difference
	left := 0.0
	for _, p := range l.pairs {
		if int(p.before) < at && at <= int(p.after) {
			all = append(all, difference{l.gap(p, delays), 1 / p.usual})
			left += 0.5 / p.usual
		}
	}
	slices.SortFunc(all, func(a, b difference) int { return cmp.Compare(a.ms, b.ms) })
	for _, d := range all {
		if left -= d.weight; left <= 0 {
			return d.ms
		}
	}
	return 0
}
