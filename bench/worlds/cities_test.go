package worlds

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/sim"
)

// TestCities checks that servers stand in cities of their country, or near its centre, and players in the nearest city.
func TestCities(t *testing.T) {
	m := sim.Matrix{{0, 10, 200}, {10, 0, 210}, {200, 210, 0}}
	cities, err := ReadCityMatrix(m, strings.NewReader("DE\tBerlin\t52.5\t13.4\nFR\tParis\t48.9\t2.4\nNZ\tAuckland\t-36.8\t174.8\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "DE\tBerlin\t52.5\n", "DE\tBerlin\tnorth\t13.4\n", "DE\tBerlin\t52.5\t13.4\n"} {
		if _, err := ReadCityMatrix(m, strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as the places of three hosts", text)
		}
	}
	var list []discovery.Server
	for i := range 100 {
		country := "NZ"
		if i >= 60 {
			country = "FR"
		}
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{90, byte(i), 0, 1}), 1), Country: country, ASN: uint32(1 + i/50)})
	}
	players := []sim.Place{{Name: "Lyon", Lat: 45.8, Lon: 4.8, Access: 5 * time.Millisecond}, {Name: "Dresden", Lat: 51, Lon: 13.7}}
	w := cities.World(m, list, players, 1)
	for i, s := range w.Servers {
		want := [2]time.Duration{215 * time.Millisecond, 200 * time.Millisecond}
		if s.Country == "FR" {
			want = [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}
		}
		if got := [2]time.Duration{w.RTT(0, i) - s.Access, w.RTT(1, i) - s.Access}; got != want {
			t.Errorf("%s's server %d is %v from Lyon and Dresden, want %v", s.Country, i, got, want)
		}
	}
}
