package discovery

import (
	"testing"
	"time"
)

// feed tells a rule RTTs in ms, negative ones being lost, and returns after how
// many it is done, or 0.
func feed(rule stopRule, phase Phase, rtts ...int) int {
	for i, rtt := range rtts {
		r := Result{Server: i, Phase: phase, State: Answered, RTT: time.Duration(rtt) * ms}
		if rtt < 0 {
			r.State = Lost
		}
		rule.observe(r)
		if rule.done() {
			return i + 1
		}
	}
	return 0
}

// repeat is n times one RTT.
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
	o := PlanOptions{}.withDefaults()
	tests := []struct {
		name  string
		phase Phase
		rtts  []int
		want  int
	}{
		{"not before the window is full", Ordered, repeat(99, 300), 0},
		{"with the window", Ordered, repeat(100, 300), 100},
		{"the limit itself is over", Ordered, repeat(100, 200), 100},
		{"two of a hundred may be under", Ordered, join(repeat(2, 20), repeat(98, 300)), 100},
		{"three may not, until one has left the window", Ordered, join(repeat(3, 20), repeat(98, 300)), 101},
		{"the last near ones count, not the first", Ordered, join(repeat(100, 20), repeat(98, 300)), 198},
		{"silence is no reply", Ordered, join(repeat(50, 300), repeat(500, -1), repeat(50, 300)), 600},
		{"samples do not count", Calibration, repeat(500, 300), 0},
	}
	for _, tt := range tests {
		if got := feed(newPercentile(o), tt.phase, tt.rtts...); got != tt.want {
			t.Errorf("%s: done after %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestSmooth(t *testing.T) {
	tests := []struct {
		name  string
		phase Phase
		rtts  []int
		want  int
	}{
		{"an unbroken run", Ordered, repeat(5, 200), 5},
		{"a near one begins anew", Ordered, join(repeat(4, 300), repeat(1, 199), repeat(5, 300)), 10},
		{"silence neither counts nor breaks", Ordered, join(repeat(4, 300), repeat(9, -1), repeat(1, 300)), 14},
		{"samples do not count", Calibration, repeat(50, 300), 0},
	}
	for _, tt := range tests {
		rule := &smooth{limit: 200 * ms, length: 5}
		if got := feed(rule, tt.phase, tt.rtts...); got != tt.want {
			t.Errorf("%s: done after %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestAutoStopEndsThePlanAtThatProbe(t *testing.T) {
	// A near AS of 50 and a far one of 200: the far one's samples do not count,
	// and after the near ones have left the window but two, probing ends.
	lines := append(many(50, "80.1.0", "DE 1"), many(200, "24.1.0", "US 2")...)
	rtts := join(repeat(50, 20), repeat(200, 300))
	samples, ordered, summary := trace(t, ByAS, list(t, lines...), PlanOptions{}, rtts)
	if len(samples) != 2 || len(ordered) != 49+98 || !summary.AutoStopped {
		t.Errorf("%d samples, %d ordered, %+v; want 2, 49 near and 98 far, stopped", len(samples), len(ordered), summary)
	}
	// A list that is through was not stopped.
	_, ordered, summary = trace(t, ByAS, list(t, lines[:120]...), PlanOptions{}, rtts[:120])
	if len(ordered) != 118 || summary.AutoStopped {
		t.Errorf("%d ordered, %+v; want all 118, not stopped", len(ordered), summary)
	}
}

func TestBottom(t *testing.T) {
	window := make([]time.Duration, 100)
	for i := range window {
		window[i] = time.Duration(100-i) * ms
	}
	if got := Bottom(window, 0.02); got != 3*ms { // 1 and 2 ms lie under it
		t.Errorf("the bottom of 1 to 100 ms is %v, want 3ms", got)
	}
	if got := Bottom(window[:1], 0.02); got != 100*ms {
		t.Errorf("the bottom of one is %v, want itself", got)
	}
}

func TestClaimSaysWhatItKnows(t *testing.T) {
	tests := []struct {
		claim Claim
		want  string
	}{
		{Claim{}, ""},
		{Claim{Low: 0.981, High: 0.9951, Limit: 200 * ms}, "98–99 % of the servers under 200 ms found"},
		{Claim{Low: 0.991, High: 0.995, Limit: 120 * ms}, "99 % of the servers under 120 ms found"},
		{Claim{Low: 1, High: 1, Limit: 200 * ms}, "100 % of the servers under 200 ms found"},
	}
	for _, tt := range tests {
		if got := tt.claim.String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.claim, got, tt.want)
		}
	}
}
