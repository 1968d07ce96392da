package finals

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// TestQualityOf checks that a single lost packet proves nothing, and that more do. A packet that
// met a full queue does not count if another sample or an earlier measurement shows that.
func TestQualityOf(t *testing.T) {
	none := discovery.Result{}
	of := func(ms int) discovery.Result {
		return discovery.Result{State: discovery.Answered, RTT: time.Duration(ms) * time.Millisecond}
	}
	for _, test := range []struct {
		before discovery.Result
		rtts   []float64
		sent   int
		want   selection.Quality
	}{
		{none, nil, 0, selection.Quality{}},
		{none, []float64{20, 21, 23}, 3, selection.Quality{Jitter: 1500 * time.Microsecond}},
		{none, []float64{20, 120, 21}, 3, selection.Quality{Jitter: time.Millisecond}},
		{none, []float64{20, 60, 120}, 3, selection.Quality{Jitter: 50 * time.Millisecond}},
		{none, []float64{20, 21}, 3, selection.Quality{Jitter: time.Millisecond}},
		{none, []float64{20}, 3, selection.Quality{Loss: 1.0 / 3}},
		{none, nil, 3, selection.Quality{Loss: 2.0 / 3}},
		{none, []float64{20, 120}, 2, selection.Quality{Jitter: 100 * time.Millisecond}},
		{of(21), []float64{20, 120}, 2, selection.Quality{Jitter: time.Millisecond}},
		{of(21), []float64{20, 25}, 2, selection.Quality{Jitter: 5 * time.Millisecond}},
		{of(60), []float64{20, 120}, 2, selection.Quality{Jitter: 100 * time.Millisecond}},
		{of(20), []float64{20}, 2, selection.Quality{}},
		{of(20), []float64{24}, 1, selection.Quality{}},
	} {
		if got := qualityOf(wire.Finalist{RTTs: test.rtts, Sent: test.sent}, test.before); got != test.want {
			t.Errorf("%v of %d after %v: %+v, want %+v", test.rtts, test.sent, test.before.RTT, got, test.want)
		}
	}
}

func TestQualityOfFew(t *testing.T) {
	tests := []struct {
		name   string
		rtts   []float64
		jitter time.Duration
		doubt  bool
	}{
		{"one", []float64{50}, 0, false},
		{"two that agree", []float64{50, 55}, 0, false},
		{"two that do not", []float64{50, 70}, 0, true},
		{"one met a queue", []float64{50, 90, 52}, 0, false},
		{"none agrees", []float64{50, 90, 70}, 30 * time.Millisecond, false},
	}
	for _, tt := range tests {
		if q := qualityOfFew(tt.rtts); q.Jitter != tt.jitter || disagree(tt.rtts) != tt.doubt {
			t.Errorf("%s: jitter %v, in doubt %v", tt.name, q.Jitter, disagree(tt.rtts))
		}
	}
}
