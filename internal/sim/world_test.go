package sim

import (
	"math"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery/countries"
	"muster/selection"
)

// shape counts the figures that the papers print of their lists.
type shape struct{ answering, countries, ases int }

func shapeOf(w *World) shape {
	countries, ases := make(map[string]bool), make(map[uint32]bool)
	var s shape
	for _, server := range w.Servers {
		countries[server.Country], ases[server.ASN] = true, true
		if !server.Silent && !server.Refusing {
			s.answering++
		}
	}
	s.countries, s.ases = len(countries), len(ases)
	return s
}

func TestNamedWorldsHaveThePapersShape(t *testing.T) {
	tests := []struct {
		world    string
		min, max shape
	}{
		// ATNAC 2006 §III.C and Workshop 2008 Table 2.
		{"et2007", shape{2950, 50, 250}, shape{3010, 52, 400}},
		// NOSSDAV 2008 Tables 1 and 2; Workshop 2008 Table 2.
		{"css2007", shape{27400, 69, 1170}, shape{27900, 71, 1240}},
	}
	for _, tt := range tests {
		for seed := range uint64(3) {
			spec, err := NamedSpec(tt.world, seed)
			if err != nil {
				t.Fatal(err)
			}
			got := shapeOf(Generate(spec))
			if got.answering < tt.min.answering || got.answering > tt.max.answering ||
				got.countries < tt.min.countries || got.countries > tt.max.countries ||
				got.ases < tt.min.ases || got.ases > tt.max.ases {
				t.Errorf("%s, seed %d: %+v, want from %+v to %+v", tt.world, seed, got, tt.min, tt.max)
			}
		}
	}
}

func TestNearServersOfEachPlace(t *testing.T) {
	// Servers under 200 ms: few from the Asia-Pacific, most from Europe and the
	// USA (NOSSDAV 2008, §2.3).
	spec, _ := NamedSpec("css2007", 7)
	w := Generate(spec)
	tests := []struct {
		place    string
		min, max float64
	}{
		{"AU", 0.04, 0.12}, {"JP", 0.18, 0.34}, {"TW", 0.15, 0.32}, {"DE", 0.85, 0.98}, {"UK", 0.85, 0.98}, {"US-W", 0.88, 0.99},
	}
	for _, tt := range tests {
		place := slices.IndexFunc(w.Places, func(p Place) bool { return p.Name == tt.place })
		near := 0
		for i := range w.Servers {
			if w.RTT(place, i) < 200*time.Millisecond {
				near++
			}
		}
		if share := float64(near) / float64(len(w.Servers)); share < tt.min || share > tt.max {
			t.Errorf("%s: %.3f of the servers are under 200 ms, want %.2f-%.2f", tt.place, share, tt.min, tt.max)
		}
	}
}

func TestSameSeedSameWorld(t *testing.T) {
	if a, b := Night2005(500, 3), Night2005(500, 3); !reflect.DeepEqual(a, b) {
		t.Error("the same seed made two worlds")
	}
	if a, b := Night2005(500, 3), Night2005(500, 4); reflect.DeepEqual(a.Servers, b.Servers) {
		t.Error("two seeds made the same servers")
	}
}

func TestAPlaceKeepsItsRoutes(t *testing.T) {
	// A world of other places has the same servers at the same distance.
	spec := NightSpec(300, 1)
	all := Generate(spec)
	spec.Places = spec.Places[2:]
	some := Generate(spec)
	for i := range all.Servers {
		if all.RTT(2, i) != some.RTT(0, i) {
			t.Fatalf("server %d: %v and %v", i, all.RTT(2, i), some.RTT(0, i))
		}
	}
}

func TestServersAreDistinctAndPlausible(t *testing.T) {
	w := Night2005(2000, 5)
	if len(w.Servers) != 2000 {
		t.Fatalf("%d servers, want 2000", len(w.Servers))
	}
	seen := make(map[netip.AddrPort]bool)
	for _, s := range w.Servers {
		if seen[s.Addr] || !s.Addr.Addr().IsGlobalUnicast() || s.Addr.Addr().IsPrivate() {
			t.Errorf("%v is listed twice or no server's address", s.Addr)
		}
		seen[s.Addr] = true
		if s.Info.Players > s.Info.MaxPlayers || s.Info.Bots > s.Info.Players || s.Info.Name == "" || s.Info.Map == "" {
			t.Errorf("%v: implausible %+v", s.Addr, s.Info)
		}
	}
}

func TestNothingIsFasterThanLight(t *testing.T) {
	w := Night2005(2000, 6)
	for p, place := range w.Places {
		for i, s := range w.Servers {
			// Within a city the scatter is larger than the distance.
			km := countries.GreatCircle(place.Lat, place.Lon, s.Lat, s.Lon) - 300
			if ms := float64(w.RTT(p, i)) / float64(time.Millisecond); ms < km/kmPerMillisecond || ms > 1000 {
				t.Fatalf("%s to %v: %.1f ms for %.0f km", place.Name, s.Addr, ms, km)
			}
		}
	}
}

