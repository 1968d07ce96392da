package adaptive

import (
	"slices"
	"time"

	"muster/discovery/plan/topology"
)

// shift follows the delay that the player's own line adds. A download or another radio cell makes
// all round trips longer by the same time. Each time that another server of a known network
// replies, its reply is compared with the network's first. So no server is asked twice for this:
//
//	difference to the first reply of the /24
//	│          · ·   ·  ·
//	│         ·   ·   ·        ◀─ the median of the last ones is the shift
//	│·  ·  ·  ·
//	└──────────┴─────────────▶ replies
//	         since
//
// One server, or one network, that became slow is outvoted by the others. The quietest time is the
// reference: when a download ends that ran from the start, the replies before its end count as too
// late, and the replies after it as normal.
type shift struct {
	// delay is what is subtracted from round trips now. largest is the largest change so far.
	// It is below 0 if the line was busy first.
	delay, largest time.Duration
	// suspected means that the delay is only concluded from how far the nearest server is.
	suspected bool
	first     map[topology.Node]witness // of each /24
	known     []topology.Node           // these, the oldest first
	turn      int                       // index of the next witness among them
	window    []witness                 // the last differences
	usual     time.Duration             // their usual distance from the median
}

// witness is a round trip, or a difference of two, and the reply that it came with.
type witness struct {
	network topology.Node
	rtt     time.Duration
	reply   int
}

const (
	// shiftWindow is how many differences are looked at.
	shiftWindow = 21
	// witnessAge replies lie between the two of the window's first witness.
	witnessAge = 64
	// minShift is the largest change that hardly affects which servers are near. A
	// shift is also at least usualFactor times the usual distance between differences.
	// The median of so many exceeds that by chance once in ten thousand times.
	minShift    = 10 * time.Millisecond
	usualFactor = 1.6
	// usualFirst is the first value of the usual distance. Each new one moves it by the
	// part usualStep.
	usualFirst = 5 * time.Millisecond
	usualStep  = 20
	// On a quiet line the nearest server of a long list is hardly ever farther than loneliest, and
	// usually at usualNearest.
	loneliest    = 45 * time.Millisecond
	usualNearest = 10 * time.Millisecond
)

func newShift() *shift {
	return &shift{first: make(map[topology.Node]witness), usual: usualFirst}
}

// change is a change of the line that replies revealed. The round trips up to the reply
// since must shrink by before, and the later ones by after, which is negative where too
// much was subtracted.
type change struct {
	since         int
	before, after time.Duration
}

// note takes a reply, and returns the change of the line that it reveals.
func (s *shift) note(network topology.Node, reply int, rtt time.Duration) (c change, noticed bool) {
	rtt -= s.delay
	first, known := s.first[network]
	if !known {
		s.first[network] = witness{network, rtt, reply}
		s.known = append(s.known, network)
		return change{}, false
	}
	if !s.canWitness(network, s.before(reply)) {
		return change{}, false
	}
	s.window = append(s.window, witness{network, rtt - first.rtt, reply})
	if len(s.window) <= shiftWindow {
		return change{}, false
	}
	s.window = s.window[1:]
	now := median(s.window)
	half := now / 2
	if s.usual += s.usual / usualStep; (s.window[0].rtt - now).Abs() < s.usual {
		s.usual -= 2 * s.usual / usualStep
	}
	if now.Abs() < max(minShift, time.Duration(usualFactor*float64(s.usual))) {
		return change{}, false
	}
	// The shift began where the later differences support it most.
	var speaks, most float64
	since := 0
	for i := len(s.window) - 1; i >= 0; i-- {
		if speaks += float64(s.window[i].rtt-half) / float64(half); speaks > most {
			most, since = speaks, i
		}
	}
	c = s.move(median(s.window[since:]))
	c.since = s.window[since].reply
	s.shiftFirst(c)
	s.window = nil
	return c, true
}

// suspect checks before the search stops whether the line may have been busy from the start on, which
// no difference can tell: even the nearest server is far. Then all replies count as late until the line
// changes. A delay over the limit would make too many servers near. It suspects only once.
func (s *shift) suspect(nearest, limit time.Duration) (c change, suspicious bool) {
	if s.largest != 0 || s.suspected || nearest < loneliest {
		return change{}, false
	}
	s.suspected, s.delay = true, min(nearest-usualNearest, limit)
	c.after = s.delay
	s.shiftFirst(c)
	return c, true
}

// shiftFirst corrects the witnesses' first replies.
func (s *shift) shiftFirst(c change) {
	for network, w := range s.first {
		if w.reply >= c.since {
			w.rtt -= c.after
		} else {
			w.rtt -= c.before
		}
		s.first[network] = w
	}
}

// move takes a change of the line, and returns what follows for the replies on both
// sides of it.
func (s *shift) move(more time.Duration) (c change) {
	if s.suspected && more < 0 { // rightly: this is the quiet line
		c = change{before: -more - s.delay, after: -s.delay}
		s.suspected, s.delay, s.largest = false, 0, more
		return c
	}
	line := s.delay + more // compared with the quietest line so far
	if line < 0 && line > -minShift {
		line = 0 // that line again
	}
	c.before = max(0, -line)
	c.after = line - s.delay + c.before
	s.delay = line + c.before
	for _, by := range []time.Duration{s.delay, -c.before} {
		if by.Abs() > s.largest.Abs() {
			s.largest = by
		}
	}
	return c
}

// before returns the newest reply that may be a witness's first: one from before the second half of
// the window. So a shift is noticed while it lies between the two replies of a witness.
func (s *shift) before(reply int) int {
	if len(s.window) > 0 {
		return s.window[len(s.window)/2].reply
	}
	return reply - witnessAge
}

// canWitness reports whether a network's next reply may be compared with its first. The first reply
// must be no later than before, and the network must not be in the window.
func (s *shift) canWitness(network topology.Node, before int) bool {
	return s.first[network].reply <= before && !slices.ContainsFunc(s.window, func(w witness) bool { return w.network == network })
}

// next returns the network to ask next, of the networks that may be asked: a likely one if there is any,
// because its servers will be asked anyway. It returns false if there is none now.
func (s *shift) next(replies int, may func(network topology.Node, share float64) bool) (topology.Node, bool) {
	before := s.before(replies)
	for _, share := range []float64{likely, 0} {
		for range s.known {
			s.turn++
			if s.turn >= len(s.known) || s.first[s.known[s.turn]].reply > before {
				s.turn = 0
			}
			if network := s.known[s.turn]; s.canWitness(network, before) && may(network, share) {
				return network, true
			}
		}
	}
	if len(s.window) > 0 { // those that are left were heard too late
		s.window = s.window[1:]
	}
	return 0, false
}

func median(of []witness) time.Duration {
	rtts := make([]time.Duration, len(of))
	for i, w := range of {
		rtts[i] = w.rtt
	}
	slices.Sort(rtts)
	return rtts[len(rtts)/2]
}
