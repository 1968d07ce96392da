package fleet

import (
	"testing"
	"time"
)

func TestHistogram(t *testing.T) {
	var h histogram
	if got := h.quantile(0.5); got != 0 {
		t.Errorf("median of nothing is %v", got)
	}
	for i := range 1000 {
		h.add(time.Duration(i) * time.Microsecond)
	}
	h.add(-time.Second)
	h.add(10 * time.Hour)
	for q, want := range map[float64]time.Duration{0: 0, 0.01: 10 * time.Microsecond, 0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond} {
		if got := h.quantile(q); got < want || got > want+want/8+time.Microsecond {
			t.Errorf("quantile %v is %v, want up to an eighth more than %v", q, got, want)
		}
	}
	if most := h.longest(); most != 10*time.Hour {
		t.Errorf("maximum %v", most)
	}
}

func TestBucketsMeet(t *testing.T) {
	for bucket := range 8 * 30 {
		if got := bucketOf(bucketEnd(bucket)); got != bucket+1 {
			t.Fatalf("bucket %d ends in bucket %d", bucket, got)
		}
	}
}
