package costs

import (
	"testing"

	"muster/internal/sim"
)

// BenchmarkSession runs a session of four players and 30,000 servers. virtual is how many times
// faster it passes than a real one.
func BenchmarkSession(b *testing.B) {
	g, err := sim.GroupWorld("css2007", "musst", 1)
	if err != nil {
		b.Fatal(err)
	}
	g.Vantages[0].Topology()
	for _, method := range []sim.Method{sim.Coordinated, sim.Naive, sim.Full} {
		b.Run(string(method), func(b *testing.B) {
			virtual := 0.0
			for run := uint64(0); b.Loop(); run++ {
				s, err := g.NewSession(method, sim.GroupOptions{}.WithDefaults(len(g.Players)), run)
				if err == nil {
					err = s.Run()
				}
				if err != nil {
					b.Fatal(err)
				}
				virtual += s.Now.Seconds()
			}
			b.ReportMetric(virtual/b.Elapsed().Seconds(), "virtual")
		})
	}
}
