package simulated

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/sim"
)

// study returns what plans find and cost at one place of an untuned world like ET's list of 2007.
func study(t *testing.T, s sim.Study, seed uint64, servers, place int) []sim.Simulation {
	t.Helper()
	spec, err := sim.NamedSpec("et2007", seed)
	if err != nil {
		t.Fatal(err)
	}
	if servers > 0 {
		spec.Servers = servers
	}
	s.Worlds = 1
	scene := func(uint64) ([]*sim.Vantage, error) { return []*sim.Vantage{sim.Generate(spec).Vantage(place)}, nil }
	rows, _, err := s.Run(t.Context(), scene, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestAdaptiveNeedsFewerProbes checks the purpose of the strategies: they find more for fewer probes.
func TestAdaptiveNeedsFewerProbes(t *testing.T) {
	for place, name := range []string{"AU", "JP", "TW"} {
		s := sim.Study{Strategies: []discovery.Strategy{discovery.Conventional, discovery.ByAS, discovery.Adaptive}, Rate: 140, Runs: 3}
		rows := study(t, s, 8001, 0, place)
		all, papers, ours := rows[0], rows[1], rows[2]
		s.Strategies, s.Plan.Nearest = s.Strategies[2:], 50
		nearest := study(t, s, 8001, 0, place)[0]
		if all.Percent != 100 || papers.Percent > 80 || ours.Percent > papers.Percent+5 || ours.Recall < 0.97 {
			t.Errorf("%s: as %.1f %% and %.3f, adaptive %.1f %% and %.3f", name, papers.Percent, papers.Recall, ours.Percent, ours.Recall)
		}
		if ours.First100 == 0 || ours.First100 > 220 || ours.First100 > papers.First100 {
			t.Errorf("%s: the 100th near server after %d probes, by AS after %d", name, ours.First100, papers.First100)
		}
		if nearest.Probes > 1000 || nearest.ExcessMS > 5 {
			t.Errorf("%s: 50 nearest after %d probes, %.1f ms too far", name, nearest.Probes, nearest.ExcessMS)
		}
	}
}

// TestAShiftIsNoticed checks a player's line that becomes busy: the plan allows for it, tells it
// and claims nothing. Without a shift its claim is true.
func TestAShiftIsNoticed(t *testing.T) {
	for _, tt := range []struct {
		shift                sim.Shift
		shifts, claims, held int
	}{
		{sim.Shift{}, 0, 1, 1},
		{sim.Shift{By: 50 * time.Millisecond, From: 0.1}, 1, 0, 0},
		{sim.Shift{By: 60 * time.Millisecond, From: 0.05, Full: 0.15, Until: 0.25}, 1, 0, 0},
	} {
		got := study(t, sim.Study{Strategies: []discovery.Strategy{discovery.Adaptive}, Shift: tt.shift, Runs: 1}, 3, 6000, 1)[0]
		if got.Shifts != tt.shifts || got.Claims != tt.claims || got.ClaimsHeld != tt.held || got.Recall < 0.97 {
			t.Errorf("%+v: %d of %d shifts noticed, %d of %d claims true, %.3f found", tt.shift, got.Shifts, got.Runs,
				got.ClaimsHeld, got.Claims, got.Recall)
		}
	}
}

// TestAWarmSecondVisit checks that the knowledge of the first visit saves probes, and costs hardly
// any recall.
func TestAWarmSecondVisit(t *testing.T) {
	s := sim.Study{Strategies: []discovery.Strategy{discovery.ByAS, discovery.Adaptive}, Warm: true, Runs: 5}
	of := map[discovery.Strategy]map[sim.Start]sim.Simulation{discovery.ByAS: {}, discovery.Adaptive: {}}
	for _, row := range study(t, s, 1, 0, 0) {
		of[row.Strategy][row.Start] = row
	}
	for strategy, rows := range of {
		cold, warm := rows[sim.Cold], rows[sim.Warm]
		if cold.Start != sim.Cold || warm.Start != sim.Warm || warm.Listed != cold.Listed || warm.Playable != cold.Playable {
			t.Errorf("%s: a cold %+v and a warm %+v", strategy, cold, warm)
		}
		if warm.Recall < cold.Recall-0.005 || warm.Probes > cold.Probes {
			t.Errorf("%s: %.3f found with %d probes, without a memory %.3f with %d", strategy, warm.Recall, warm.Probes, cold.Recall, cold.Probes)
		}
	}
	s.Strategies, s.Plan.Nearest = s.Strategies[1:], 20
	rows := study(t, s, 1, 0, 0)
	if cold, warm := rows[0], rows[1]; warm.Start != sim.Warm || warm.Within < cold.Within-0.02 || warm.Probes > cold.Probes*85/100 {
		t.Errorf("nearest: %.3f with %d probes, without a memory %.3f with %d", warm.Within, warm.Probes, cold.Within, cold.Probes)
	}
}
