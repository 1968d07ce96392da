package discovery

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// network is a world of ASes: each has so many servers in one country, a /24 for
// every four of them, at about the same RTT in ms.
type network struct {
	country string
	servers int
	rtt     int
}

// build lays networks out as a list, in random order, and the servers' RTTs.
func build(t *testing.T, networks []network, seed uint64) ([]Server, []int) {
	t.Helper()
	var lines []string
	var rtts []int
	rng := rand.New(rand.NewPCG(seed, 9))
	for as, n := range networks {
		for i := range n.servers {
			lines = append(lines, fmt.Sprintf("%d.%d.%d.%d:1 %s %d", 60+as%20, as/20, i/4, 1+i%4, n.country, 100+as))
			rtts = append(rtts, n.rtt+rng.IntN(5))
		}
	}
	rng.Shuffle(len(lines), func(i, j int) {
		lines[i], lines[j] = lines[j], lines[i]
		rtts[i], rtts[j] = rtts[j], rtts[i]
	})
	return list(t, lines...), rtts
}

// globe has a few near networks among many far ones.
func globe(t *testing.T, seed uint64) ([]Server, []int) {
	var networks []network
	for i := range 40 {
		networks = append(networks, network{[]string{"DE", "GB", "FR", "SE"}[i%4], 40, 300 + i})
	}
	networks = append(networks, network{"AU", 30, 20}, network{"AU", 20, 40}, network{"NZ", 10, 60}, network{"JP", 20, 150}, network{"US", 60, 190}, network{"US", 60, 215})
	return build(t, networks, seed)
}

func nearOf(rtts []int, limit int) (n int) {
	for _, rtt := range rtts {
		if rtt < limit {
			n++
		}
	}
	return n
}

func TestAdaptiveFindsTheNearAndStops(t *testing.T) {
	for seed := range uint64(10) {
		servers, rtts := globe(t, seed)
		samples, ordered, summary := trace(t, Adaptive, servers, PlanOptions{Seed: seed}, rtts)
		asked := append(samples, ordered...)
		found := 0
		for _, i := range asked {
			if rtts[i] < 200 {
				found++
			}
		}
		near := nearOf(rtts, 200)
		if found < near*97/100 || len(asked) > len(servers)*2/5 || !summary.AutoStopped {
			t.Errorf("seed %d: %d of %d near servers after %d of %d probes, %+v", seed, found, near, len(asked), len(servers), summary)
		}
		if summary.Clusters != 8 || summary.Claim.Low < 0.9 || summary.Claim.Limit != 200*ms {
			t.Errorf("seed %d: %+v, want 8 countries and a claim", seed, summary)
		}
	}
}

// What is under way may tell of a network that nobody knew.
func TestAdaptiveStopsOnlyOnceAllIsBack(t *testing.T) {
	const line = 40 // probes on their way at once
	for seed := range uint64(10) {
		servers, rtts := globe(t, seed)
		plan, err := NewPlan(Adaptive, servers, PlanOptions{Seed: seed, AutoStop: StopConfident})
		if err != nil {
			t.Fatal(err)
		}
		var underway []Probe
		for {
			probe, verdict := plan.Next()
			if verdict == Stop {
				break
			}
			if verdict == Go {
				underway = append(underway, probe)
			}
			if verdict == Wait || len(underway) > line {
				back := underway[0]
				underway = underway[1:]
				plan.Observe(Result{Server: back.Server, Phase: back.Phase, State: Answered, RTT: time.Duration(rtts[back.Server]) * ms})
			}
		}
		if len(underway) > 0 || !plan.Summary().AutoStopped {
			t.Errorf("seed %d: stopped with %d probes under way, %+v", seed, len(underway), plan.Summary())
		}
	}
}

