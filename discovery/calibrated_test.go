package discovery

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// list reads servers from lines of "address country ASN"; "-" is not known.
func list(t *testing.T, lines ...string) []Server {
	t.Helper()
	var servers []Server
	for _, line := range lines {
		var addr string
		var s Server
		if _, err := fmt.Sscan(line, &addr, &s.Country, &s.ASN); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if s.Country == "-" {
			s.Country = ""
		}
		s.Addr = netip.MustParseAddrPort(addr)
		servers = append(servers, s)
	}
	return servers
}

// groupsOf has the last octets of the servers of each group, easier to compare.
func groupsOf(groups [][]int) string {
	return fmt.Sprint(groups)
}

// many is n lines of servers in a prefix, from .1 upwards.
func many(n int, prefix, rest string) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s.%d:1 %s", prefix, i+1, rest))
	}
	return lines
}

func TestClusterByCountry(t *testing.T) {
	servers := list(t,
		"80.1.0.1:1 DE 1", "24.1.0.1:1 US 2", "81.1.0.1:1 DE 1",
		"80.2.0.1:1 - 0", "81.2.0.1:1 - 0", "80.3.0.1:1 - 0",
		"[2001:db8::1]:1 - 0", "[2001:dff::1]:1 - 0", "[2a02::1]:1 DE 1",
	)
	tests := []struct {
		refine bool
		want   string
	}{
		// A /20 holds 2001:db8:: and 2001:dff::.
		{false, "[[0 2 8] [1] [3 5] [4] [6 7]]"},
		{true, "[[0] [1] [2] [3 5] [4] [6 7] [8]]"},
	}
	for _, tt := range tests {
		if got := groupsOf(clusterByCountry(servers, tt.refine, clusterBits)); got != tt.want {
			t.Errorf("refine %v: %s, want %s", tt.refine, got, tt.want)
		}
	}
}

