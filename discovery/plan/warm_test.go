package plan

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/testlist"
	"muster/discovery/plan/history"
)

// visit is the time of the tests' visits.
var visit = time.Date(2008, 5, 28, 20, 0, 0, 0, time.UTC)

// maxVerified is how many probes a warm adaptive plan spends at most on verifying
// memories.
const maxVerified = 48

// priorsOf returns the memories of a visit that measured all servers.
func priorsOf(servers []discovery.Server, rtts []int) []discovery.Prior {
	return history.Memory{}.After(servers, replies(rtts...), visit).Priors(visit.Add(24 * time.Hour))
}

// missed returns how many near servers a plan does not find, and its probes.
func missed(t *testing.T, strategy discovery.Strategy, servers []discovery.Server, o discovery.PlanOptions,
	rtts []int) (near, probes int, s discovery.PlanSummary) {
	t.Helper()
	samples, ordered, s := trace(t, strategy, servers, o, rtts)
	asked := append(samples, ordered...)
	return nearOf(rtts, 200) - nearOf(pickInts(rtts, asked), 200), len(asked), s
}

// moved gives some ASes other RTTs.
func moved(servers []discovery.Server, rtts []int, to map[uint32]int) []int {
	rtts = slices.Clone(rtts)
	for i, s := range servers {
		if rtt, ok := to[s.ASN]; ok {
			rtts[i] = rtt
		}
	}
	return rtts
}

// TestAWarmStartMissesNoMore checks that memories never make a plan miss more near
// servers, whatever changed since the last visit. In globe the ASes 100 to 139 are far
// in four countries, 140 to 143 near, 144 just within the limit and 145 just outside.
func TestAWarmStartMissesNoMore(t *testing.T) {
	tests := []struct {
		name  string
		moved map[uint32]int
	}{
		{"nothing changed", nil},
		{"a near network moved away", map[uint32]int{140: 350}},
		{"a far network came near", map[uint32]int{107: 60}},
		{"a far country came near", map[uint32]int{101: 90, 105: 95, 109: 91, 113: 92, 117: 93, 121: 94, 125: 95, 129: 96, 133: 97, 137: 98}},
		{"both", map[uint32]int{140: 350, 141: 330, 107: 60, 120: 80}},
		{"just over and just under", map[uint32]int{144: 215, 145: 185}},
	}
	for _, tt := range tests {
		coldMissed, warmMissed := 0, 0
		for seed := range uint64(10) {
			servers, before := globe(t, seed)
			now := moved(servers, before, tt.moved)
			cold, _, _ := missed(t, discovery.Adaptive, servers, discovery.PlanOptions{Seed: seed}, now)
			warm, _, summary := missed(t, discovery.Adaptive, servers, discovery.PlanOptions{Seed: seed, Priors: priorsOf(servers, before)}, now)
			coldMissed, warmMissed = coldMissed+cold, warmMissed+warm
			if !summary.AutoStopped {
				t.Errorf("%s, seed %d: the warm start asked all", tt.name, seed)
			}
		}
		if warmMissed > coldMissed {
			t.Errorf("%s: ten warm starts missed %d near servers, cold ones %d", tt.name, warmMissed, coldMissed)
		}
	}
}

// TestATravellerStartsCold checks a memory from the other side of the earth.
func TestATravellerStartsCold(t *testing.T) {
	coldMissed, warmMissed, coldProbes, warmProbes := 0, 0, 0, 0
	for seed := range uint64(10) {
		servers, here := globe(t, seed)
		there := make([]int, len(here))
		for i, rtt := range here {
			there[i] = max(20, 340-rtt)
		}
		a, b, _ := missed(t, discovery.Adaptive, servers, discovery.PlanOptions{Seed: seed}, here)
		c, d, _ := missed(t, discovery.Adaptive, servers, discovery.PlanOptions{Seed: seed, Priors: priorsOf(servers, there)}, here)
		coldMissed, coldProbes, warmMissed, warmProbes = coldMissed+a, coldProbes+b, warmMissed+c, warmProbes+d
	}
	if warmMissed > coldMissed || warmProbes > coldProbes+10*maxVerified {
		t.Errorf("with a memory of elsewhere %d near servers were missed with %d probes, without %d with %d",
			warmMissed, warmProbes, coldMissed, coldProbes)
	}
}

func TestAWarmStartGoesNearAtOnce(t *testing.T) {
	servers, rtts := globe(t, 1)
	samples, ordered, _ := trace(t, discovery.Adaptive, servers, discovery.PlanOptions{Priors: priorsOf(servers, rtts)}, rtts)
	first := pickInts(rtts, samples[:5])
	if nearOf(first, 200) != 5 || first[0] > 30 {
		t.Errorf("the first probes went %v ms far, want one of each of the five near networks", first)
	}
	if near := nearOf(pickInts(rtts, ordered[:80]), 200); near < 75 {
		t.Errorf("%d of the first 80 ordered probes were near", near)
	}
}

// maxWarm is the most probes that a warm search for ten of globe's nearest takes.
const maxWarm = 95

