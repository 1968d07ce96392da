package sweep

import (
	"fmt"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/sim"
)

func BenchmarkReplay(b *testing.B) {
	spec, _ := sim.NamedSpec("css2007", 1)
	v := sim.Generate(spec).Vantage(0)
	for _, strategy := range discovery.Strategies() {
		b.Run(string(strategy), func(b *testing.B) {
			probes := 0
			for b.Loop() {
				s, err := simulate(b, v, strategy, discovery.PlanOptions{})
				if err != nil {
					b.Fatal(err)
				}
				probes += s.Probes
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(probes), "µs/probe")
		})
	}
}

// BenchmarkStrategies measures the strategies, each iteration on another world, so that -benchtime
// 30x is the mean of 30 worlds. Nothing was tuned on the first of their seeds.
func BenchmarkStrategies(b *testing.B) {
	const firstSeed = 11000
	goals := []discovery.PlanOptions{{MaxRTT: 200 * time.Millisecond}, {MaxRTT: 100 * time.Millisecond}, {Nearest: 50}}
	for _, world := range []string{"et2007", "css2007"} {
		papers, err := sim.NamedSpec(world, firstSeed)
		if err != nil {
			b.Fatal(err)
		}
		for place, p := range papers.Places[:9] {
			for _, strategy := range discovery.Strategies()[1:] {
				for _, o := range goals {
					if o.Nearest > 0 && strategy != discovery.Adaptive {
						continue
					}
					b.Run(fmt.Sprintf("%s/%s/%s/%v-%d", world, p.Name, strategy, o.MaxRTT, o.Nearest), func(b *testing.B) {
						var total worth
						for seed := uint64(firstSeed); b.Loop(); seed++ {
							spec, _ := sim.NamedSpec(world, seed)
							spec.Places = spec.Places[place : place+1]
							o.Seed = seed
							s, err := simulate(b, sim.Generate(spec).Vantage(0), strategy, o)
							if err != nil {
								b.Fatal(err)
							}
							total.add(s)
						}
						total.report(b)
					})
				}
			}
		}
	}
}

// simulate runs a strategy once.
func simulate(b *testing.B, v *sim.Vantage, strategy discovery.Strategy, o discovery.PlanOptions) (sim.Simulation, error) {
	study := sim.Study{Strategies: []discovery.Strategy{strategy}, Plan: o, Worlds: 1, Runs: 1}
	rows, _, err := study.Run(b.Context(), func(uint64) ([]*sim.Vantage, error) { return []*sim.Vantage{v}, nil }, func(int) {})
	if err != nil {
		return sim.Simulation{}, err
	}
	return rows[0], nil
}

// worth sums up simulations.
type worth struct {
	runs, percent, recall, worst, first100, excess, within float64
}

func (w *worth) add(s sim.Simulation) {
	if w.runs == 0 {
		w.worst = 1
	}
	w.runs++
	w.percent += s.Percent
	w.recall += s.Recall
	w.worst = min(w.worst, s.Recall)
	w.first100 += float64(s.First100)
	w.excess += s.ExcessMS
	w.within += s.Within
}

func (w *worth) report(b *testing.B) {
	b.ReportMetric(w.percent/w.runs, "%probes")
	b.ReportMetric(100*w.recall/w.runs, "%recall")
	b.ReportMetric(100*w.worst, "%worst")
	b.ReportMetric(w.first100/w.runs, "first100")
	b.ReportMetric(w.excess/w.runs, "excess-ms")
	b.ReportMetric(100*w.within/w.runs, "%within5ms")
}
