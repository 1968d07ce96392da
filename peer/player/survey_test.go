package player

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
)

// TestVisits checks that a machine of a provider is asked eight times an hour at most, whatever a host wants: after
// that its last answer counts. Places of the group's own are asked each time.
func TestVisits(t *testing.T) {
	s := newScript(t, Options{HasPlaces: true})
	servers := serversOf(3)
	places := wire.Venues{
		{Name: "Frankfurt", Addr: hostport.At(servers[1].Addr), Protocol: "tcp", Offers: []wire.Offer{{Provider: "A"}}},
		{Name: "ours", Addr: hostport.At(servers[2].Addr), Protocol: "tcp"},
	}
	asked := map[int]int{}
	measures := func(attempt, samples int) wire.Surveyed {
		t.Helper()
		s.hears(wire.Survey{Attempt: attempt, Places: places, Samples: samples})
		for done := 0; len(s.said) == 0 && done < 20; {
			if len(s.runs) == 0 {
				s.passes(time.Second)
				continue
			}
			for _, server := range s.runs[0].Servers {
				asked[int(server.Addr.Addr().As4()[3])]++
			}
			s.asks()
			s.runs = nil
			done++
		}
		if len(s.said) != 1 {
			t.Fatalf("survey %d: %+v", attempt, s.said)
		}
		m := s.said[0].(wire.Surveyed)
		s.said = nil
		for i, f := range m.Places {
			if f.Server != i || f.State != discovery.Answered || len(f.RTTs) == 0 {
				t.Errorf("survey %d: place %d is %+v", attempt, i, f)
			}
		}
		return m
	}
	for attempt := range 4 {
		measures(attempt+1, 3)
	}
	if asked[1] != 6 || asked[2] != 12 {
		t.Errorf("asked %v, want a provider's machine 6 times", asked)
	}
	s.passes(time.Hour)
	if measures(5, 3); asked[1] != 9 {
		t.Errorf("after an hour asked %v", asked)
	}
	places = places[:1]
	s.passes(time.Hour)
	if measures(6, 20); asked[1] != 17 {
		t.Errorf("of twenty samples taken %d", asked[1]-9)
	}
}