func TestClusterByCountryPrefix(t *testing.T) {
	sizes := func(lines ...[]string) []int {
		var sizes []int
		for _, g := range clusterByCountryPrefix(list(t, slices.Concat(lines...)...), PlanOptions{}.withDefaults()) {
			sizes = append(sizes, len(g))
		}
		return sizes
	}
	tests := []struct {
		name string
		got  []int
		want []int
	}{
		{"10 in a /8 are not more than 10", sizes(many(10, "80.1.0", "DE 1"), many(5, "81.1.0", "DE 1")), []int{15}},
		{"11 in a /8 are", sizes(many(11, "80.1.0", "DE 1"), many(5, "81.1.0", "DE 1")), []int{11, 5}},
		{"11 of 110 are not more than 10 %", sizes(many(11, "80.1.0", "DE 1"), many(99, "81.1.0", "DE 1")), []int{11, 99}},
		{"12 of 110 are", sizes(many(12, "80.1.0", "DE 1"), many(98, "81.1.0", "DE 1")), []int{12, 98}},
		{"small /8s share a cluster", sizes(many(9, "80.1.0", "DE 1"), many(90, "81.1.0", "DE 1"), many(9, "82.1.0", "DE 1")), []int{18, 90}},
		{"another country is another cluster", sizes(many(12, "80.1.0", "DE 1"), many(12, "80.2.0", "NL 1")), []int{12, 12}},
		{"without a country the prefix is the key", sizes(many(2, "80.1.0", "- 1"), many(3, "81.1.0", "- 1")), []int{2, 3}},
	}
	for _, tt := range tests {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestClusterByAS(t *testing.T) {
	servers := list(t, "80.1.0.1:1 DE 7", "24.1.0.1:1 US 7", "80.1.0.2:1 DE 8", "80.2.0.1:1 DE 0", "81.2.0.1:1 DE 0", "80.3.0.1:1 FR 0")
	if got, want := groupsOf(clusterByAS(servers, clusterBits)), "[[0 1] [2] [3 5] [4]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMedianAndSpread(t *testing.T) {
	tests := []struct {
		rtts           []time.Duration
		median, spread time.Duration
	}{
		{[]time.Duration{7}, 7, 0},
		{[]time.Duration{30, 10}, 20, 20},
		{[]time.Duration{30, 10, 90}, 30, 80},
		{[]time.Duration{5, 1, 4, 2, 3}, 3, 3}, // the 1st and the 4th of five
		{[]time.Duration{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 55, 60},
	}
	for _, tt := range tests {
		if m, s := median(tt.rtts), spread(tt.rtts); m != tt.median || s != tt.spread {
			t.Errorf("%v: median %d, spread %d, want %d and %d", tt.rtts, m, s, tt.median, tt.spread)
		}
	}
}

// trace runs a plan on a world given as RTTs in ms, one probe at a time, and
// tells the probes of each phase.
func trace(t *testing.T, strategy Strategy, servers []Server, o PlanOptions, rtts []int) (samples, ordered []int, s PlanSummary) {
	t.Helper()
	world := make(far, len(rtts))
	for i, rtt := range rtts {
		world[i] = time.Duration(rtt) * ms
	}
	plan, err := NewPlan(strategy, servers, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range world.execute(t, plan, 1) {
		if p.Phase == Calibration {
			samples = append(samples, p.Server)
		} else {
			ordered = append(ordered, p.Server)
		}
	}
	return samples, ordered, plan.Summary()
}

func TestByASSamplesRanksAndKeepsTheListsOrder(t *testing.T) {
	// AS 1: nine servers in nine /16s, far. AS 2: four in two /16s, near.
	var lines []string
	var rtts []int
	for i := range 9 {
		lines, rtts = append(lines, fmt.Sprintf("80.%d.0.1:1 DE 1", i)), append(rtts, 150)
	}
	lines = append(lines, "24.1.0.1:1 US 2", "24.1.0.2:1 US 2", "24.2.0.1:1 US 2", "24.2.0.2:1 US 2")
	rtts = append(rtts, 30, 30, 30, 30)
	samples, ordered, summary := trace(t, ByAS, list(t, lines...), PlanOptions{AutoStop: StopOff}, rtts)

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
	samples, _, _ := trace(t, ByAS, list(t, many(100, "80.1.0", "DE 1")...), PlanOptions{AutoStop: StopOff}, slices.Repeat([]int{9}, 100))
	if len(samples) != 1 {
		t.Errorf("%d samples of a cluster in one /16, want 1", len(samples))
	}
}

// spreadOut is an AS of sixteen servers in four /16s, which are at 20, 60, 100
// and 140 ms.
func spreadOut(t *testing.T) ([]Server, []int) {
	var lines []string
	var rtts []int
	for i := range 16 {
		lines = append(lines, fmt.Sprintf("80.%d.0.%d:1 DE 1", i%4, i))
		rtts = append(rtts, 20+40*(i%4))
	}
	return list(t, lines...), rtts
}

func TestAWideClusterIsSplitInto16s(t *testing.T) {
	servers, rtts := spreadOut(t)
	samples, ordered, summary := trace(t, ByAS, servers, PlanOptions{AutoStop: StopOff}, rtts)
	// √16 samples, one a /16; their 20th and 80th percentile are 120 ms apart;
	// then one more of each of the four new clusters.
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
	for name, o := range map[string]PlanOptions{
		"the spread is not over the threshold": {Spread: 120 * ms},
		"splitting is off":                     {Spread: -1},
	} {
		o.AutoStop = StopOff
		if samples, _, _ := trace(t, ByAS, servers, o, rtts); len(samples) != 4 {
			t.Errorf("%s: samples %v, want 4", name, samples)
		}
	}
	if samples, _, _ := trace(t, ByCountry, servers, PlanOptions{AutoStop: StopOff}, rtts); len(samples) != 1 {
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
	samples, ordered, _ := trace(t, ByAS, list(t, lines...), PlanOptions{AutoStop: StopOff}, rtts)
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
	samples, ordered, _ := trace(t, ByAS, list(t, lines...), PlanOptions{AutoStop: StopOff}, []int{-1, -1, -1, -1, -1, 300, 300})
	if len(samples) != 4 {
		t.Errorf("samples %v: want 1 and 2 more of the silent AS, 1 of the other", samples)
	}
	if ordered[0] < 5 || len(ordered) != 3 {
		t.Errorf("ordered %v: want the answering AS first", ordered)
	}
	samples, _, _ = trace(t, ByAS, list(t, lines...), PlanOptions{AutoStop: StopOff, SilentRetry: -1}, []int{-1, -1, -1, -1, -1, 300, 300})
	if len(samples) != 2 {
		t.Errorf("samples %v: want no more of the silent AS", samples)
	}
}

func TestByCountryRanksByOneProbeEach(t *testing.T) {
	lines := slices.Concat(many(40, "80.1.0", "DE 1"), many(40, "24.1.0", "US 2"), many(40, "60.1.0", "JP 3"))
	rtts := slices.Concat(slices.Repeat([]int{300}, 40), slices.Repeat([]int{150}, 40), slices.Repeat([]int{20}, 40))
	samples, ordered, summary := trace(t, ByCountry, list(t, lines...), PlanOptions{AutoStop: StopOff}, rtts)
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
	_, ordered, _ := trace(t, ByAS, list(t, lines...), PlanOptions{AutoStop: StopOff}, slices.Repeat([]int{50}, 8))
	if ordered[0] < 4 || ordered[len(ordered)-1] >= 4 {
		t.Errorf("ordered %v: want 80.1.0.0 before 90.1.0.0", ordered)
	}
}
