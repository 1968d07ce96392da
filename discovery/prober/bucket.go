package prober

import (
	"math"
	"time"
)

// A bucket may save up two packets, or what is owed for two milliseconds. Less
// loses rate to the coarse sleep of the system; more turns a stall of ours into
// a burst that fills the router's queue and falsifies every RTT in it.
const (
	depthPackets = 2
	depthTime    = 2 * time.Millisecond
)

// maxRate is beyond what any machine sends: no limit in all but name.
const maxRate = 1e6

// bucket is a token bucket: packets are owed at a rate, and credit for unsent
// ones is capped. Times are readings of one monotonic clock.
type bucket struct {
	rate   float64 // packets per second
	depth  float64
	credit float64
	last   time.Duration
}

func newBucket(rate float64) bucket {
	rate = min(rate, maxRate)
	return bucket{rate: rate, depth: max(depthPackets, rate*depthTime.Seconds()), credit: 1}
}

// ready says whether a packet is owed now.
func (b *bucket) ready(now time.Duration) bool {
	b.credit = min(b.depth, b.credit+(now-b.last).Seconds()*b.rate)
	b.last = now
	return b.credit >= 1
}

// take spends the credit for one packet.
func (b *bucket) take() { b.credit-- }

// next is when a packet will be owed.
func (b *bucket) next() time.Duration {
	if b.credit >= 1 {
		return b.last
	}
	return b.last + time.Duration(math.Ceil((1-b.credit)/b.rate*float64(time.Second)))
}
