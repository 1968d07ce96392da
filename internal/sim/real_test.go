package sim

import (
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
)

func TestReadMatrix(t *testing.T) {
	want := Matrix{{0, 10}, {12.5, 0}}
	for _, text := range []string{"0\t10\n12.5\t0\n", "# two hosts\n0 10\n\n12.5  0", "0,10\r\n12.5,0\r\n", "0; 10\n12.5; 0 # the last\n"} {
		if got, err := ReadMatrix(strings.NewReader(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q was read as %v, %v", text, got, err)
		}
	}
	tests := []struct{ text, want string }{
		{"", "two hosts"},
		{"1\n", "two hosts"},
		{"1 2\n3\n", "row 2 of the matrix has 1 values, want 2"},
		{"1 2\n", "two hosts"},
		{"1 2\n\nhost 4\n", `line 3 of the matrix: "host"`},
		{"-1 2\n2 1\n", `"-1"`},
		{"NaN 2\n2 1\n", `"NaN"`},
		{"0 60001\n2 0\n", `"60001"`},
		{strings.Repeat("1 ", maxRowText), "token too long"},
		{strings.Repeat("1\n", maxHosts+1), "more than 4096 hosts"},
		{strings.Repeat("1 ", maxHosts+1), "more than 4096 hosts"},
	}
	for _, tt := range tests {
		if _, err := ReadMatrix(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20q: error %v, want one with %q", tt.text, err, tt.want)
		}
	}
}

// line returns hosts on a line, one every 10 ms.
func line(hosts int) Matrix {
	m := make(Matrix, hosts)
	for i := range m {
		for j := range m {
			m[i] = append(m[i], 10*math.Abs(float64(i-j)))
		}
	}
	return m
}

func TestDraw(t *testing.T) {
	m := line(200)
	for seed := range uint64(20) {
		for _, spread := range []Spread{Anywhere, Near, Far} {
			drawn := m.Draw(5, spread, seed)
			sorted := slices.Compact(slices.Sorted(slices.Values(drawn)))
			if len(drawn) != 5 || len(sorted) != 5 {
				t.Fatalf("%v are not 5 hosts", drawn)
			}
			switch across := sorted[4] - sorted[0]; {
			case spread == Near && across >= 50:
				t.Errorf("near each other, yet from %d to %d of 200", sorted[0], sorted[4])
			case spread == Far && across < 100:
				t.Errorf("far from each other, yet from %d to %d of 200", sorted[0], sorted[4])
			}
			if again := m.Draw(5, spread, seed); !slices.Equal(again, drawn) {
				t.Errorf("the same seed drew %v, then %v", drawn, again)
			}
		}
	}
	if drawn := m[:3].Draw(5, Far, 1); len(drawn) != 3 {
		t.Errorf("%v drawn of three hosts", drawn)
	}
}

// realList returns n servers of a country in blocks of ten, two at each address.
func realList(country string, n int) []discovery.Server {
	var list []discovery.Server
	for i := range n {
		addr := netip.AddrFrom4([4]byte{80, byte(i / 100), byte(i / 10), byte(i / 2)})
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, uint16(1+i%2)), Country: country, ASN: uint32(1 + i/50)})
	}
	return list
}

func TestMatrixWorld(t *testing.T) {
	m, list := Matrix{{0, 10, 200}, {10, 0, 210}, {200, 210, 0}}, realList("DE", 400)
	w := m.World(list, []int{0, 2}, 1)
	if !slices.Equal(w.List(), list) || w.Places[1].Name != "host 3" {
		t.Fatalf("another list, or %q is no host", w.Places[1].Name)
	}
	near := func(server int) bool { return w.RTT(0, server) < 100*ms }
	silent, there := 0, 0
	for i, s := range w.Servers {
		// From every place, all servers are equally far from the host's own place.
		far := w.RTT(1, i) - s.Access
		if from := w.RTT(0, i) - s.Access; !(from == 0 && far == 200*ms || from == 10*ms && far == 210*ms || from == 200*ms && far == 0) {
			t.Errorf("server %d is %v from one place and %v from the other", i, from, far)
		}
		if i > 0 && i/10 == (i-1)/10 && near(i) != near(i-1) {
			t.Errorf("servers %d and %d of one /24 stand apart", i-1, i)
		}
		if i%2 == 1 && (s.Silent != w.Servers[i-1].Silent || w.RTT(0, i) != w.RTT(0, i-1)) {
			t.Errorf("servers %d and %d of one machine differ", i-1, i)
		}
		if s.Silent {
			silent++
		}
		if near(i) {
			there++
		}
	}
	if silent < 8 || silent > 56 || there == 0 || there == len(list) {
		t.Errorf("%d of 400 are silent and %d near, want about 25 and some", silent, there)
	}
	other := m.World(list, []int{0, 2}, 2)
	if again := m.World(list, []int{0, 2}, 1); !reflect.DeepEqual(again, w) || slices.Equal(other.floor, w.floor) {
		t.Error("the seed does not decide where the servers stand")
	}
}

func TestDistanceWorld(t *testing.T) {
	places, _ := NamedPlaces("AU", "DE")
	list := slices.Concat(realList("NZ", 60), realList("XX", 40))
	for i := range list[60:] { // the country XX is unknown
		list[60+i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{90, byte(i), 0, 1}), 1)
	}
	w := DistanceWorld(list, places, 1)
	for i := range w.Servers {
		au, de := w.RTT(0, i), w.RTT(1, i)
		if i < 60 && (au < 25*ms+w.Places[0].Access || au > 150*ms || de < 180*ms || de > 500*ms) {
			t.Errorf("New Zealand's server %d is %v from Melbourne and %v from Berlin", i, au, de)
		}
	}
	// A place keeps its ways whatever the other places are.
	if one := DistanceWorld(list, places[1:], 1); !slices.Equal(one.floor, w.floor[len(list):]) {
		t.Error("another place has changed the RTTs of Berlin")
	}
}

// TestRunsOfSeveralWorlds checks that the figures cover all runs.
func TestRunsOfSeveralWorlds(t *testing.T) {
	worlds := []*Vantage{vantage(10, 20, 300), vantage(10), vantage(10, 20, 30, 300, -1)}
	study := Study{Strategies: []discovery.Strategy{discovery.Conventional}, Rate: 100, Worlds: len(worlds), Runs: 1}
	scene := func(seed uint64) ([]*Vantage, error) { return worlds[seed : seed+1], nil }
	rows, _, err := study.Run(t.Context(), scene, func(int) {})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	s := rows[0]
	if s.Runs != 3 || s.Listed != 3 || s.Probes != 3 || s.Playable != 2 || s.MeanPercent != 100 || s.Data != "test" {
		t.Errorf("%+v", s)
	}
	if took := time.Duration(s.Seconds * float64(time.Second)); took != 320*ms {
		t.Errorf("the median run took %v", took)
	}
}
