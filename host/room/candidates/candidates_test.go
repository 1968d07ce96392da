package candidates_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/candidates"
	"muster/host/room/people"
	"muster/host/wire"
)

// cities returns so many places of one provider, one degree apart along the equator.
func cities(n int) (vs wire.Venues) {
	for i := range n {
		vs = append(vs, wire.Venue{
			Name: fmt.Sprint("city ", i), Protocol: "tcp", Lat: 1, Lon: float64(1 + i),
			Offers: []wire.Offer{{Provider: []string{"Big", "Big", "Small"}[i%3], Region: fmt.Sprint("r", i)}},
		})
	}
	return vs
}

// begun returns the places of a round in the order of their list.
func begun(places wire.Venues, owners map[string]people.ID) *candidates.Places {
	p := candidates.New(places, owners, candidates.Places{})
	p.Arrange(candidates.Servers(places))
	return &p
}

// surveyor is a player whose places answer with so many ms; 0 is not asked, and a negative one silent.
func surveyor(id people.ID, ms ...float64) candidates.Surveyor {
	s := candidates.Surveyor{ID: id}
	for place, ms := range ms {
		r := discovery.Result{Server: place, RTT: time.Duration(ms * float64(time.Millisecond))}
		switch {
		case ms > 0:
			r.State = discovery.Answered
		case ms < 0:
			r.State = discovery.Lost
		}
		s.Results = append(s.Results, r)
	}
	return s
}

func group(players ...candidates.Surveyor) candidates.Group {
	return candidates.Group{Surveyors: players}
}

// answers lets a player measure all that is asked, and returns how often and for how many places that was. A place
// is as many ms away as its index from at, and more.
func answers(t *testing.T, p *candidates.Places, id people.ID, n, at int) (surveys, asked int) {
	t.Helper()
	s := surveyor(id, make([]float64, n)...)
	for {
		asks := p.Ask(group(s), id)
		if len(asks) == 0 {
			return surveys, asked
		}
		surveys, asked = surveys+1, asked+len(asks[0].Places)
		m := wire.Surveyed{Attempt: asks[0].Survey.Attempt}
		for i, place := range asks[0].Places {
			ms := 5 + 10*float64(max(place-at, at-place))
			m.Places = append(m.Places, wire.Finalist{Server: i, State: discovery.Answered, RTTs: []float64{ms + 3, ms}})
		}
		results, isLast, err := p.Heard(id, m)
		if err != nil || !isLast || len(results) != len(asks[0].Places) {
			t.Fatalf("%d results of %d, the last %v: %v", len(results), len(asks[0].Places), isLast, err)
		}
		for _, r := range results {
			s.Results[r.Server] = r
		}
	}
}

// TestNumber checks that nobody is asked for more places than promised, and that those around the nearest are
// among them.
func TestNumber(t *testing.T) {
	for _, n := range []int{1, 7, 24, 72, 96} {
		p := begun(cities(n), nil)
		surveys, asked := answers(t, p, "ann", n, n/2)
		if asked != min(n, candidates.MaxAsked) || surveys > 3 {
			t.Errorf("of %d places ann is asked for %d, in %d surveys", n, asked, surveys)
		}
		if v := p.ViewAll(); v.Machines != min(n, candidates.MaxAsked) || len(v.Candidates) != n {
			t.Errorf("of %d places people read %d, and %d machines", n, len(v.Candidates), v.Machines)
		}
	}
	for _, one := range begun(cities(9), nil).ViewAll().Providers {
		if want := map[string]int{"Big": 6, "Small": 3}[one.Name]; one.N != want {
			t.Errorf("%s has %d machines, want %d", one.Name, one.N, want)
		}
	}
}

// TestSame checks that everybody is asked for what the others have found: a place that some have not measured cannot
// be chosen.
func TestSame(t *testing.T) {
	p := begun(cities(40), nil)
	ms := make([]float64, 40)
	for i := range 24 {
		ms[i] = 200 - float64(i)
	}
	asks := p.Ask(group(surveyor("ann", ms...), surveyor("bob", make([]float64, 40)...)), "ann", "bob")
	if len(asks) != 1 || asks[0].To != "bob" || asks[0].Survey.Samples != 5 {
		t.Fatalf("%+v", asks)
	}
	silent := make([]float64, 40)
	for i := range 40 {
		silent[i] = -1
	}
	if asks := p.Ask(group(surveyor("cat", silent...)), "cat"); asks != nil {
		t.Errorf("cat, whom nothing answers, is asked again: %+v", asks)
	}
}

