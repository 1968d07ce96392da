package fleet

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Stats is what a fleet has done so far.
type Stats struct {
	// Queries are datagrams that came to one of the servers.
	Queries uint64 `json:"queries"`
	// Replies were sent; each may be several datagrams.
	Replies uint64 `json:"replies"`
	// Lost queries have no reply in the world: a lost packet or a silent server.
	Lost uint64 `json:"lost"`
	// Limited queries came too often.
	Limited uint64 `json:"limited"`
	// Malformed queries are none that the servers understand.
	Malformed uint64 `json:"malformed"`
	// Strays came to an address where no server is.
	Strays uint64 `json:"strays"`
	// Lists is how often the master was asked.
	Lists uint64 `json:"lists"`
	// Late is by how much replies left later than the world would have it; an
	// eighth too high at most, but for the maximum, which is exact.
	Late Lateness `json:"late"`
}

// Lateness is the distribution of delays, in nanoseconds.
type Lateness struct {
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
	Max time.Duration `json:"max"`
}

// Stats is what the fleet has done so far.
func (f *Fleet) Stats() Stats {
	t := &f.stats
	return Stats{
		Queries: t.queries.Load(), Replies: t.replies.Load(), Lost: t.lost.Load(), Limited: t.limited.Load(),
		Malformed: t.malformed.Load(), Strays: t.strays.Load(), Lists: t.lists.Load(),
		Late: Lateness{P50: t.late.quantile(0.5), P99: t.late.quantile(0.99), Max: time.Duration(t.late.most.Load())},
	}
}

// tally counts.
type tally struct {
	queries, replies, lost, limited, malformed, strays, lists atomic.Uint64

	late histogram
}

// histogram counts durations in buckets of an eighth of an octave, from 1 µs to
// an hour.
type histogram struct {
	buckets [8 * 30]atomic.Uint64
	most    atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	h.buckets[min(bucketOf(d), len(h.buckets)-1)].Add(1)
	for most := h.most.Load(); int64(d) > most && !h.most.CompareAndSwap(most, int64(d)); most = h.most.Load() {
	}
}

// bucketOf is linear below 8 µs; from there on the top four bits count.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	octave := max(bits.Len64(us)-4, 0)
	return 8*octave + int(us>>octave)
}

// bucketEnd is the first duration that is beyond a bucket.
func bucketEnd(bucket int) time.Duration {
	octave := max(bucket/8-1, 0)
	return time.Duration(bucket-8*octave+1) << octave * time.Microsecond
}

// quantile is a duration that a share q of all does not reach; 0 without any.
func (h *histogram) quantile(q float64) time.Duration {
	var total, below uint64
	for i := range h.buckets {
		total += h.buckets[i].Load()
	}
	for i := range h.buckets {
		below += h.buckets[i].Load()
		if float64(below) >= q*float64(total) && total > 0 {
			return bucketEnd(i)
		}
	}
	return 0
}