func TestSample(t *testing.T) {
	w := &World{
		Seed:    1,
		Places:  make([]Place, 1),
		Servers: make([]Server, 3),
		floor:   []time.Duration{50 * time.Millisecond, 0, 0},
		jitter:  time.Millisecond,
	}
	w.Servers[0].Loss = 0.1
	w.Servers[1].Silent = true
	w.Servers[2].Refusing = true
	const n = 20000
	var lost, spikes int
	var jitters []time.Duration
	for i := range uint64(n) {
		rtt, gone := w.Sample(0, 0, i)
		if again, _ := w.Sample(0, 0, i); again != rtt {
			t.Fatalf("packet pair %d took %v, then %v", i, rtt, again)
		}
		jitter := rtt - 50*time.Millisecond
		switch {
		case gone:
			lost++
			continue
		case jitter <= 0:
			t.Fatalf("packet pair %d took %v, less than the floor", i, rtt)
		case jitter > spikeMin:
			spikes++
		}
		jitters = append(jitters, jitter)
	}
	slices.Sort(jitters)
	if median := jitters[len(jitters)/2]; math.Abs(median.Seconds()-0.001) > 0.0001 {
		t.Errorf("the median jitter is %v, want 1ms", median)
	}
	if math.Abs(float64(lost)/n-0.1) > 0.01 || math.Abs(float64(spikes)/n-0.9*spikeShare) > 0.004 {
		t.Errorf("%d lost and %d spikes of %d", lost, spikes, n)
	}
	for server := 1; server <= 2; server++ {
		if _, gone := w.Sample(0, server, 0); !gone {
			t.Errorf("server %d answered", server)
		}
	}
}

func TestTheGraphIsWhole(t *testing.T) {
	for i, km := range laid().distancesFrom(metroIndex("London")) {
		if math.IsInf(km, 1) || km > 45000 {
			t.Errorf("London to %s: %.0f km", metros[i].name, km)
		}
	}
	for _, c := range cables {
		if metroIndex(c.a) < 0 || metroIndex(c.b) < 0 {
			t.Errorf("cable %s-%s ends in no metro", c.a, c.b)
		}
	}
	for _, mix := range [][]Share{mixET(), mixCSS()} {
		for _, share := range mix {
			if hub(share.Country) < 0 {
				t.Errorf("%s has servers but no metro", share.Country)
			}
		}
	}
	if _, err := NamedPlaces("AU", "Atlantis"); err == nil {
		t.Error("Atlantis is a known place")
	}
}

// hub returns the first metro of a country, or -1.
func hub(country string) int {
	return slices.IndexFunc(metros[:], func(m metro) bool { return m.country == country })
}

// TestClans checks that all players of two clans live in different cities, with lines like others'.
func TestClans(t *testing.T) {
	for seed := range uint64(20) {
		places, err := GroupPlaces("clans-3", seed)
		if err != nil || len(places) != 6 {
			t.Fatalf("seed %d: %v, %v", seed, places, err)
		}
		seen := map[string]bool{}
		for _, p := range places {
			if seen[p.Name] || p.Access < 5*ms || p.Access > 20*ms {
				t.Errorf("seed %d: %+v of %+v", seed, p, places)
			}
			seen[p.Name] = true
		}
	}
	for _, name := range []string{"clans-0", "clans-9", "clans-x", "somebody"} {
		if places, err := GroupPlaces(name, 1); err == nil {
			t.Errorf("%s live in %v", name, places)
		}
	}
}

// TestGroupsOnAMatrix checks that a group sits on hosts of the matrix, near each other if its name says
// so, and what a server costs it.
func TestGroupsOnAMatrix(t *testing.T) {
	m, list := line(200), realList("DE", 60)
	across := func(group string) float64 {
		g, err := m.OnMatrix(list, group, 1)
		if err != nil {
			t.Fatal(err)
		}
		regret, least, most := g.Regret(selection.Criteria{By: selection.Mean}), math.Inf(1), 0.0
		for server, rtt := range g.Vantages[0].RTT {
			if rtt >= 0 {
				least = min(least, regret(server))
			}
			for _, v := range g.Vantages[1:] {
				most = max(most, math.Abs((rtt - v.RTT[server]).Seconds()))
			}
		}
		if least > 1e-9 {
			t.Errorf("%s: the best is %v ms worse than the best", group, least)
		}
		return most
	}
	if near, far := across("europe-8"), across("au-jp"); near >= far {
		t.Errorf("eight of Europe are %v s apart, and Australia and Japan %v", near, far)
	}
	if _, err := m.OnMatrix(list, "somebody", 1); err == nil {
		t.Error("somebody has places")
	}
}
