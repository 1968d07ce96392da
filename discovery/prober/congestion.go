package prober

import "time"

// The cap on servers under way reacts to a window of queries, not to single
// losses: it lasts at least windowTime and until windowFates queries met their
// fate, so that chance does not look like congestion.
const (
	windowTime  = time.Second
	windowFates = 64
	// minCap keeps a scan going on the worst of lines: 64 servers at 100 ms are
	// 640 a second, and 64 dead ones, held for 3 s each, still 21 a second.
	minCap = 64
	// minLate answers to a repeat are the least that say anything.
	minLate = 8
	// maxLateShare of answers that needed a repeat is what a bad radio link
	// loses; more is a queue that overflows.
	maxLateShare = 0.1
	// minExpected answers, going by the usual share, are the least whose
	// absence says anything.
	minExpected = 16
)

// congestion caps how many servers are under way. The cap halves when replies
// get lost and grows back by a quarter each good window.
//
// A dead server is no congestion, so silence alone says nothing. Two signs do:
// answers come only after a repeat, or a window's share of answers falls below
// half the usual share. A fall is believed once, then it is the usual: else a
// list that ends in dead servers would be throttled to its end.
//
// The fate of a first query is noted when its time is up, answered or not, and
// never earlier: noting answers at once and silences later would let the share
// sway with the sending rate.
type congestion struct {
	limit int           // the cap at best
	cap   int           // the cap now
	delay time.Duration // from a query to the noting of its fate
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

// fate notes what came of a first query when its time was up.
func (c *congestion) fate(answered bool) {
	if answered {
		c.prompt++
	} else {
		c.silent++
	}
}

// repeatAnswered notes an answer that only a repeat brought.
func (c *congestion) repeatAnswered() { c.late++ }

// review judges the window if it is over.
func (c *congestion) review(now time.Duration) {
	if now < c.start {
		c.reset(c.start) // deaf: these queries were sent before the cut
		return
	}
	if now-c.start < windowTime || c.prompt+c.silent+c.late < windowFates {
		return
	}
	fell := c.fell()
	if !fell && !c.lossy() {
		c.cap = min(c.limit, c.cap+c.cap/4+1)
		c.reset(now)
		return
	}
	c.cut(now)
}

// cut halves the cap, reckoned from what was really under way.
func (c *congestion) cut(now time.Duration) {
	c.cap = min(c.limit, max(minCap, min(c.cap, c.peak)/2))
	c.reset(now + c.delay)
}

func (c *congestion) reset(start time.Duration) {
	c.start, c.peak, c.prompt, c.silent, c.late = start, 0, 0, 0, 0
}

func (c *congestion) lossy() bool {
	return c.late >= minLate && float64(c.late) > maxLateShare*float64(c.late+c.prompt)
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
	c.usual += (share - c.usual) / 4
	return false
}
