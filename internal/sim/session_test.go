package sim

import "testing"

// BenchmarkNight is a session of four players who search 30,000 servers together:
// virtual is how much longer it takes in the simulated world.
func BenchmarkNight(b *testing.B) {
	g, err := GroupWorld("css2007", "musst", 1)
	if err != nil {
		b.Fatal(err)
	}
	g.Vantages[0].Topology()
	virtual := 0.0
	for run := uint64(0); b.Loop(); run++ {
		s, err := g.session(Coordinated, GroupOptions{}.withDefaults(4), run)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.run(); err != nil {
			b.Fatal(err)
		}
		virtual += s.now.Seconds()
	}
	b.ReportMetric(virtual/b.Elapsed().Seconds(), "virtual")
}
