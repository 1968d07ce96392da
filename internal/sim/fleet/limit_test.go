package fleet

import (
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	near, far := sourceOf(0), sourceOf(1)
	tests := []struct {
		name  string
		start time.Duration
		every time.Duration
		asked int
		want  int
	}{
		{"a burst", 0, 0, 30, 10},
		{"once a second", 0, time.Second, 30, 30},
		{"twice a second", 0, 500 * time.Millisecond, 40, 29},
		{"late", time.Hour, 0, 11, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, got := newLimiter(), 0
			for i := range tt.asked {
				if l.allow(1, near, tt.start+time.Duration(i)*tt.every) {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("answered %d of %d, want %d", got, tt.asked, tt.want)
			}
			end := tt.start + time.Duration(tt.asked)*tt.every
			if !l.allow(2, near, end) || !l.allow(1, far, end) {
				t.Error("another server, or another source, shares the bucket")
			}
		})
	}
}

func TestLimiterForgets(t *testing.T) {
	l := newLimiter()
	for i := range 10 * sweepAt {
		l.allow(i, sourceOf(0), time.Duration(i)*time.Millisecond)
	}
	if len(l.buckets) > sweepAt {
		t.Errorf("%d buckets, most of them empty", len(l.buckets))
	}
}
