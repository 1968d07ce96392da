package adaptive

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/testlist"
	"muster/discovery/plan/topology"
)

func TestLikelihood(t *testing.T) {
	const limit = 200 * ms
	for l := topology.List; l < topology.Levels; l++ {
		last := 1.0
		for rtt := time.Duration(0); rtt < time.Second; rtt += ms {
			e := likelihood(rtt, limit)[l]
			if e > last+1e-12 || e <= 0 || e >= 1 {
				t.Fatalf("level %d: %v of %v says %v after %v", l, rtt, limit, e, last)
			}
			last = e
		}
	}
	near, distant := likelihood(50*ms, limit), likelihood(400*ms, limit)
	if !slices.IsSorted(near[:]) || !slices.IsSortedFunc(distant[:], func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("the closer the relation the surer: %v, %v", near, distant)
	}
}

func TestTheEstimatorLearns(t *testing.T) {
	servers := testlist.Of(t, "80.1.1.1:1 DE 1", "80.1.1.2:1 DE 1", "80.2.1.1:1 DE 1", "80.3.1.1:1 DE 2", "24.1.1.1:1 US 3")
	e := newEstimator(topology.New(servers), 200*ms)
	p := e.share
	e.estimate()
	if before := p(1); before != p(4) || before != rootShare {
		t.Errorf("before anything is known p is %v and %v, want %v", before, p(4), rootShare)
	}
	e.observe(0, discovery.Answered, 20*ms)
	e.estimate()
	if !(p(1) > p(2) && p(2) > p(3) && p(3) > p(4) && p(1) > 0.99) {
		t.Errorf("one near server says %v of its /24, %v of its AS, %v of its country, %v of the rest", p(1), p(2), p(3), p(4))
	}
	e.relimit(15 * ms)
	e.estimate()
	if p(1) > 0.2 {
		t.Errorf("20 ms is not under 15 ms, and yet p is %v", p(1))
	}
}

// A country has its region's share until it is known. A /16 with a far label follows
// its neighbours by address to the degree that labels proved wrong.
func TestRegionsAndNeighbours(t *testing.T) {
	e := newEstimator(topology.New(testlist.Of(t,
		"80.1.1.1:1 FR 1", "81.1.1.1:1 DE 2", "82.1.1.1:1 NZ 3", // far, far, near
		"83.1.1.1:1 IT 4", "84.1.1.1:1 AU 5", // in the regions of those
		"82.1.2.1:1 GB 6", "85.1.1.1:1 GB 7", // one of them beside NZ's
	)), 200*ms)
	for server, rtt := range []time.Duration{300 * ms, 300 * ms, 20 * ms} {
		e.observe(server, discovery.Answered, rtt)
	}
	e.estimate()
	if !(e.share(4) > 3*e.share(3)) {
		t.Errorf("AU %v, IT %v: a country is as its region", e.share(4), e.share(3))
	}
	if !(e.share(5) > 1.1*e.share(6)) {
		t.Errorf("%v of the /16 that NZ shares, %v of another of GB", e.share(5), e.share(6))
	}
}

func TestLabelsAreBelievedUntilTheyErr(t *testing.T) {
	right, wrong := newLabels(), newLabels()
	for i := range 300 {
		near := i%2 == 0
		said := map[bool]float64{true: 0.95, false: 0.02}[near]
		right.judge(said, 0.3, near)
		if i%10 < 3 {
			said = 0.97 - said // of another country
		}
		wrong.judge(said, 0.3, near)
	}
	if right.wrong > 0.01 || wrong.wrong < 0.1 {
		t.Errorf("%v of labels that are right are taken for wrong, %v of those of which three in ten are", right.wrong, wrong.wrong)
	}
	if stray := wrong.judge(0.001, 0.9, true); stray < 0.9 {
		t.Errorf("a near /16 among near neighbours, labelled far, is a stray with %v", stray)
	}
	if stray := right.judge(0.9, 0.9, true); stray > 0.02 {
		t.Errorf("a /16 that is as it is labelled is a stray with %v", stray)
	}
}

