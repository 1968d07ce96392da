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
	s := newScript(t, Options{HasPlaces: true, AsksConsent: true})
	servers := serversOf(3)
	places := wire.Venues{
		{Name: "Frankfurt", Addr: hostport.At(servers[1].Addr), Protocol: "tcp", Offers: []wire.Offer{{Provider: "A"}}},
		{Name: "ours", Addr: hostport.At(servers[2].Addr), Protocol: "tcp"},
	}
	asked := map[int]int{}
	measures := func(attempt, samples int) wire.Surveyed {
		t.Helper()
		s.hears(wire.Survey{Attempt: attempt, Places: places, Samples: samples})
		for _, o := range s.others {
			if ask, is := o.(AskConsent); is {
				s.step(Consented{Task: ask.Task, Yes: true})
			}
		}
		s.others = nil
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

// TestConsent checks that machines of providers are asked only after the player's yes, which is asked for once in a
// room, and that places of the group's own list need none.
func TestConsent(t *testing.T) {
	servers := serversOf(4)
	theirs := wire.Venues{
		{Name: "Frankfurt", Addr: hostport.At(servers[1].Addr), Protocol: "tcp", Offers: []wire.Offer{{Provider: "A"}}},
		{Name: "Oslo", Addr: hostport.At(hostport.Of("osl.place.example", 443)), Protocol: "tcp"},
		{Name: "Paris", Addr: hostport.At(servers[2].Addr), Protocol: "tcp", URL: "https://par.place.example/"},
	}
	ours := wire.Venue{Name: "ours", Addr: hostport.At(servers[3].Addr), Protocol: "tcp"}
	for name, c := range map[string]struct {
		asks, says bool
		places     wire.Venues
		// questions is how many are asked in two surveys, measured how many places are asked in the second one.
		questions, measured int
	}{
		"yes":                  {true, true, append(theirs, ours), 1, 4},
		"no":                   {true, false, append(theirs, ours), 1, 1},
		"nobody to ask":        {false, false, append(theirs, ours), 0, 1},
		"no, and nothing else": {true, false, theirs, 1, 0},
		"own places":           {true, false, wire.Venues{ours}, 0, 1},
	} {
		s := newScript(t, Options{HasPlaces: true, AsksConsent: c.asks})
		questions, measured := 0, 0
		for attempt := 1; attempt <= 2; attempt++ {
			s.hears(wire.Survey{Attempt: attempt, Places: c.places, Samples: 1})
			for _, o := range s.others {
				if ask, is := o.(AskConsent); is {
					questions++
					if len(s.runs)+len(s.said) > 0 || len(ask.Places) != len(theirs) {
						t.Errorf("%s: before the answer it runs %v and says %v, about %v", name, s.runs, s.said, ask.Places)
					}
					s.hears(wire.Survey{Attempt: attempt, Places: c.places, Samples: 1}) // after a lost connection
					s.step(Consented{ask.Task, c.says})
				}
			}
			s.others, measured = nil, 0
			for s.passes(time.Second); len(s.runs) > 0; s.passes(time.Second) {
				measured += len(s.runs[0].Servers)
				s.asks()
				s.runs = nil
			}
			if len(s.said) != 1 || s.said[0].(wire.Surveyed).Attempt != attempt {
				t.Fatalf("%s: survey %d is answered %+v", name, attempt, s.said)
			}
			s.said = nil
		}
		if questions != c.questions || measured != c.measured {
			t.Errorf("%s: %d questions and %d places measured, want %d and %d", name, questions, measured, c.questions, c.measured)
		}
	}
}