func TestAdaptiveBeginsWithEachCountryAndThenGoesNear(t *testing.T) {
	servers, rtts := globe(t, 1)
	samples, ordered, _ := trace(t, Adaptive, servers, PlanOptions{}, rtts)
	countries := make(map[string]bool)
	for _, i := range samples[:8] {
		countries[servers[i].Country] = true
	}
	if len(countries) != 8 {
		t.Errorf("the first 8 probes saw the countries %v", countries)
	}
	if near := nearOf(pickInts(rtts, ordered[:60]), 200); near < 50 {
		t.Errorf("%d of the first 60 ordered probes were near", near)
	}
}

func pickInts(from, at []int) (picked []int) {
	for _, i := range at {
		picked = append(picked, from[i])
	}
	return picked
}

func TestAdaptiveWorksWithoutAnnotation(t *testing.T) {
	servers, rtts := globe(t, 3)
	for i := range servers {
		servers[i].Country, servers[i].ASN = "", 0
	}
	samples, ordered, summary := trace(t, Adaptive, servers, PlanOptions{}, rtts)
	found := nearOf(pickInts(rtts, append(samples, ordered...)), 200)
	if near := nearOf(rtts, 200); found < near*9/10 || summary.Clusters != 20 {
		t.Errorf("%d of %d near servers found, %+v; want most, by 20 prefixes", found, near, summary)
	}
}

func TestNearestFindsThemWithFewProbes(t *testing.T) {
	for seed := range uint64(10) {
		servers, rtts := globe(t, seed)
		samples, ordered, summary := trace(t, Adaptive, servers, PlanOptions{Seed: seed, Nearest: 10}, rtts)
		found := pickInts(rtts, append(samples, ordered...))
		slices.Sort(found)
		truth := slices.Sorted(slices.Values(rtts))
		if found[9] > truth[9]+5 || len(found) > len(servers)/3 || !summary.AutoStopped {
			t.Errorf("seed %d: after %d probes the 10th is at %d ms, not %d", seed, len(found), found[9], truth[9])
		}
	}
}

// All large networks of the player's own country answer by way of others.
func TestNearestLooksFurtherWhereNobodyIsNear(t *testing.T) {
	networks := []network{{"ZA", 6, 15}, {"ZA", 6, 15}}
	for range nearNetworks {
		networks = append(networks, network{"ZA", 20, 320})
	}
	for i := range 60 {
		networks = append(networks, network{[]string{"DE", "GB", "FR", "SE"}[i%4], 40, 150 + i/2})
	}
	for seed := range uint64(10) {
		servers, rtts := build(t, networks, seed)
		samples, ordered, _ := trace(t, Adaptive, servers, PlanOptions{Seed: seed, Nearest: 10}, rtts)
		found := pickInts(rtts, append(samples, ordered...))
		slices.Sort(found)
		if found[9] > 20 || len(found) > len(servers)/3 {
			t.Errorf("seed %d: after %d of %d probes the 10th is at %d ms", seed, len(found), len(servers), found[9])
		}
	}
}

func TestNearestOfAShortListAsksAll(t *testing.T) {
	servers, rtts := build(t, []network{{"DE", 4, 20}, {"US", 4, 120}}, 1)
	samples, ordered, summary := trace(t, Adaptive, servers, PlanOptions{Nearest: 50}, rtts)
	if len(samples)+len(ordered) != 8 || summary.AutoStopped {
		t.Errorf("%d probes, %+v: want all 8", len(samples)+len(ordered), summary)
	}
}

func TestConfidentEndsAPapersPlan(t *testing.T) {
	servers, rtts := globe(t, 5)
	samples, ordered, summary := trace(t, ByAS, servers, PlanOptions{AutoStop: StopConfident}, rtts)
	asked := append(samples, ordered...)
	found, near := nearOf(pickInts(rtts, asked), 200), nearOf(rtts, 200)
	if found < near*97/100 || len(asked) > len(servers)*4/5 || summary.Claim.Low < 0.9 {
		t.Errorf("%d of %d near servers after %d of %d probes, %+v", found, near, len(asked), len(servers), summary)
	}
}