func TestTheCalibratorLearnsFromItsErrors(t *testing.T) {
	e := expect(0.1, sameAS)
	f := newCalibrator()
	if c := f.correct(e); math.Abs(c-0.1) > 0.03 {
		t.Errorf("an untaught calibrator makes %v of 0.1", c)
	}
	for range 300 {
		f.note(e, false)
	}
	f.learn(300)
	if c := f.correct(e); c > 0.02 {
		t.Errorf("after 300 disappointments it still expects %v", c)
	}
	if c, other := f.correct(e), f.correct(expect(0.1, sameCountry)); c >= other || other > 0.05 {
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

// The first server of each country is asked before anything is expected of it. A near
// one among them is no surprise. If it counted as one, the calibrator would expect more
// everywhere.
func TestTheFirstServersAreNoNewsToTheCalibrator(t *testing.T) {
	e := newEstimator(topology.New(testlist.Of(t, "80.1.1.1:1 DE 1", "81.1.1.1:1 FR 2", "82.1.1.1:1 ZA 3")), 200*ms)
	note := func(server int) {
		e.ask(server)
		e.observe(server, discovery.Answered, 20*ms)
	}
	note(0)
	if got := e.calibrator.answered(); got != 0 {
		t.Errorf("before anything is expected the calibrator notes %v replies, want none", got)
	}
	e.estimate()
	note(1)
	e.correct(change{})
	if got := e.calibrator.answered(); math.Abs(got-1) > 0.01 {
		t.Errorf("of two replies, one of them foreseen, the calibrator notes %v, want 1", got)
	}
}

// answered returns how many replies are noted.
func (c *calibrator) answered() (n float64) {
	for _, r := range c.all.records {
		n += r.answered
	}
	return n
}

func TestTopKeepsTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var all []candidate
	for i := range 500 {
		all = append(all, candidate{topology.Node(i), float64(rng.IntN(50))})
	}
	best := newTop(20)
	for _, c := range all {
		best.offer(c)
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.node, b.node)) })
	if got := best.sorted(); !slices.Equal(got, all[:20]) {
		t.Errorf("%v, want %v", got, all[:20])
	}
}

func TestASurveyLooksUntilNetworksAnswer(t *testing.T) {
	// Networks 100 to 107 of ZA have 24 to 3 servers; the largest are silent.
	var networks []testlist.Network
	for i := range 8 {
		networks = append(networks, testlist.Network{Country: "ZA", Servers: 24 - 3*i, RTT: 20})
	}
	servers, _ := testlist.Build(t, networks, 1)
	a := newAcquisition(newEstimator(topology.New(servers), 200*ms), 1)
	look := func(silent uint32) (ases []uint32) {
		for _, p := range a.survey(0, nil) {
			asn := servers[p.Server].ASN
			ases = append(ases, asn)
			state := discovery.Answered
			if asn <= silent {
				state = discovery.Lost
			}
			a.estimator.observe(p.Server, state, 300*ms)
		}
		slices.Sort(ases)
		return ases
	}
	const silent = 102
	if got := look(silent); !slices.Equal(got, []uint32{100, 101, 102, 103, 104, 105}) {
		t.Errorf("the first survey asked %v, want the nearest country's %d largest networks", got, nearNetworks+doubtNetworks)
	}
	if got := look(silent); !slices.Equal(got, []uint32{106, 107}) {
		t.Errorf("the second asked %v, want those that are left for three silent ones", got)
	}
	if got := look(silent); len(got) != 0 {
		t.Errorf("a third asked %v, and nothing is left", got)
	}
}

