package prober

import (
	"math"
	"time"
)

const (
	// A bucket may save up two packets, or more at high rates: the packets of little more than a
	// millisecond, the sleep of Go's timers. A larger bucket would turn a stall of this program
	// into a burst. The burst would fill the router's queue and falsify every RTT in it.
	depthPackets = 2
	depthTime    = 1250 * time.Microsecond
	// A longer stall leaves packets unsent. Up to a limit they are sent later, a little
	// above the rate. So any 10 ms hold at most 1.2 times what is due, and two packets,
	// while the mean keeps the set rate.
	arrearsTime = 100 * time.Millisecond
	makeUp      = 0.075
)

// maxRate is the highest rate, in packets per second. Two cores can send more than
// twice that, but then their own receive buffer overflows with the replies. The repeats
// take longer than the higher rate gained.
const maxRate = 50_000

// bucket is a token bucket: packets are owed at a rate, and credit for unsent ones is
// capped. Times are readings of one monotonic clock.
type bucket struct {
	rate    float64 // packets per second
	depth   float64 // most credit
	credit  float64
	arrears float64 // packets above the credit, to send later
	resting bool    // nothing was to send since last: that leaves no arrears
	last    time.Duration
}

func newBucket(rate float64) bucket {
	rate = min(rate, maxRate)
	return bucket{rate: rate, depth: max(depthPackets, rate*depthTime.Seconds()), credit: 1, resting: true}
}

// ready reports whether a packet is owed now.
func (b *bucket) ready(now time.Duration) bool {
	gain := (now - b.last).Seconds() * b.rate
	extra := min(b.arrears, gain*makeUp)
	b.last = now
	b.arrears -= extra
	b.credit += gain + extra
	if over := b.credit - b.depth; over > 0 {
		b.credit = b.depth
		if !b.resting {
			b.arrears = min(b.arrears+over, b.rate*arrearsTime.Seconds())
		}
	}
	b.resting = false
	return b.credit >= 1
}

// take spends the credit for one packet.
func (b *bucket) take() { b.credit-- }

// rest marks a pause until the next call of ready.
func (b *bucket) rest() { b.resting, b.arrears = true, 0 }

// nextDue returns the latest time at which a packet will be due.
func (b *bucket) nextDue() time.Duration {
	if b.credit >= 1 {
		return b.last
	}
	return b.last + time.Duration(math.Ceil((1-b.credit)/b.rate*float64(time.Second)))
}

// The cap on servers under way reacts to a window of queries, not to single losses. A
// window lasts at least windowTime and until windowFates queries met their fate, so
// that chance does not look like congestion.
const (
	windowTime  = time.Second
	windowFates = 64
	// minCap keeps a scan going on the worst of lines: 64 servers at 100 ms are 640 a
	// second, and 64 dead ones, held for 3 s each, still 21 a second.
	minCap = 64
	// A window needs minLate answers to repeats before their share counts.
	minLate = 8
	// maxLateShare of answers may need a repeat, as on a bad radio link. A larger share
	// means a queue that overflows.
	maxLateShare = 0.1
	// A window needs minExpected answers, by the usual share, before their lack counts.
	minExpected = 16
	// usualWeight is the newest window's: the usual share follows a slow change within
	// some four windows.
	usualWeight = 0.25
)

// congestion caps how many servers are under way. The cap halves when replies get lost
// and grows back by a quarter each good window.
//
// A dead server is no congestion, so silence alone says nothing. There are two signs:
// answers come only after a repeat, or a window's share of answers falls below half the
// usual share. A fall counts once and then becomes the usual share. Otherwise a list
// that ends in dead servers would be throttled to its end.
//
// The fate of a first query is noted when its time is up, answered or not, and never
// earlier. If answers were noted at once and silences later, the share would vary with
// the sending rate.
type congestion struct {
	limit int           // the cap at best
	cap   int           // the cap now
	delay time.Duration // from a query to the note of its fate
	start time.Duration // of the window; in the future after a cut
	peak  int           // most servers under way in the window
	// first queries of the window by fate, and answers to a repeat
	prompt, silent, late int
	usual                float64 // share of prompt answers in the long run, negative if unknown
}

func newCongestion(limit int, delay time.Duration) congestion {
	return congestion{limit: limit, cap: limit, delay: delay, usual: -1}
}

// sent notes how many servers are under way.
func (c *congestion) sent(underWay int) { c.peak = max(c.peak, underWay) }

// fate notes whether a first query was answered when its time was up.
func (c *congestion) fate(answered bool) {
	if answered {
		c.prompt++
	} else {
		c.silent++
	}
}

// repeatAnswered notes an answer that came only after a repeat.
func (c *congestion) repeatAnswered() { c.late++ }

// review judges the window if it is over.
func (c *congestion) review(now time.Duration) {
	switch {
	case now < c.start:
		c.reset(c.start) // deaf: these queries were sent before the cut
	case now-c.start < windowTime || c.prompt+c.silent+c.late < windowFates:
	case c.fell() || c.late >= minLate && float64(c.late) > maxLateShare*float64(c.late+c.prompt):
		c.cut(now)
	default:
		c.cap = min(c.limit, c.cap+c.cap/4+1)
		c.reset(now)
	}
}

// cut halves the cap, based on how many were really under way.
func (c *congestion) cut(now time.Duration) {
	c.cap = min(c.limit, max(minCap, min(c.cap, c.peak)/2))
	c.reset(now + c.delay)
}

func (c *congestion) reset(start time.Duration) {
	c.start, c.peak, c.prompt, c.silent, c.late = start, 0, 0, 0, 0
}

// fell reports whether the share of answers broke down, and learns the usual one.
func (c *congestion) fell() bool {
	asked := float64(c.prompt + c.silent)
	if asked == 0 {
		return false
	}
	share := float64(c.prompt) / asked
	if c.usual < 0 || share < c.usual/2 {
		fell := c.usual*asked >= minExpected
		c.usual = share
		return fell
	}
	c.usual += (share - c.usual) * usualWeight
	return false
}
