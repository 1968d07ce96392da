package prober

import (
	"math"
	"time"
)

// A bucket may save up two packets, or what is owed for little more than a
// millisecond, the sleep of Go's timers. More would turn a stall of ours into a
// burst that fills the router's queue and falsifies every RTT in it. What a
// longer stall leaves unsent, up to a limit, is made up for later, a little
// above the rate. So any 10 ms hold at most 1.2 times what is due, and two
// packets, while the mean stays what was asked for.
const (
	depthPackets = 2
	depthTime    = 1250 * time.Microsecond
	arrearsTime  = 100 * time.Millisecond
	makeUp       = 0.075
)

// maxRate is the most that is ever sent, in packets per second. Two cores can
// send more than twice that, but then their own receive buffer overflows with
// the replies, and repeats take longer than was won.
const maxRate = 50_000

// bucket is a token bucket: packets are owed at a rate, and credit for unsent
// ones is capped. Times are readings of one monotonic clock.
type bucket struct {
	rate    float64 // packets per second
	depth   float64 // most credit
	credit  float64
	arrears float64 // what did not fit in the credit, to be made up for
	resting bool    // nothing was to be sent since last: that leaves no arrears
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

// rest has nothing sent before ready is called again.
func (b *bucket) rest() { b.resting, b.arrears = true, 0 }

// next is when a packet will be owed, at the latest.
func (b *bucket) next() time.Duration {
	if b.credit >= 1 {
		return b.last
	}
	return b.last + time.Duration(math.Ceil((1-b.credit)/b.rate*float64(time.Second)))
}