func TestEvidence(t *testing.T) {
	const limit = 200 * ms
	for l := anywhere; l < levels; l++ {
		last := 1.0
		for rtt := time.Duration(0); rtt < time.Second; rtt += ms {
			e := evidence(rtt, limit)[l]
			if e > last+1e-12 || e <= 0 || e >= 1 {
				t.Fatalf("level %d: %v of %v says %v after %v", l, rtt, limit, e, last)
			}
			last = e
		}
	}
	near, distant := evidence(50*ms, limit), evidence(400*ms, limit)
	if !slices.IsSorted(near[:]) || !slices.IsSortedFunc(distant[:], func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("the closer the relation the surer: %v, %v", near, distant)
	}
}

func TestTheTreeKnowsWhoBelongsTogether(t *testing.T) {
	servers := list(t,
		"80.1.1.1:1 DE 1", "80.1.1.1:2 DE 1", "80.1.1.2:1 DE 1", "80.1.2.1:1 DE 1", "80.2.1.1:1 DE 1",
		"80.1.1.9:1 DE 2", "80.1.1.10:1 FR 1", "90.0.0.1:1 - 0", "90.0.0.2:1 - 5", "91.0.0.1:1 - 0", "[2001:db8::1]:1 - 0",
	)
	tree := newTree(servers, 200*ms)
	tests := []struct {
		a, b int
		want level
	}{
		{0, 1, machine}, {0, 2, site}, {0, 3, block}, {0, 4, cell}, {0, 5, country}, {0, 6, anywhere},
		{7, 8, country}, {7, 9, anywhere}, {7, 10, anywhere}, {10, 10, machine},
	}
	for _, tt := range tests {
		if got := common(servers[tt.a], servers[tt.b]); got != tt.want {
			t.Errorf("%v and %v share level %d, want %d", servers[tt.a].Addr, servers[tt.b].Addr, got, tt.want)
		}
		s := newSearch(tree, 1)
		if s.branchOf(int32(tt.a), tt.want) != s.branchOf(int32(tt.b), tt.want) {
			t.Errorf("%v and %v are in two branches of level %d", servers[tt.a].Addr, servers[tt.b].Addr, tt.want)
		}
	}
	if root := tree.nodes[0]; root.size != 11 || root.unprobed != 11 || int(root.after) != len(tree.nodes) {
		t.Errorf("the root is %+v", root)
	}
	// AS 1 has five servers in DE and one in FR: the one follows the five.
	s := newSearch(tree, 1)
	large, small := tree.nodes[s.branchOf(0, cell)], tree.nodes[s.branchOf(6, cell)]
	if large.link != small.link || large.tie >= small.tie {
		t.Errorf("ties of 5 and 1 servers of an AS are %v and %v", large.tie, small.tie)
	}
}

func TestATreeLearns(t *testing.T) {
	servers := list(t, "80.1.1.1:1 DE 1", "80.1.1.2:1 DE 1", "80.2.1.1:1 DE 1", "80.3.1.1:1 DE 2", "24.1.1.1:1 US 3")
	tree := newTree(servers, 200*ms)
	p := func(server int) float64 { return tree.nodes[tree.leaf[server]].p }
	tree.estimate()
	if before := p(1); before != p(4) || before != rootShare {
		t.Errorf("before anything is known p is %v and %v, want %v", before, p(4), rootShare)
	}
	tree.observe(0, Answered, 20*ms)
	tree.estimate()
	if !(p(1) > p(2) && p(2) > p(3) && p(3) > p(4) && p(1) > 0.99) {
		t.Errorf("one near server says %v of its /24, %v of its AS, %v of its country, %v of the rest", p(1), p(2), p(3), p(4))
	}
	tree.relimit(15 * ms)
	tree.estimate()
	if p(1) > 0.2 {
		t.Errorf("20 ms is not under 15 ms, and yet p is %v", p(1))
	}
}

