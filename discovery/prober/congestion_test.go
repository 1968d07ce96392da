package prober

import (
	"slices"
	"testing"
	"time"
)

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
