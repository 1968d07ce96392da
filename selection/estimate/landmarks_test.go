package estimate

import (
	"testing"
	"time"
)

// rtts returns RTTs in ms.
func rtts(ms ...float64) (all []time.Duration) {
	for _, x := range ms {
		all = append(all, duration(x))
	}
	return all
}

// TestLandmarks checks what landmarks tell of a guest.
func TestLandmarks(t *testing.T) {
	german, french := Place{Country: "DE", ASN: 1}, Place{Country: "FR", ASN: 2}
	frankfurt, paris, madrid := Landmark{Lat: 50.1, Lon: 8.7}, Landmark{Lat: 48.9, Lon: 2.4}, Landmark{Country: "ES"}
	at := func(l Landmark, guest float64, players ...float64) Landmark {
		l.Guest, l.Players = duration(guest), rtts(players...)
		return l
	}
	somewhere := Landmark{}
	for _, c := range []struct {
		name        string
		guest       Place
		players     []Place
		known       []Landmark
		server      string
		rtts        []time.Duration
		least, most time.Duration
	}{
		{"a slow line adds to all", german, []Place{french}, []Landmark{at(frankfurt, 80, 20), at(paris, 85, 12), at(madrid, 100, 30)},
			"NL", rtts(18), 60 * ms, 90 * ms},
		{"a fast one does not", german, []Place{french}, []Landmark{at(frankfurt, 5, 20), at(paris, 15, 12), at(madrid, 33, 30)},
			"NL", rtts(18), 5 * ms, 22 * ms},
		{"also if the players have not measured them", german, []Place{french},
			[]Landmark{at(frankfurt, 80), at(paris, 85), at(madrid, 100)}, "NL", rtts(18), 22 * ms, 60 * ms},
		{"one that stands where the server stands counts most", german, []Place{french},
			[]Landmark{at(frankfurt, 10, 20), at(paris, 20, 12), at(Landmark{Country: "BR"}, 300, 210)}, "BR", rtts(211),
			255 * ms, 305 * ms},
		{"triangles tell without any country", Place{}, []Place{{}, {}},
			[]Landmark{at(somewhere, 20, 30, 100), at(somewhere, 110, 100, 30), at(somewhere, 60, 60, 60)}, "", rtts(31, 99),
			15 * ms, 35 * ms},
		{"one of which nothing is known tells nothing", german, []Place{french}, []Landmark{at(somewhere, 300)}, "FR", rtts(10),
			5 * ms, 30 * ms},
	} {
		got := New(c.guest, c.players, c.known...).Estimate(c.server, c.rtts)
		if got.RTT < c.least || got.RTT > c.most || got.Error <= 0 {
			t.Errorf("%s: %v ± %v, want %v to %v", c.name, got.RTT, got.Error, c.least, c.most)
		}
	}
}

// TestTypical checks that landmarks that fit the players' RTTs make estimates surer, and that others
// show how wrong they are.
func TestTypical(t *testing.T) {
	guest, players := Place{Country: "NL"}, []Place{{Country: "DE"}, {Country: "FR"}}
	landmarks := func(guest ...float64) (all []Landmark) {
		for i, country := range []string{"DE", "FR", "GB", "PL", "SE"} {
			all = append(all, Landmark{Country: country, Guest: duration(guest[i]),
				Players: rtts([]float64{10, 25, 30, 22, 35}[i], []float64{24, 9, 18, 38, 45}[i])})
		}
		return all
	}
	without := New(guest, players).Typical()
	fit := New(guest, players, landmarks(14, 17, 15, 30, 36)...).Typical()
	wild := New(guest, players, landmarks(90, 17, 140, 30, 260)...).Typical()
	unmeasured := landmarks(14, 17, 15, 30, 36)
	for i := range unmeasured {
		unmeasured[i].Players = nil
	}
	if alone := New(guest, players, unmeasured...).Typical(); alone < without {
		t.Errorf("landmarks that no player has measured make ± %v of ± %v", alone, without)
	}
	if fit > without/2 || wild < 2*fit {
		t.Errorf("without landmarks ± %v, with some that fit ± %v, with some that do not ± %v", without, fit, wild)
	}
}

// TestWrongCountry checks that a server that a player is too near to is not where its label says.
func TestWrongCountry(t *testing.T) {
	e := New(Place{Country: "DE"}, []Place{{Country: "AU"}})
	for _, c := range []struct {
		server string
		rtt    float64
		most   float64
		least  float64
	}{
		{"DE", 290, 40, 5},
		{"DE", 12, 400, 200},
		{"", 12, 400, 200},
	} {
		got := e.Estimate(c.server, rtts(c.rtt)).RTT
		if got < duration(c.least) || got > duration(c.most) {
			t.Errorf("a server in %q, %.0f ms from Australia, is %v from Germany", c.server, c.rtt, got)
		}
	}
}