func TestASurveyLooksIntoPrefixesWhereNetworksAreUnknown(t *testing.T) {
	servers, _ := testlist.Build(t, []testlist.Network{{Country: "ZA", Servers: 24, RTT: 20}, {Country: "ZA", Servers: 24, RTT: 20}}, 1)
	for i := range servers {
		servers[i].ASN = 0
	}
	// Two /8s with a /16 each give two probes; eight more /16s are possible.
	for i := range 8 {
		servers = append(servers, testlist.Of(t, fmt.Sprintf("60.%d.0.1:1 ZA 0", 10+i))...)
	}
	a := newAcquisition(newEstimator(topology.New(servers), 200*ms), 1)
	prefixes := make(map[string]bool)
	for _, p := range a.survey(0, nil) {
		prefixes[topology.Prefix16.Prefix(servers[p.Server].Addr.Addr()).String()] = true
	}
	if len(prefixes) != nearNetworks+doubtNetworks {
		t.Errorf("the survey looked into %d /16s, want %d", len(prefixes), nearNetworks+doubtNetworks)
	}
}

func TestWhatIsLeftIsAllOrNothingWhereNothingWasMeasured(t *testing.T) {
	// AS 1 was measured once. Its twenty other servers share one /16, which may be
	// elsewhere, or each is in its own.
	spread := func(together bool) remaining {
		lines := []string{"80.1.0.1:1 DE 1"}
		for i := range 20 {
			at := i
			if together {
				at = 0
			}
			lines = append(lines, fmt.Sprintf("80.%d.%d.1:1 DE 1", 2+at, i))
		}
		e := newEstimator(topology.New(testlist.Of(t, lines...)), 200*ms)
		e.ask(0)
		e.observe(0, discovery.Answered, 230*ms)
		return e.remaining()
	}
	one, many := spread(true), spread(false)
	if math.Abs(one.near-many.near) > 0.1*many.near || one.variance < 10*many.variance {
		t.Errorf("in one /16 %+v are left, in twenty %+v; want as many, and twenty times the variance", one, many)
	}
}

func TestNegligible(t *testing.T) {
	tests := []struct {
		left  remaining
		found float64
		want  bool
	}{
		{remaining{near: 10}, 1000, true},
		{remaining{near: 11}, 1000, false},
		{remaining{near: 8, variance: 25}, 1000, true},
		{remaining{near: 8, variance: 64}, 1000, false}, // one network would be too many
		{remaining{near: 1.2, variance: 400}, 100, true},
		{remaining{near: 4.6, variance: 400}, 250, true},
		{remaining{near: 4.7, variance: 400}, 250, false},
		{remaining{near: 0.2}, 0, true},
		{remaining{near: 5, likely: 4}, 200, false}, // few, but worth their probes
		{remaining{near: 0.6}, 10, false},
		{remaining{near: 1.2}, 40, true},
		{remaining{near: 1.3}, 40, false},
	}
	for _, tt := range tests {
		if got := tt.left.negligible(tt.found, 0.01, fewLeft); got != tt.want {
			t.Errorf("%+v after %v found: negligible is %v", tt.left, tt.found, got)
		}
	}
}

func TestAClaimLeavesRoomForTheEstimatesErrors(t *testing.T) {
	tests := []struct {
		left  remaining
		found float64
		want  string
	}{
		{remaining{near: 8, variance: 4}, 1000, "96–99 % of the servers under 200 ms found"},
		{remaining{near: 1}, 1000, "99–100 % of the servers under 200 ms found"},
		{remaining{near: 8, variance: 4, unlabelled: 8}, 1000, "92–99 % of the servers under 200 ms found"},
		{remaining{near: 0.1, variance: 9}, 20, "81–100 % of the servers under 200 ms found"},
		{remaining{}, 1000, "100 % of the servers under 200 ms found"},
		{remaining{near: 1}, 0, ""},
	}
	for _, tt := range tests {
		if got := tt.left.claim(tt.found, 200*ms).String(); got != tt.want {
			t.Errorf("%+v after %v found: %q, want %q", tt.left, tt.found, got, tt.want)
		}
	}
}

