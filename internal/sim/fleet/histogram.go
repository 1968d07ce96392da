package fleet

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// histogram counts durations in buckets of an eighth of an octave, from 1 µs to
// an hour. One goroutine adds, any may read.
type histogram struct {
	buckets [8 * 30]atomic.Uint64
	most    atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	h.buckets[min(bucketOf(d), len(h.buckets)-1)].Add(1)
	if d > h.longest() {
		h.most.Store(int64(d))
	}
}

func (h *histogram) longest() time.Duration { return time.Duration(h.most.Load()) }

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