func TestForecastLearnsFromItsErrors(t *testing.T) {
	e := expectation{p: 0.1, known: byNetwork}
	f := newForecast()
	if c := f.correct(e); math.Abs(c-0.1) > 0.03 {
		t.Errorf("an untaught forecast makes %v of 0.1", c)
	}
	for range 300 {
		f.note(e, false)
	}
	f.learn(300)
	if c := f.correct(e); c > 0.02 {
		t.Errorf("after 300 disappointments it still expects %v", c)
	}
	if c, other := f.correct(e), f.correct(expectation{p: 0.1, known: byCountry}); c >= other || other > 0.05 {
		t.Errorf("what was learnt of one depth, %v, left another at %v", c, other)
	}
	for i := range 300 {
		f.note(e, i%2 == 0)
	}
	f.learn(300)
	if c := f.correct(e); c < 0.15 {
		t.Errorf("after 150 hits in 600 it expects %v", c)
	}
}

func TestTopKeepsTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var all []candidate
	for i := range 500 {
		all = append(all, candidate{int32(i), float64(rng.IntN(50))})
	}
	best := newTop(20)
	for _, c := range all {
		best.offer(c)
	}
	slices.SortFunc(all, better)
	if got := best.sorted(); !slices.Equal(got, all[:20]) {
		t.Errorf("%v, want %v", got, all[:20])
	}
}