func TestAPrefixThatStandsForACountryIsTrustedLess(t *testing.T) {
	// Three /16s of a /8 are far. The fourth is surely far if all are one country's. It
	// is less sure if only the /8 is known.
	left := func(country string, asn int) float64 {
		e := newEstimator(topology.New(testlist.Of(t,
			fmt.Sprintf("80.1.0.1:1 %s %d", country, asn), fmt.Sprintf("80.2.0.1:1 %s %d", country, asn),
			fmt.Sprintf("80.3.0.1:1 %s %d", country, asn), fmt.Sprintf("80.4.0.1:1 %s %d", country, asn),
		)), 200*ms)
		for i := range 3 {
			e.observe(i, discovery.Answered, 350*ms)
		}
		e.estimate()
		return e.share(3)
	}
	if known, unknown := left("DE", 7), left("-", 0); unknown < 3*known {
		t.Errorf("in a country p is %v, in a /8 %v", known, unknown)
	}
}

func TestANetworkWhoseASIsNotKnownIsTrustedLess(t *testing.T) {
	// One of two /24s of a /16 is far. So is the other if the /16 is one AS's. It is
	// less sure if only the address is known.
	left := func(country string, asn int) (p, unlabelled float64) {
		e := newEstimator(topology.New(testlist.Of(t,
			fmt.Sprintf("80.1.1.1:1 %s %d", country, asn), fmt.Sprintf("80.1.2.1:1 %s %d", country, asn),
		)), 200*ms)
		e.ask(0)
		e.observe(0, discovery.Answered, 350*ms)
		remaining := e.remaining()
		return e.share(1), remaining.unlabelled / remaining.near
	}
	known, labelled := left("DE", 7)
	unknown, unlabelled := left("-", 0)
	if unknown < 15*known {
		t.Errorf("in an AS p is %v, in a /16 of which nothing is known %v", known, unknown)
	}
	if labelled != 0 || unlabelled < 1-1e-9 {
		t.Errorf("%v of what is left is not labelled in an AS, %v where nothing is known", labelled, unlabelled)
	}
	if _, unlabelled := left("DE", 0); unlabelled != 0 {
		t.Errorf("%v of what is left is not labelled in a country", unlabelled)
	}
}

// One AS of a country has two machines in each of two /24s. Twelve other ASes have one machine
// each.
func TestAFarReplyMayBeALateOneAmongNearOnes(t *testing.T) {
	lines := []string{"80.1.1.1:1 DE 1", "80.1.1.2:1 DE 1", "80.1.2.1:1 DE 1", "80.1.2.2:1 DE 1"}
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("81.%d.1.1:1 DE %d", i, 10+i))
	}
	servers := testlist.Of(t, lines...)
	tests := []struct {
		name        string
		others      time.Duration
		replies     []time.Duration
		least, most float64 // expected of the AS's last server
	}{
		{"near ones, a far one", 60 * ms, []time.Duration{290 * ms}, 0.1, 0.5},
		{"near ones, two far ones", 60 * ms, []time.Duration{290 * ms, 290 * ms}, 0, 0.05},
		{"near ones, one of both", 60 * ms, []time.Duration{290 * ms, 60 * ms}, 0.9, 1},
		{"far ones, a far one", 290 * ms, []time.Duration{290 * ms}, 0, 0.001},
	}
	for _, tt := range tests {
		e := newEstimator(topology.New(servers), 200*ms)
		for i := range 12 {
			e.observe(4+i, discovery.Answered, tt.others)
		}
		for i, rtt := range tt.replies {
			e.observe(2*i, discovery.Answered, rtt)
		}
		e.estimate()
		if p := e.share(3); p < tt.least || p > tt.most {
			t.Errorf("%s: of the next %v is expected, want %v to %v", tt.name, p, tt.least, tt.most)
		}
		if p := e.share(1); len(tt.replies) == 1 && tt.least > 0 && p < tt.least {
			t.Errorf("%s: beside it %v is expected, want as much as elsewhere in the AS", tt.name, p)
		}
	}
}

