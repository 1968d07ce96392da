package rivals

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/bench/worlds"
	"muster/internal/sim"
	"muster/selection"
)

// The comparison is for measuring. The gate runs a small part of it. One command measures a row:
//
//	go -C bench test ./rivals -run 'TestComparison/css2007/musst' -v -timeout 0 -worlds 30 -from 14000
//	go -C bench test ./rivals -run 'TestComparison/matrix/world-4' -v -timeout 0 -worlds 30 -from 14000 -matrix rtt.txt.gz -budget 300
var (
	measured = flag.Int("worlds", 0, "how many worlds of each kind")
	from     = flag.Uint64("from", 14000, "first seed")
	matrix   = flag.String("matrix", "", "round trips between hosts, gzipped, for worlds named matrix")
	budget   = flag.Int("budget", 650, "probes a player, but for methods that stop by themselves")
)

func TestComparison(t *testing.T) {
	t.Parallel()
	kinds, groups := []string{"et2007", "css2007", "distance"}, []string{"world-1", "musst", "world-4", "world-8", "world-16"}
	if *matrix != "" {
		kinds = []string{"matrix"}
	}
	for _, kind := range kinds {
		for _, group := range groups {
			t.Run(kind+"/"+group, func(t *testing.T) {
				if *measured == 0 && (kind != "et2007" || group != "musst") {
					t.Skip("a taste is enough: -worlds says how many to measure")
				}
				compare(t, kind, group)
			})
		}
	}
}

// compare logs a line for each method. It checks that Muster's own is better than all methods that
// need no cooperation of servers.
func compare(t *testing.T, kind, group string) {
	n := max(1, *measured)
	methods := Methods()
	regret, probes, cooperation := make([][]float64, len(methods)+1), make([][]float64, len(methods)+1), make([][]float64, len(methods)+1)
	for seed := *from; seed < *from+uint64(n); seed++ {
		s := scene(t, kind, group, seed)
		own, err := s.Group.Run(sim.Coordinated, sim.GroupOptions{Criteria: selection.Criteria{By: selection.Mean}}, seed)
		if err != nil {
			t.Fatal(err)
		}
		regret[len(methods)] = append(regret[len(methods)], s.Regret(own.Server))
		probes[len(methods)] = append(probes[len(methods)], own.Search.Probes)
		cooperation[len(methods)] = append(cooperation[len(methods)], 0)
		for i, m := range methods {
			f := m.Run(s, *budget, seed)
			regret[i] = append(regret[i], s.Regret(f.Server))
			probes[i] = append(probes[i], f.Probes)
			cooperation[i] = append(cooperation[i], float64(f.Cooperation))
		}
	}
	names := []string{}
	for _, m := range methods {
		names = append(names, m.Name)
	}
	for i, name := range append(names, "muster") {
		t.Logf("%-22s regret %6.1f / %6.1f (%6.1f) ms, %4.0f probes a player, %8.0f by servers", name,
			quantile(regret[i], 0.5), quantile(regret[i], 0.95), quantile(regret[i], 1), quantile(probes[i], 0.5), quantile(cooperation[i], 0.5))
	}
	if *measured > 0 {
		return // measured, not judged
	}
	own := quantile(regret[len(methods)], 0.95)
	for i, m := range methods {
		if quantile(cooperation[i], 1) == 0 && quantile(regret[i], 0.95) < own {
			t.Errorf("%s is better: %.1f ms, ours %.1f", m.Name, quantile(regret[i], 0.95), own)
		}
	}
}

func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// scene returns the group with a name on the world with a name. Some places have servers.
func scene(t *testing.T, kind, group string, seed uint64) *Scene {
	t.Helper()
	players, err := sim.GroupPlaces(group, seed)
	if err != nil {
		t.Fatal(err)
	}
	var w *sim.World
	everywhere := append(slices.Clone(players), sim.Cities()...)
	switch kind {
	case "matrix":
		m := roundTrips(t)
		hosts := m.Draw(len(players), sim.Anywhere, seed)
		for host := range m {
			hosts = append(hosts, host)
		}
		w = m.World(sim.ListLike2007(seed), hosts, seed)
	case "distance":
		w = sim.DistanceWorld(sim.ListLike2007(seed), everywhere, seed)
	default:
		spec, err := sim.NamedSpec(kind, seed)
		if err != nil {
			t.Fatal(err)
		}
		spec.Places = everywhere
		w = sim.Generate(spec)
	}
	s, err := NewScene(w.Vantages(), len(players))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func roundTrips(t *testing.T) sim.Matrix {
	t.Helper()
	m, err := worlds.Matrix(*matrix)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEstimators checks that the estimators come near the truth on a line of nodes, if each node
// knows a few round trips.
func TestEstimators(t *testing.T) {
	const nodes = 60
	rng := rand.New(rand.NewPCG(1, 2))
	truth := func(a, b int) float64 { return 10 + 3*math.Abs(float64(a-b)) }
	var measured []edge
	known := map[[2]int]bool{}
	for a := range nodes {
		for range 16 {
			if b := rng.IntN(nodes); a != b {
				measured = append(measured, edge{a, b, truth(a, b)})
				known[[2]int{min(a, b), max(a, b)}] = true
			}
		}
	}
	for name, estimate := range map[string]estimator{"vivaldi": vivaldi, "dmfsgd": dmfsgd} {
		of := estimate(nodes, slices.Clone(measured), rng)
		var off, blind []float64 // blind is the error if every estimate were the mean
		for a := range nodes {
			for b := range a {
				if !known[[2]int{b, a}] {
					off = append(off, math.Abs(of(a, b)-truth(a, b)))
					blind = append(blind, math.Abs(10+3*nodes/3-truth(a, b)))
				}
			}
		}
		if got, want := quantile(off, 0.5), quantile(blind, 0.5)*2/3; got > want {
			t.Errorf("%s is off by %.1f ms in the median, want %.1f", name, got, want)
		}
	}
}

// TestMethodsFindSomething checks that each method beats half of all servers.
func TestMethodsFindSomething(t *testing.T) {
	t.Parallel()
	s := scene(t, "et2007", "musst", 3)
	list := len(s.Vantages[0].Servers)
	var anyServer []float64
	for server := range list {
		if s.answers(server) {
			anyServer = append(anyServer, s.Regret(server))
		}
	}
	const runs = 3
	for _, m := range Methods() {
		mean := 0.0
		for seed := range uint64(runs) {
			mean += s.Regret(m.Run(s, 300, seed).Server) / runs
		}
		if mean > quantile(anyServer, 0.5) {
			t.Errorf("%s is %.1f ms from the best, half of all servers %.1f", m.Name, mean, quantile(anyServer, 0.5))
		}
	}
}

// TestServersMeasure checks that the servers' measurements are a way over the sites near them.
func TestServersMeasure(t *testing.T) {
	s := scene(t, "et2007", "world-1", 5)
	far := 0
	for server := range s.siteOf {
		if !s.answers(server) {
			continue
		}
		if ms := s.between(server, server); ms < 0 || ms > 100 {
			far++
		}
	}
	if far > 0 {
		t.Errorf("%d servers are far from where they stand", far)
	}
	if _, err := NewScene([]*sim.Vantage{{Name: "a", RTT: []time.Duration{}}}, 1); err != nil && !strings.Contains(err.Error(), "list") {
		t.Error(err)
	}
}
