package sweep

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/internal/sim"
)

// BenchmarkPlanTime measures the adaptive plan's processor time for a probe on a long list,
// whatever else the machine does. Each iteration uses another seed's world, from four places.
func BenchmarkPlanTime(b *testing.B) {
	const firstSeed = 62000
	for _, place := range []int{0, 2, 5, 8} {
		spec, err := sim.NamedSpec("css2007", firstSeed)
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range []discovery.PlanOptions{{MaxRTT: 200 * time.Millisecond}, {MaxRTT: 100 * time.Millisecond}, {MaxRTT: 50 * time.Millisecond}, {Nearest: 50}} {
			b.Run(fmt.Sprintf("%s/%v-%d", spec.Places[place].Name, o.MaxRTT, o.Nearest), func(b *testing.B) {
				spent, probes := time.Duration(0), 0
				for seed := uint64(firstSeed); b.Loop(); seed++ {
					spec, err := sim.NamedSpec("css2007", seed)
					if err != nil {
						b.Fatal(err)
					}
					spec.Servers, spec.Places = 32600, spec.Places[place:place+1]
					v := sim.Generate(spec).Vantage(0)
					tree := v.Topology()
					runtime.GC() // the plan should not pay for the world's garbage
					before := processorTime(b)
					plan, err := plan.New(discovery.Adaptive, tree, o)
					if err != nil {
						b.Fatal(err)
					}
					results, _ := v.Replay(plan, sim.ReplayOptions{})
					spent += processorTime(b) - before
					probes += len(results)
				}
				b.ReportMetric(float64(spent.Nanoseconds())/1e3/float64(probes), "µs/probe")
				b.ReportMetric(float64(probes)/float64(b.N), "probes")
			})
		}
	}
}

// processorTime returns this process's own processor time.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}