// TestAWideCountryIsLikeAllItsRegions checks that many far replies from Russia leave more hope for its other
// networks if East Asia is near than if nobody is, and than far replies from Germany do.
func TestAWideCountryIsLikeAllItsRegions(t *testing.T) {
	hope := func(country string, asia time.Duration) float64 {
		lines := []string{"90.0.0.1:1 KR 1", "90.1.0.1:1 JP 2"}
		for i := range 10 {
			lines = append(lines, fmt.Sprintf("80.%d.1.1:1 %s %d", i, country, 10+i))
		}
		e := newEstimator(topology.New(testlist.Of(t, lines...)), 100*ms)
		for i := range len(lines) - 1 {
			rtt := 250 * ms
			if i < 2 {
				rtt = asia
			}
			e.observe(i, discovery.Answered, rtt)
		}
		e.estimate()
		return e.share(len(lines) - 1)
	}
	near, far, narrow := hope("RU", 30*ms), hope("RU", 250*ms), hope("DE", 30*ms)
	if near < 0.02 || near < 5*far || near < 5*narrow {
		t.Errorf("of Russia %v is expected beside near ones in Asia, %v without; of Germany %v", near, far, narrow)
	}
}

// share returns what is expected of a server.
func (e *estimator) share(server int) float64 { return e.stretchOf(e.tree.Of(server)).p }

const ms = time.Millisecond

func TestSpread(t *testing.T) {
	of := func(rtts ...float64) (s spread) {
		for _, ms := range rtts {
			s.add(ms)
		}
		return s
	}
	// Student's t with four degrees of freedom is under -2.776 in one of forty cases.
	exact := of(100, 100)
	deviation := math.Sqrt((usualNetworks * 10 * 10) / (1. + usualNetworks) * 1.5)
	if p := exact.chanceUnder(100 - 2.776*deviation); math.Abs(p-0.025) > 1e-4 {
		t.Errorf("%v, want 0.025", p)
	}
	if p := exact.chanceUnder(100); p != 0.5 {
		t.Errorf("%v of the networks are under the mean", p)
	}
	narrow, wide := of(300, 310, 290, 305, 295, 300), of(300, 380, 220, 350, 250, 300)
	if n, w := narrow.chanceUnder(200), wide.chanceUnder(200); n > 0.01 || w < 5*n {
		t.Errorf("%v of a narrow country is near, %v of a wide one", n, w)
	}
	again := of(300, 380, 220, 350, 250, 300, 300, 380, 220, 350, 250, 300)
	if w, a := wide.chanceUnder(200), again.chanceUnder(200); a >= w {
		t.Errorf("%v of a wide country is near, and %v after twice the replies", w, a)
	}
}

// TestASurveyGoesOnWhereACountryMayHideNearServers checks that countries of the same
// size and distance are surveyed by how much their networks differ.
func TestASurveyGoesOnWhereACountryMayHideNearServers(t *testing.T) {
	const ases, size = 30, 20
	var networks []testlist.Network
	for range ases {
		networks = append(networks, testlist.Network{Country: "RU", Servers: size}, testlist.Network{Country: "DE", Servers: size})
	}
	servers, _ := testlist.Build(t, networks, 1)
	a := newAcquisition(newEstimator(topology.New(servers), 200*ms), 1)
	asked := make(map[string]int)
	for {
		probes := a.survey(0, nil)
		if len(probes) == 0 {
			break
		}
		for _, p := range probes {
			country := servers[p.Server].Country
			rtt := 310 * ms
			if country == "RU" && asked[country]%2 == 0 {
				rtt = 230 * ms
			}
			asked[country]++
			a.estimator.observe(p.Server, discovery.Answered, rtt)
		}
	}
	if asked["RU"] < ases/2 || asked["DE"] > nearNetworks+doubtNetworks {
		t.Errorf("the survey asked %v", asked)
	}
}
