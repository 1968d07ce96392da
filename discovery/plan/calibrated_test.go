package plan

import (
	"fmt"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/testlist"
)

func TestByASSamplesRanksAndKeepsTheListsOrder(t *testing.T) {
	// AS 1: nine servers in nine /16s, far. AS 2: four in two /16s, near.
	var lines []string
	var rtts []int
	for i := range 9 {
		lines, rtts = append(lines, fmt.Sprintf("80.%d.0.1:1 DE 1", i)), append(rtts, 150)
	}
	lines = append(lines, "24.1.0.1:1 US 2", "24.1.0.2:1 US 2", "24.2.0.1:1 US 2", "24.2.0.2:1 US 2")
	rtts = append(rtts, 30, 30, 30, 30)
	samples, ordered, summary := trace(t, discovery.ByAS, testlist.Of(t, lines...), discovery.PlanOptions{AutoStop: discovery.StopOff}, rtts)

	count := func(from, to int) (n int) {
		for _, i := range samples {
			if from <= i && i < to {
				n++
			}
		}
		return n
	}
	if count(0, 9) != 3 || count(9, 13) != 2 {
		t.Errorf("samples %v: want √9 of the first nine and √4 of the last four", samples)
	}
	if count(9, 11) != 1 || count(11, 13) != 1 {
		t.Errorf("samples %v: want one of each /16", samples)
	}
	if summary.Clusters != 2 || summary.Calibration != 5 {
		t.Errorf("summary %+v: want 2 clusters and 5 samples", summary)
	}
	near, distant := ordered[:2], ordered[2:]
	if !slices.IsSorted(near) || near[0] < 9 || !slices.IsSorted(distant) || distant[len(distant)-1] >= 9 {
		t.Errorf("ordered %v: want the near AS first, each in the list's order", ordered)
	}
}

func TestSamplesAreAtMostOneOfA16(t *testing.T) {
	samples, _, _ := trace(t, discovery.ByAS, testlist.Of(t, many(100, "80.1.0", "DE 1")...),
		discovery.PlanOptions{AutoStop: discovery.StopOff}, slices.Repeat([]int{9}, 100))
	if len(samples) != 1 {
		t.Errorf("%d samples of a cluster in one /16, want 1", len(samples))
	}
}

// spreadOut returns an AS of sixteen servers in four /16s, at 20, 60, 100 and 140 ms.
func spreadOut(t *testing.T) ([]discovery.Server, []int) {
	var lines []string
	var rtts []int
	for i := range 16 {
		lines = append(lines, fmt.Sprintf("80.%d.0.%d:1 DE 1", i%4, i))
		rtts = append(rtts, 20+40*(i%4))
	}
	return testlist.Of(t, lines...), rtts
}

func TestAWideClusterIsSplitInto16s(t *testing.T) {
	servers, rtts := spreadOut(t)
	samples, ordered, summary := trace(t, discovery.ByAS, servers, discovery.PlanOptions{AutoStop: discovery.StopOff}, rtts)
	// There are √16 samples, one a /16. Their 20th and 80th percentile are 120 ms
	// apart. One more follows for each of the four new clusters.
	if len(samples) != 8 || summary.Calibration != 8 || summary.Clusters != 1 {
		t.Errorf("samples %v, summary %+v: want 4 and 4 more, of 1 initial cluster", samples, summary)
	}
	for i := 1; i < len(ordered); i++ {
		if rtts[ordered[i]] < rtts[ordered[i-1]] {
			t.Errorf("ordered %v: the parts are not in the order of their RTTs", ordered)
		}
	}
}

func TestWhatIsNotSplit(t *testing.T) {
	servers, rtts := spreadOut(t)
	for name, o := range map[string]discovery.PlanOptions{
		"the spread is not over the threshold": {Spread: 120 * ms},
		"splitting is off":                     {Spread: -1},
	} {
		o.AutoStop = discovery.StopOff
		if samples, _, _ := trace(t, discovery.ByAS, servers, o, rtts); len(samples) != 4 {
			t.Errorf("%s: samples %v, want 4", name, samples)
		}
	}
	if samples, _, _ := trace(t, discovery.ByCountry, servers, discovery.PlanOptions{AutoStop: discovery.StopOff}, rtts); len(samples) != 1 {
		t.Errorf("by country: samples %v, want 1", samples)
	}
}