func TestAWarmStartFindsTheNearestSooner(t *testing.T) {
	warm, cold := 0, 0
	for seed := range uint64(10) {
		servers, rtts := globe(t, seed)
		o := discovery.PlanOptions{Seed: seed, Nearest: 10}
		_, probes, _ := missed(t, discovery.Adaptive, servers, o, rtts)
		cold += probes
		o.Priors = priorsOf(servers, rtts)
		samples, ordered, _ := trace(t, discovery.Adaptive, servers, o, rtts)
		found := slices.Sorted(slices.Values(pickInts(rtts, append(samples, ordered...))))
		warm += len(found)
		if truth := slices.Sorted(slices.Values(rtts)); found[9] > truth[9]+5 {
			t.Errorf("seed %d: the 10th is at %d ms, not %d", seed, found[9], truth[9])
		}
	}
	// A cold start here takes some 110 probes a run.
	if warm >= cold*9/10 || warm > 10*maxWarm {
		t.Errorf("%d probes, without a memory %d", warm, cold)
	}
}

// TestSameMemorySamePlan checks that the iteration order of maps changes nothing.
func TestSameMemorySamePlan(t *testing.T) {
	servers, rtts := globe(t, 4)
	for _, strategy := range discovery.Strategies() {
		var first []int
		for range 5 {
			samples, ordered, _ := trace(t, strategy, servers, discovery.PlanOptions{Priors: priorsOf(servers, rtts)}, rtts)
			order := append(samples, ordered...)
			if first == nil {
				first = order
			}
			if !slices.Equal(first, order) {
				t.Fatalf("%s: two plans of one memory differ", strategy)
			}
		}
	}
}

// TestAWarmStartOfThePapersPlans checks that a remembered cluster takes one probe
// instead of √N, and all √N if that probe contradicts.
func TestAWarmStartOfThePapersPlans(t *testing.T) {
	var lines []string
	var rtts []int
	for as := range 3 {
		for i := range 16 {
			lines = append(lines, fmt.Sprintf("%d.%d.0.1:1 DE %d", 80+as, i, as+1))
			rtts = append(rtts, 100+40*as)
		}
	}
	servers := testlist.Of(t, lines...)
	samplesOf := func(now []int) map[uint32]int {
		count := make(map[uint32]int)
		samples, ordered, _ := trace(t, discovery.ByAS, servers,
			discovery.PlanOptions{AutoStop: discovery.StopOff, Priors: priorsOf(servers, rtts)}, now)
		for _, i := range samples {
			count[servers[i].ASN]++
		}
		if len(samples)+len(ordered) != len(servers) {
			t.Errorf("%d of %d servers asked", len(samples)+len(ordered), len(servers))
		}
		return count
	}
	if got, want := samplesOf(rtts), (map[uint32]int{1: 1, 2: 1, 3: 1}); !maps.Equal(got, want) {
		t.Errorf("samples of each AS: %v, want %v", got, want)
	}
	// The probe that confirms nothing is one of the four, or a fifth.
	now := moved(servers, rtts, map[uint32]int{2: 300})
	if got := samplesOf(now); got[1] != 1 || got[3] != 1 || got[2] < 4 || got[2] > 5 {
		t.Errorf("samples of each AS: %v, want four or five of the one that moved", got)
	}
	now = moved(servers, rtts, map[uint32]int{2: -1})
	if got := samplesOf(now); got[2] < 4 {
		t.Errorf("samples of each AS: %v, want at least four of the one that is silent", got)
	}
}

func TestAWarmStartRanksByWhatIsRemembered(t *testing.T) {
	// firstOf returns the AS that a plan ranks first in a visit with the RTTs now, after visits
	// with the RTTs before.
	firstOf := func(strategy discovery.Strategy, lines []string, before, now []int) uint32 {
		servers := testlist.Of(t, lines...)
		_, ordered, _ := trace(t, strategy, servers, discovery.PlanOptions{AutoStop: discovery.StopOff, Priors: priorsOf(servers, before)}, now)
		return servers[ordered[0]].ASN
	}
	// One sample of 62 ms is less than three networks at 50.
	lines := slices.Concat(many(1, "80.1.1", "DE 1"), many(1, "80.1.2", "DE 1"), many(1, "80.1.3", "DE 1"), many(3, "90.1.1", "FR 2"))
	if first := firstOf(discovery.ByAS, lines, []int{50, 50, 50, 60, 60, 60}, []int{62, 62, 62, 60, 60, 60}); first != 1 {
		t.Errorf("AS %d is first, want 1", first)
	}
	// A far country, except for two servers that are remembered as near.
	lines = slices.Concat(many(2, "80.1.1", "US 1"), many(30, "80.1.2", "US 2"), many(9, "90.1.1", "FR 3"))
	rtts := slices.Concat(slices.Repeat([]int{20}, 2), slices.Repeat([]int{300}, 30), slices.Repeat([]int{150}, 9))
	if first := firstOf(discovery.ByCountryPrefix, lines, rtts, rtts); first != 1 {
		t.Errorf("AS %d is first, want 1", first)
	}
}

// replies returns results of all servers with these RTTs in ms, negative if lost.
func replies(rtts ...int) []discovery.Result {
	var results []discovery.Result
	for i, rtt := range rtts {
		r := discovery.Result{Server: i, Order: i + 1, State: discovery.Lost}
		if rtt >= 0 {
			r.State, r.RTT = discovery.Answered, time.Duration(rtt)*ms
		}
		results = append(results, r)
	}
	return results
}
