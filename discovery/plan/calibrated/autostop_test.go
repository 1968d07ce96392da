package calibrated

import (
	"testing"
	"time"

	"muster/discovery"
)

// feed tells a rule RTTs in ms, negative ones being lost. It returns how many it took
// until the rule was done, or 0.
func feed(rule StopRule, phase discovery.Phase, rtts ...int) int {
	for i, rtt := range rtts {
		r := discovery.Result{Server: i, Phase: phase, State: discovery.Answered, RTT: time.Duration(rtt) * ms}
		if rtt < 0 {
			r.State = discovery.Lost
		}
		rule.Observe(r)
		if rule.Done() {
			return i + 1
		}
	}
	return 0
}

func repeat(n, rtt int) []int {
	rtts := make([]int, n)
	for i := range rtts {
		rtts[i] = rtt
	}
	return rtts
}

func join(parts ...[]int) (all []int) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func TestPercentile(t *testing.T) {
	o := complete(t, discovery.PlanOptions{AutoStop: discovery.StopPercentile})
	tests := []struct {
		name  string
		phase discovery.Phase
		rtts  []int
		want  int
	}{
		{"not before the window is full", discovery.Ordered, repeat(99, 300), 0},
		{"with the window", discovery.Ordered, repeat(100, 300), 100},
		{"the limit itself is over", discovery.Ordered, repeat(100, 200), 100},
		{"two of a hundred may be under", discovery.Ordered, join(repeat(2, 20), repeat(98, 300)), 100},
		{"three may not, until one has left the window", discovery.Ordered, join(repeat(3, 20), repeat(98, 300)), 101},
		{"the last near ones count, not the first", discovery.Ordered, join(repeat(100, 20), repeat(98, 300)), 198},
		{"silence is no reply", discovery.Ordered, join(repeat(50, 300), repeat(500, -1), repeat(50, 300)), 600},
		{"samples do not count", discovery.Calibration, repeat(500, 300), 0},
	}
	for _, tt := range tests {
		if got := feed(NewWindow(o), tt.phase, tt.rtts...); got != tt.want {
			t.Errorf("%s: done after %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestSmooth(t *testing.T) {
	tests := []struct {
		name  string
		phase discovery.Phase
		rtts  []int
		want  int
	}{
		{"an unbroken run", discovery.Ordered, repeat(5, 200), 5},
		{"a near one begins anew", discovery.Ordered, join(repeat(4, 300), repeat(1, 199), repeat(5, 300)), 10},
		{"silence neither counts nor breaks", discovery.Ordered, join(repeat(4, 300), repeat(9, -1), repeat(1, 300)), 14},
		{"samples do not count", discovery.Calibration, repeat(50, 300), 0},
	}
	for _, tt := range tests {
		rule := NewWindow(discovery.PlanOptions{MaxRTT: 200 * ms, Window: 5, AutoStop: discovery.StopSmooth})
		if got := feed(rule, tt.phase, tt.rtts...); got != tt.want {
			t.Errorf("%s: done after %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestBottom(t *testing.T) {
	window := make([]time.Duration, 100)
	for i := range window {
		window[i] = time.Duration(100-i) * ms
	}
	if got := Bottom(window, 0.02); got != 3*ms { // 1 and 2 ms are under it
		t.Errorf("the bottom of 1 to 100 ms is %v, want 3ms", got)
	}
	if got := Bottom(window[:1], 0.02); got != 100*ms {
		t.Errorf("the bottom of one is %v, want itself", got)
	}
}
