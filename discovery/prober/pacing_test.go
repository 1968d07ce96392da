package prober

import (
	"slices"
	"testing"
	"time"
)

// A sender that sleeps until a packet is owed, but wakes late, keeps the rate. It never
// sends more than 1.2 times what is due in 10 ms, and two.
func TestBucketKeepsRate(t *testing.T) {
	const span, window = 20 * time.Second, 10 * time.Millisecond
	tests := []struct {
		name  string
		rate  float64
		late  time.Duration // at every wake-up
		stall time.Duration // once a second
	}{
		{"paper's rate, coarse timer", 140, 1060 * time.Microsecond, 0},
		{"default rate, coarse timer", 250, 1060 * time.Microsecond, 0},
		{"1k/s, coarse timer", 1000, 900 * time.Microsecond, 0},
		{"5k/s, exact sleep", 5000, 60 * time.Microsecond, 0},
		{"20k/s, exact sleep", 20000, 60 * time.Microsecond, 0},
		{"20k/s, coarse timer", 20000, 1060 * time.Microsecond, 0},
		{"20k/s with stalls", 20000, 60 * time.Microsecond, 5 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBucket(test.rate)
			var sent []time.Duration
			nextStall := time.Second
			for now := time.Duration(0); now < span; now = max(now, b.nextDue()) + test.late {
				if test.stall > 0 && now > nextStall {
					now, nextStall = now+test.stall, nextStall+time.Second
				}
				for b.ready(now) {
					b.take()
					sent = append(sent, now)
				}
			}
			mean := float64(len(sent)) / span.Seconds() / test.rate
			if mean < 0.99 || mean > 1.01 {
				t.Errorf("mean rate is %.4f of what was asked", mean)
			}
			most := fullest(sent, window)
			if limit := 1.2*test.rate*window.Seconds() + 2; float64(most) > limit {
				t.Errorf("%d packets within 10 ms, want at most %.1f", most, limit)
			}
		})
	}
}

// fullest returns the most events within any window. The times must be sorted.
func fullest(times []time.Duration, window time.Duration) (most int) {
	from := 0
	for to := range times {
		for times[to]-times[from] >= window {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

func TestBucketSavesLittle(t *testing.T) {
	tests := []struct {
		rate float64
		want int // packets at once after an hour of rest
	}{{1, 2}, {250, 2}, {1000, 2}, {20000, 25}, {1e9, 62}}
	for _, test := range tests {
		b := newBucket(test.rate)
		got := 0
		for b.ready(time.Hour) {
			b.take()
			got++
		}
		if got != test.want {
			t.Errorf("at %v/s %d packets are saved up, want %d", test.rate, got, test.want)
		}
	}
}

// Packets of a stall are sent later, those of a rest are not.
func TestBucketMakesUpForStalls(t *testing.T) {
	for _, test := range []struct {
		name     string
		rest     bool
		from, to int // packets in the second after
	}{{"stall", false, 1070, 1078}, {"rest", true, 1001, 1003}} {
		b := newBucket(1000)
		for now := time.Duration(0); now < time.Second; now = b.nextDue() {
			if b.ready(now) {
				b.take()
			}
		}
		if test.rest {
			b.rest()
		}
		sent := 0
		for now := time.Minute; now < time.Minute+time.Second; now = b.nextDue() {
			for b.ready(now) {
				b.take()
				sent++
			}
		}
		if sent < test.from || sent > test.to {
			t.Errorf("after a %s: %d packets in a second, want %d to %d", test.name, sent, test.from, test.to)
		}
	}
}

func TestBucketNextIsReady(t *testing.T) {
	for _, rate := range []float64{0.3, 7, 140, 999.9, 33333} {
		b := newBucket(rate)
		for range 1000 {
			if at := b.nextDue(); !b.ready(at) {
				t.Fatalf("at %v/s nothing is owed at %v, although next said so", rate, at)
			}
			b.take()
		}
	}
}
func TestCongestion(t *testing.T) {
	type window struct{ prompt, silent, late, peak int }
	repeat := func(w window, n int) []window { return slices.Repeat([]window{w}, n) }
	good := window{prompt: 100, peak: 1000}
	tests := []struct {
		name    string
		windows []window // a second each
		want    []int    // the cap after each
	}{
		{"all is well", repeat(good, 3), []int{2000, 2000, 2000}},
		{"answers need repeats: half of what was under way, deaf for the delay, then back by quarters",
			[]window{{prompt: 80, late: 20, peak: 1000}, {prompt: 80, late: 20, peak: 500}, good, good, good},
			[]int{500, 500, 626, 783, 979}},
		{"the cap itself is halved if more than that was under way",
			[]window{{prompt: 80, late: 20, peak: 9000}}, []int{1000}},
		{"2 % loss is no congestion", repeat(window{prompt: 392, silent: 8, late: 8, peak: 1000}, 3), []int{2000, 2000, 2000}},
		{"seven late answers say nothing", repeat(window{prompt: 10, silent: 60, late: 7}, 2), []int{2000, 2000}},
		{"dead servers are no congestion", repeat(window{prompt: 10, silent: 190, peak: 1000}, 3), []int{2000, 2000, 2000}},
		{"no server answers at all", repeat(window{silent: 200, peak: 1000}, 3), []int{2000, 2000, 2000}},
		{"the share of answers falls below half",
			[]window{{prompt: 80, silent: 20, peak: 400}, {prompt: 30, silent: 70, peak: 400}}, []int{2000, 200}},
		{"the list ends in dead servers: one cut, then on",
			[]window{good, {silent: 100, peak: 800}, {silent: 100}, {silent: 100}, {silent: 100}}, []int{2000, 400, 400, 501, 627}},
		{"too few to say", repeat(window{prompt: 10, silent: 0, late: 20}, 1), []int{2000}},
		{"never below the floor", []window{{late: 100, peak: 70}}, []int{minCap}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newCongestion(2000, time.Second)
			c.review(0)
			var got []int
			for i, w := range test.windows {
				c.sent(w.peak)
				for range w.prompt {
					c.fate(true)
				}
				for range w.silent {
					c.fate(false)
				}
				for range w.late {
					c.repeatAnswered()
				}
				now := time.Duration(i+1) * time.Second
				c.review(now - 1)
				c.review(now)
				got = append(got, c.cap)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("caps are %v, want %v", got, test.want)
			}
		})
	}
}

func TestCongestionLimitBelowFloor(t *testing.T) {
	c := newCongestion(5, time.Second)
	c.sent(5)
	c.cut(0)
	if c.cap != 5 {
		t.Errorf("the cap is %d, more than the limit of 5", c.cap)
	}
}
