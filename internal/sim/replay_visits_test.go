package sim

import (
	"testing"
)

func TestVisitsDiffer(t *testing.T) {
	spec, err := NamedSpec("et2007", 1)
	if err != nil {
		t.Fatal(err)
	}
	v := Generate(spec).Vantage(0)
	at := make(map[any]int)
	for i, s := range v.Servers {
		at[s.Addr] = i
	}
	first, second := v.Visits(1)
	listed := make(map[any]bool)
	for i, s := range first.Servers {
		listed[s.Addr] = true
		if first.RTT[i] != v.RTT[at[s.Addr]] {
			t.Fatalf("at the first visit %v is not where it is", s.Addr)
		}
	}
	replaced, factors := 0, make(map[any]float64)
	for i, s := range second.Servers {
		if !listed[s.Addr] {
			replaced++
		}
		was := v.RTT[at[s.Addr]]
		if was < 0 != (second.RTT[i] < 0) {
			t.Fatalf("%v is silent at one visit only", s.Addr)
		}
		if was < 0 {
			continue
		}
		factor := float64(second.RTT[i]) / float64(was)
		if before, known := factors[routeOf(s)]; known && (factor > before*1.001 || factor < before/1.001) {
			t.Fatalf("a route is %v and %v times as long as before", before, factor)
		}
		factors[routeOf(s)] = factor
		// It is the same packet pair, longer by the same factor.
		one, lost := v.Pair(at[s.Addr], 7)
		other, again := second.Pair(i, 7)
		if lost != again || !lost && other-one != second.RTT[i]-was {
			t.Fatalf("a packet pair of %v has %v more, want %v", s.Addr, other-one, second.RTT[i]-was)
		}
	}
	if share := float64(replaced) / float64(len(second.Servers)); share < 0.08 || share > 0.12 {
		t.Errorf("%v of the servers are new, want %v", share, replacedShare)
	}
	rerouted := 0
	for _, factor := range factors {
		if factor != 1 {
			rerouted++
		}
		if factor < 1/maxShorter-1e-6 || factor > maxLonger+1e-6 {
			t.Errorf("a route is %v times as long", factor)
		}
	}
	if share := float64(rerouted) / float64(len(factors)); share < 0.02 || share > 0.09 {
		t.Errorf("%v of the networks were rerouted, want %v", share, ReroutedShare)
	}
}