func BenchmarkAdaptive(b *testing.B) {
	servers := scattered(5000, 1)
	rtts := make([]time.Duration, len(servers))
	for i, s := range servers {
		rtts[i] = time.Duration(20+40*int(s.Addr.Addr().As16()[13])) * ms
	}
	probes := 0
	for b.Loop() {
		plan, err := NewPlan(Adaptive, servers, PlanOptions{AutoStop: StopOff})
		if err != nil {
			b.Fatal(err)
		}
		for {
			probe, verdict := plan.Next()
			if verdict != Go {
				break
			}
			probes++
			plan.Observe(Result{Server: probe.Server, Phase: probe.Phase, State: Answered, RTT: rtts[probe.Server]})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(probes), "ns/probe")
}

func TestASurveyLooksUntilNetworksAnswer(t *testing.T) {
	// Networks 100 to 107 of ZA have 24 to 3 servers; the largest are silent.
	var networks []network
	for i := range 8 {
		networks = append(networks, network{"ZA", 24 - 3*i, 20})
	}
	servers, _ := build(t, networks, 1)
	s := newSearch(newTree(servers, 200*ms), 1)
	look := func(silent uint32) (ases []uint32) {
		for _, p := range s.survey(0) {
			asn := servers[p.Server].ASN
			ases = append(ases, asn)
			state := Answered
			if asn <= silent {
				state = Lost
			}
			s.observe(p.Server, state, 300*ms)
		}
		slices.Sort(ases)
		return ases
	}
	const silent = 102
	if got := look(silent); !slices.Equal(got, []uint32{100, 101, 102, 103, 104, 105}) {
		t.Errorf("the first survey asked %v, want the nearest country's %d largest networks", got, nearNetworks)
	}
	if got := look(silent); !slices.Equal(got, []uint32{106, 107}) {
		t.Errorf("the second asked %v, want those that are left for three silent ones", got)
	}
	if got := look(silent); len(got) != 0 {
		t.Errorf("a third asked %v, and nothing is left", got)
	}
}

func TestASurveyLooksIntoPrefixesWhereNetworksAreUnknown(t *testing.T) {
	servers, _ := build(t, []network{{"ZA", 24, 20}, {"ZA", 24, 20}}, 1)
	for i := range servers {
		servers[i].ASN = 0
	}
	// Two /8s of a /16 each are two looks; eight more /16s are there to be had.
	for i := range 8 {
		servers = append(servers, list(t, fmt.Sprintf("60.%d.0.1:1 ZA 0", 10+i))...)
	}
	s := newSearch(newTree(servers, 200*ms), 1)
	prefixes := make(map[string]bool)
	for _, p := range s.survey(0) {
		prefixes[splitBits.Of(servers[p.Server].Addr.Addr()).String()] = true
	}
	if len(prefixes) != nearNetworks {
		t.Errorf("the survey looked into %d /16s, want %d", len(prefixes), nearNetworks)
	}
}

func TestWhatIsLeftIsAllOrNothingWhereNothingWasMeasured(t *testing.T) {
	// AS 1 was measured once. Its twenty other servers are in one /16, which may
	// be elsewhere, or each in its own.
	spread := func(together bool) outlook {
		lines := []string{"80.1.0.1:1 DE 1"}
		for i := range 20 {
			at := i
			if together {
				at = 0
			}
			lines = append(lines, fmt.Sprintf("80.%d.%d.1:1 DE 1", 2+at, i))
		}
		s := newSearch(newTree(list(t, lines...), 200*ms), 1)
		s.ask(0, Calibration)
		s.observe(0, Answered, 230*ms)
		return s.outlook(newForecast())
	}
	one, many := spread(true), spread(false)
	if math.Abs(one.near-many.near) > 0.1*many.near || one.variance < 10*many.variance {
		t.Errorf("in one /16 %+v are left, in twenty %+v; want as many, and twenty times the variance", one, many)
	}
}

func TestNothingLeft(t *testing.T) {
	tests := []struct {
		left  outlook
		found float64
		want  bool
	}{
		{outlook{near: 7}, 1000, true},
		{outlook{near: 8}, 1000, false},
		{outlook{near: 5, variance: 4}, 1000, true},
		{outlook{near: 5, variance: 25}, 1000, false}, // one network would be too many
		{outlook{near: 1.2, variance: 400}, 100, true},
		{outlook{near: 0.2}, 0, true},
		{outlook{near: 0.6}, 10, false},
	}
	for _, tt := range tests {
		if got := tt.left.nothingLeft(tt.found, 0.01, fewLeft); got != tt.want {
			t.Errorf("%+v after %v found: nothing left is %v", tt.left, tt.found, got)
		}
	}
}

func TestAClaimLeavesRoomForTheForecastsErrors(t *testing.T) {
	tests := []struct {
		left  outlook
		found float64
		want  string
	}{
		{outlook{near: 8, variance: 4}, 1000, "97–99 % of the servers under 200 ms found"},
		{outlook{near: 1}, 1000, "99–100 % of the servers under 200 ms found"},
		{outlook{near: 0.1, variance: 9}, 20, "93–100 % of the servers under 200 ms found"},
		{outlook{}, 1000, "100 % of the servers under 200 ms found"},
		{outlook{near: 1}, 0, ""},
	}
	for _, tt := range tests {
		if got := tt.left.claim(tt.found, 200*ms).String(); got != tt.want {
			t.Errorf("%+v after %v found: %q, want %q", tt.left, tt.found, got, tt.want)
		}
	}
}

func TestAPrefixThatStandsForACountryIsTrustedLess(t *testing.T) {
	// Three /16s of a /8 are far. The fourth is far for sure if they are one
	// country's, less so if all that is known is the /8.
	left := func(country string, asn int) float64 {
		s := newSearch(newTree(list(t,
			fmt.Sprintf("80.1.0.1:1 %s %d", country, asn), fmt.Sprintf("80.2.0.1:1 %s %d", country, asn),
			fmt.Sprintf("80.3.0.1:1 %s %d", country, asn), fmt.Sprintf("80.4.0.1:1 %s %d", country, asn),
		), 200*ms), 1)
		for i := range 3 {
			s.observe(i, Answered, 350*ms)
		}
		s.estimate()
		return s.nodes[s.leaf[3]].p
	}
	if known, unknown := left("DE", 7), left("-", 0); unknown < 3*known {
		t.Errorf("in a country p is %v, in a /8 %v", known, unknown)
	}
}
