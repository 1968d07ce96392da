package coordinate_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"muster/discovery/plan/topology"
	"muster/internal/sim"
	"muster/selection/coordinate"
)

// TestFit fits the package's fitted numbers again, and logs how far those in use are off:
//
//	go test ./selection/coordinate -run Fit -v -fit 3 [-fit-matrix planetlab.txt]
var (
	fitWorlds = flag.Int("fit", 0, "fit on so many worlds of each kind")
	fitMatrix = flag.String("fit-matrix", "", "and on worlds made of the measured round trips in this file")
)

// fitSeed is the first world's seed. No benchmark and no tuning uses seeds from here.
const fitSeed = 21000

func TestFit(t *testing.T) {
	if *fitWorlds == 0 {
		t.Skip("no -fit")
	}
	var all fit
	for _, kind := range []string{"et2007", "css2007", "distance", "matrix"} {
		var own fit
		for _, group := range []string{"musst", "europe-8", "world-16"} {
			for seed := range uint64(*fitWorlds) {
				if g := fitGroup(t, kind, group, fitSeed+seed); g != nil {
					own.learn(g)
				}
			}
		}
		own.print(kind)
		all.add(own)
	}
	all.print("all")
}

func fitGroup(t *testing.T, kind, group string, seed uint64) *sim.Group {
	if kind != "matrix" {
		g, err := sim.GroupWorld(kind, group, seed)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	if *fitMatrix == "" {
		return nil
	}
	file, err := os.Open(*fitMatrix)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := sim.ReadMatrix(file)
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.OnMatrix(sim.ListLike2007(seed), group, seed)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// fit gathers what the worlds say of each number.
type fit struct {
	spread, astray [topology.Levels][]float64 // one for each group
	errors         [topology.Levels][]float64 // of predictions, in ms
	rtts           []float64                  // ms
}

func (f *fit) add(o fit) {
	for l := range topology.Levels {
		f.spread[l] = append(f.spread[l], o.spread[l]...)
		f.astray[l] = append(f.astray[l], o.astray[l]...)
		f.errors[l] = append(f.errors[l], o.errors[l]...)
	}
	f.rtts = append(f.rtts, o.rtts...)
}

// fitProbes is how many servers a player has measured when predictions are tested: as many as in a
// search.
const fitProbes = 650

func (f *fit) learn(g *sim.Group) {
	tree := g.Vantages[0].Topology()
	scores := map[topology.Node]float64{}
	for server := range tree.List() {
		score, silent := 0.0, false
		for _, v := range g.Vantages {
			silent = silent || v.RTT[server] < 0
			score += v.RTT[server].Seconds() * 1000 / float64(len(g.Vantages))
		}
		if !silent {
			scores[tree.Of(server)] = score
		}
	}
	spread, astray := coordinate.FitVariances(tree, scores)
	for l := range topology.Levels {
		f.spread[l], f.astray[l] = append(f.spread[l], spread[l]), append(f.astray[l], astray[l])
	}
	for player, v := range g.Vantages {
		rng := rand.New(rand.NewPCG(fitSeed, uint64(player)))
		errors := coordinate.PredictionErrors(tree, func(yield func(at topology.Node, ms float64) bool) {
			for range fitProbes {
				// half of a search's questions are near what it has asked
				server := rng.IntN(len(tree.List()))
				for range 2 {
					if rtt, lost := v.Pair(server, 1); !lost && !yield(tree.Of(server), rtt.Seconds()*1000) {
						return
					}
					near := tree.Servers(tree.Above(tree.Of(server), topology.AS+topology.Level(rng.IntN(3))))
					server = int(near[rng.IntN(len(near))])
				}
			}
		})
		for l := range errors {
			f.errors[l] = append(f.errors[l], errors[l]...)
		}
		for _, rtt := range v.RTT {
			if rtt >= 0 {
				f.rtts = append(f.rtts, rtt.Seconds()*1000)
			}
		}
	}
}

var fitLevels = [topology.Levels]string{"list", "country", "AS", "/16", "/24"}

func (f *fit) print(kind string) {
	if len(f.rtts) == 0 {
		return
	}
	fmt.Printf("%s\n%10s %20s %20s %20s\n", kind, "", "spread: today, fit", "error: today, fit", "children astray")
	for l := topology.List; l < topology.Address; l++ {
		fmt.Printf("%10s %12.2f %7.2f %12.0f %7.1f", fitLevels[l], coordinate.PriorSpread[l], rms(f.spread[l]),
			coordinate.PriorError[l], rms(f.errors[l]))
		if l >= topology.AS {
			fmt.Printf(" %12.3f %7.3f", coordinate.AstrayPrior, average(f.astray[l+1]))
		}
		fmt.Println()
	}
	mean := average(f.rtts)
	deviation := math.Sqrt(max(0, rms(f.rtts)*rms(f.rtts)-mean*mean))
	fmt.Printf("RTT of who measured nothing: today %.0f ± %.0f ms, fit %.0f ± %.0f\n\n", coordinate.NothingRTT,
		coordinate.NothingError, mean, deviation)
}

func average(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

func rms(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(values)))
}
