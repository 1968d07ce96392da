package plan

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/testlist"
	"muster/discovery/plan/topology"
)

func TestAdaptiveFindsTheNearAndStops(t *testing.T) {
	for seed := range uint64(10) {
		servers, rtts := globe(t, seed)
		samples, ordered, summary := trace(t, discovery.Adaptive, servers, discovery.PlanOptions{Seed: seed}, rtts)
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

// Replies under way may reveal an unknown network.
func TestAdaptiveStopsOnlyOnceAllIsBack(t *testing.T) {
	const line = 40 // probes on their way at once
	for seed := range uint64(10) {
		servers, rtts := globe(t, seed)
		plan, err := New(discovery.Adaptive, topology.New(servers), discovery.PlanOptions{Seed: seed, AutoStop: discovery.StopConfident})
		if err != nil {
			t.Fatal(err)
		}
		var underway []discovery.Probe
		for {
			probe, verdict := plan.Next()
			if verdict == discovery.Stop {
				break
			}
			if verdict == discovery.Go {
				underway = append(underway, probe)
			}
			if verdict == discovery.Wait || len(underway) > line {
				back := underway[0]
				underway = underway[1:]
				plan.Observe(discovery.Result{
					Server: back.Server,
					Phase:  back.Phase,
					State:  discovery.Answered,
					RTT:    time.Duration(rtts[back.Server]) * ms,
				})
			}
		}
		if len(underway) > 0 || !plan.Summary().AutoStopped {
			t.Errorf("seed %d: stopped with %d probes under way, %+v", seed, len(underway), plan.Summary())
		}
	}
}

func TestAdaptiveBeginsWithEachCountryAndThenGoesNear(t *testing.T) {
	servers, rtts := globe(t, 1)
	samples, ordered, _ := trace(t, discovery.Adaptive, servers, discovery.PlanOptions{}, rtts)
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

func TestAdaptiveWorksWithoutAnnotation(t *testing.T) {
	servers, rtts := globe(t, 3)
	for i := range servers {
		servers[i].Country, servers[i].ASN = "", 0
	}
	samples, ordered, summary := trace(t, discovery.Adaptive, servers, discovery.PlanOptions{}, rtts)
	found := nearOf(pickInts(rtts, append(samples, ordered...)), 200)
	if near := nearOf(rtts, 200); found < near*9/10 || summary.Clusters != 20 {
		t.Errorf("%d of %d near servers found, %+v; want most, by 20 prefixes", found, near, summary)
	}
}

func TestNearestFindsThemWithFewProbes(t *testing.T) {
	for seed := range uint64(10) {
		servers, rtts := globe(t, seed)
		samples, ordered, summary := trace(t, discovery.Adaptive, servers, discovery.PlanOptions{Seed: seed, Nearest: 10}, rtts)
		found := pickInts(rtts, append(samples, ordered...))
		slices.Sort(found)
		truth := slices.Sorted(slices.Values(rtts))
		if found[9] > truth[9]+5 || len(found) > len(servers)/3 || !summary.AutoStopped {
			t.Errorf("seed %d: after %d probes the 10th is at %d ms, not %d", seed, len(found), found[9], truth[9])
		}
	}
}

// All large networks of the player's own country are reached by way of others.
func TestNearestLooksFurtherWhereNobodyIsNear(t *testing.T) {
	networks := []testlist.Network{{Country: "ZA", Servers: 6, RTT: 15}, {Country: "ZA", Servers: 6, RTT: 15}}
	for range 6 /* as many as are surveyed in a near country */ {
		networks = append(networks, testlist.Network{Country: "ZA", Servers: 20, RTT: 320})
	}
	for i := range 60 {
		networks = append(networks, testlist.Network{Country: []string{"DE", "GB", "FR", "SE"}[i%4], Servers: 40, RTT: 150 + i/2})
	}
	for seed := range uint64(10) {
		servers, rtts := testlist.Build(t, networks, seed)
		samples, ordered, _ := trace(t, discovery.Adaptive, servers, discovery.PlanOptions{Seed: seed, Nearest: 10}, rtts)
		found := pickInts(rtts, append(samples, ordered...))
		slices.Sort(found)
		if found[9] > 20 || len(found) > len(servers)/3 {
			t.Errorf("seed %d: after %d of %d probes the 10th is at %d ms", seed, len(found), len(servers), found[9])
		}
	}
}

func TestNearestOfAShortListAsksAll(t *testing.T) {
	servers, rtts := testlist.Build(t, []testlist.Network{{Country: "DE", Servers: 4, RTT: 20}, {Country: "US", Servers: 4, RTT: 120}}, 1)
	samples, ordered, summary := trace(t, discovery.Adaptive, servers, discovery.PlanOptions{Nearest: 50}, rtts)
	if len(samples)+len(ordered) != 8 || summary.AutoStopped {
		t.Errorf("%d probes, %+v: want all 8", len(samples)+len(ordered), summary)
	}
}

func TestConfidentEndsAPapersPlan(t *testing.T) {
	servers, rtts := globe(t, 5)
	samples, ordered, summary := trace(t, discovery.ByAS, servers, discovery.PlanOptions{AutoStop: discovery.StopConfident}, rtts)
	asked := append(samples, ordered...)
	found, near := nearOf(pickInts(rtts, asked), 200), nearOf(rtts, 200)
	if found < near*97/100 || len(asked) > len(servers)*4/5 || summary.Claim.Low < 0.9 {
		t.Errorf("%d of %d near servers after %d of %d probes, %+v", found, near, len(asked), len(servers), summary)
	}
}