// TestHeard checks answers in parts, late ones, and those that make no sense.
func TestHeard(t *testing.T) {
	p := begun(cities(3), nil)
	ask := func() candidates.Ask { return p.Ask(group(surveyor("ann", 0, 0, 0)), "ann")[0] }
	first := ask()
	if again := ask(); again.Survey.Attempt != first.Survey.Attempt || !slices.Equal(again.Places, first.Places) {
		t.Errorf("a program that comes back is asked %v, and was asked %v", again, first)
	}
	answered := func(server int, ms ...float64) wire.Finalist {
		return wire.Finalist{Server: server, State: discovery.Answered, RTTs: ms}
	}
	for _, tt := range []struct {
		name   string
		m      wire.Surveyed
		want   string
		isLast bool
	}{
		{"another survey", wire.Surveyed{Attempt: 7, Places: []wire.Finalist{answered(9)}}, "", false},
		{"no such place", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{answered(3, 1)}}, "a ping of place 3 of 3", false},
		{"no ping", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{answered(0)}}, "a place that answered without a ping", false},
		{"a part", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{answered(0, 9, 7)}, More: true}, "[7ms]", false},
		{"the rest", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 1, State: discovery.Lost}}}, "[0s]", true},
		{"once more", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{answered(0, 1)}}, "", false},
	} {
		results, isLast, err := p.Heard("ann", tt.m)
		var got string
		if err != nil {
			got = err.Error()
		} else if len(results) > 0 {
			var rtts []time.Duration
			for _, r := range results {
				rtts = append(rtts, r.RTT)
			}
			got = fmt.Sprint(rtts)
		}
		if got != tt.want || isLast != tt.isLast {
			t.Errorf("%s: %q, the last %v", tt.name, got, isLast)
		}
	}
	if p.IsOpen("ann") {
		t.Error("ann is still measuring")
	}
}

// TestKey checks that a name has one address, which nobody can join.
func TestKey(t *testing.T) {
	for _, name := range []string{"Frankfurt", "Düsseldorf", "東京", strings.Repeat("x", 48)} {
		at := candidates.Key(name)
		if at != candidates.Key(name) || at == candidates.Key(name+"!") || !discovery.IsPlaceholder(at.Addr()) {
			t.Errorf("%s is at %v", name, at)
		}
	}
}

// TestOwn checks whose computer is which place, what another round still knows, and how often a round begins again.
func TestOwn(t *testing.T) {
	places := append(cities(2), wire.Venue{Name: "bob's computer", Protocol: "beacon"})
	p := begun(places, map[string]people.ID{"bob's computer": "bob"})
	if got := p.Own("bob"); !slices.Equal(got, []int{2}) || p.Own("ann") != nil {
		t.Errorf("bob's are %v, and ann's %v", got, p.Own("ann"))
	}
	if !p.Has(places) || p.Has(append(places, wire.Venue{Name: "cat's computer"})) {
		t.Error("it does not tell a new computer from those that it has")
	}
	renewed := 0
	for range 20 {
		next := candidates.New(places, nil, *p)
		if p = &next; p.Renew() {
			renewed++
		}
	}
	if renewed != 8 {
		t.Errorf("the round began again %d times", renewed)
	}
}

// FuzzState checks that any saved state is refused or harmless.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"places":[{"name":"A","addr":"192.0.2.1:1","protocol":"tcp"}],"attempt":1,"open":{"x":{"attempt":1,"places":[0]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p candidates.Places
		if json.Unmarshal(data, p.State()) != nil || p.State().Validate(len(p.All())) != nil {
			return
		}
		p.ViewAll()
		s := candidates.Surveyor{ID: "x", Results: make([]discovery.Result, len(p.All()))}
		for _, ask := range p.Ask(group(s), "x") {
			if _, _, err := p.Heard("x", wire.Surveyed{Attempt: ask.Survey.Attempt}); err != nil {
				t.Error(err)
			}
		}
	})
}
