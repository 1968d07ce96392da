package player

import (
	"testing"
	"time"

	"muster/host/wire"
)

// TestLateness checks that the host learns when a machine becomes busy and when it is idle again, and that a single
// stall goes unreported.
func TestLateness(t *testing.T) {
	const every = 100 * time.Millisecond
	const ms = time.Millisecond
	tests := []struct {
		name string
		// late returns how late the timer rings, ring by ring.
		late func(ring int) time.Duration
		want []time.Duration
	}{
		{"an idle machine", func(int) time.Duration { return 0 }, nil},
		{"a timer's own millisecond", func(ring int) time.Duration { return time.Duration(ring%2) * ms }, nil},
		{"one stall of seconds", func(ring int) time.Duration {
			if ring == 70 {
				return 3 * time.Second
			}
			return 0
		}, nil},
		{"every fifth ring is late", func(ring int) time.Duration {
			if ring%5 == 0 {
				return 60 * ms
			}
			return 0
		}, []time.Duration{60 * ms}},
		{"stalls of seconds, time and again", func(ring int) time.Duration {
			if ring%25 == 0 {
				return 2 * time.Second
			}
			return 0
		}, []time.Duration{wire.MaxLate}},
		{"busy for a while", func(ring int) time.Duration {
			if ring > 60 && ring < 120 {
				return 45 * ms
			}
			return 0
		}, []time.Duration{45 * ms, 0}},
	}
	for _, test := range tests {
		var l lateness
		var told []time.Duration
		var now time.Time
		start := time.Unix(0, 0)
		for ring := range 600 {
			// A stall longer than the interval swallows the rings in between.
			if at := start.Add(time.Duration(ring)*every + test.late(ring)); at.After(now) {
				now = at
			} else {
				continue
			}
			l.rang(now, every)
			if m, isNews := l.news(); isNews {
				told = append(told, time.Duration(m.By))
			}
		}
		if len(told) != len(test.want) {
			t.Errorf("%s: told %v, want %v", test.name, told, test.want)
			continue
		}
		for i := range told {
			if told[i] != test.want[i] {
				t.Errorf("%s: told %v, want %v", test.name, told, test.want)
			}
		}
	}
}