func TestASplitDoesNotAskAMachineTwice(t *testing.T) {
	// Two ports on each of four machines, one machine a /16.
	var lines []string
	var rtts []int
	for i := range 8 {
		lines, rtts = append(lines, fmt.Sprintf("80.%d.0.1:%d DE 1", i/2, 1+i%2)), append(rtts, 20+60*(i/2))
	}
	samples, ordered, _ := trace(t, discovery.ByAS, testlist.Of(t, lines...), discovery.PlanOptions{AutoStop: discovery.StopOff}, rtts)
	if len(samples) != 4 {
		t.Errorf("samples %v: want √8 = 3, then one of the machine that is not known yet", samples)
	}
	for i := 1; i < len(ordered); i++ {
		if rtts[ordered[i]] < rtts[ordered[i-1]] {
			t.Errorf("ordered %v: not in the order of the machines' RTTs", ordered)
		}
	}
}

func TestASilentClusterIsAskedTwiceMoreAndRanksLast(t *testing.T) {
	lines := slices.Concat(many(5, "80.1.0", "DE 1"), many(2, "24.1.0", "US 2"))
	samples, ordered, _ := trace(t, discovery.ByAS, testlist.Of(t, lines...),
		discovery.PlanOptions{AutoStop: discovery.StopOff}, []int{-1, -1, -1, -1, -1, 300, 300})
	if len(samples) != 4 {
		t.Errorf("samples %v: want 1 and 2 more of the silent AS, 1 of the other", samples)
	}
	if ordered[0] < 5 || len(ordered) != 3 {
		t.Errorf("ordered %v: want the answering AS first", ordered)
	}
	samples, _, _ = trace(t, discovery.ByAS, testlist.Of(t, lines...),
		discovery.PlanOptions{AutoStop: discovery.StopOff, SilentRetry: -1}, []int{-1, -1, -1, -1, -1, 300, 300})
	if len(samples) != 2 {
		t.Errorf("samples %v: want no more of the silent AS", samples)
	}
}

func TestByCountryRanksByOneProbeEach(t *testing.T) {
	lines := slices.Concat(many(40, "80.1.0", "DE 1"), many(40, "24.1.0", "US 2"), many(40, "60.1.0", "JP 3"))
	rtts := slices.Concat(slices.Repeat([]int{300}, 40), slices.Repeat([]int{150}, 40), slices.Repeat([]int{20}, 40))
	samples, ordered, summary := trace(t, discovery.ByCountry, testlist.Of(t, lines...),
		discovery.PlanOptions{AutoStop: discovery.StopOff}, rtts)
	if len(samples) != 3 || summary.Clusters != 3 {
		t.Errorf("samples %v, summary %+v: want one of each of 3 countries", samples, summary)
	}
	if !slices.IsSortedFunc(ordered, func(a, b int) int { return rtts[a] - rtts[b] }) {
		t.Errorf("ordered %v: want JP, US, DE", ordered)
	}
	if slices.IsSorted(ordered[:39]) {
		t.Errorf("ordered %v: want a random order within a country", ordered)
	}
}

func TestTiesBreakByAddress(t *testing.T) {
	lines := slices.Concat(many(4, "90.1.0", "DE 1"), many(4, "80.1.0", "US 2"))
	_, ordered, _ := trace(t, discovery.ByAS, testlist.Of(t, lines...),
		discovery.PlanOptions{AutoStop: discovery.StopOff}, slices.Repeat([]int{50}, 8))
	if ordered[0] < 4 || ordered[len(ordered)-1] >= 4 {
		t.Errorf("ordered %v: want 80.1.0.0 before 90.1.0.0", ordered)
	}
}

func TestAutoStopEndsThePlanAtThatProbe(t *testing.T) {
	// The list has a near AS of 50 servers and a far one of 200. The far one's samples do not
	// count. Probing ends when the window holds only two near servers.
	lines := append(many(50, "80.1.0", "DE 1"), many(200, "24.1.0", "US 2")...)
	rtts := slices.Concat(slices.Repeat([]int{20}, 50), slices.Repeat([]int{300}, 200))
	samples, ordered, summary := trace(t, discovery.ByAS, testlist.Of(t, lines...), discovery.PlanOptions{}, rtts)
	if len(samples) != 2 || len(ordered) != 49+98 || !summary.AutoStopped {
		t.Errorf("%d samples, %d ordered, %+v; want 2, 49 near and 98 far, stopped", len(samples), len(ordered), summary)
	}
	// A plan that reached the end of its list was not stopped.
	_, ordered, summary = trace(t, discovery.ByAS, testlist.Of(t, lines[:120]...), discovery.PlanOptions{}, rtts[:120])
	if len(ordered) != 118 || summary.AutoStopped {
		t.Errorf("%d ordered, %+v; want all 118, not stopped", len(ordered), summary)
	}
}
