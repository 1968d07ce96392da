package sim

import (
	"fmt"
	"slices"
	"time"
)

// places are the known locations of players: the vantage points of the three discovery papers, the
// four players of MUSST's evaluation (NetGames 2005, Table 1), and some more far from most servers.
var places = [...]Place{
	{"AU", "AU", -37.81, 144.96, 14 * time.Millisecond}, // Melbourne, ADSL2+
	{"JP", "JP", 35.69, 139.77, 3 * time.Millisecond},   // Otemachi
	{"TW", "TW", 25.04, 121.61, 5 * time.Millisecond},   // Sinica, Taipei
	{"CH", "CH", 47.37, 8.55, 4 * time.Millisecond},     // Zurich
	{"DE", "DE", 52.52, 13.33, 4 * time.Millisecond},    // TU Berlin
	{"UK", "GB", 56.34, -2.80, 6 * time.Millisecond},    // St Andrews
	{"US-W", "US", 37.88, -122.25, 4 * time.Millisecond},
	{"BR", "BR", -23.55, -46.63, 15 * time.Millisecond},
	{"ZA", "ZA", -26.20, 28.05, 15 * time.Millisecond},
	{"NL", "NL", 52.64, 5.06, 9 * time.Millisecond},          // Hoorn, cable modem
	{"Massachusetts", "US", 42.27, -71.80, time.Millisecond}, // Worcester, T3
	{"Kota Bharu", "MY", 6.13, 102.24, 25 * time.Millisecond},
	{"North Carolina", "US", 35.78, -78.64, 20 * time.Millisecond},
	{"US-E", "US", 40.71, -74.01, 8 * time.Millisecond},
	{"KR", "KR", 37.57, 126.98, 3 * time.Millisecond},
	{"SE", "SE", 59.33, 18.07, 5 * time.Millisecond},
	{"PL", "PL", 52.23, 21.01, 15 * time.Millisecond},
	{"RU", "RU", 55.76, 37.62, 12 * time.Millisecond},
	{"IN", "IN", 19.08, 72.88, 25 * time.Millisecond},
	{"SG", "SG", 1.35, 103.82, 6 * time.Millisecond},
	{"NZ", "NZ", -36.85, 174.76, 14 * time.Millisecond},
	{"AR", "AR", -34.60, -58.38, 18 * time.Millisecond},
}

// KnownPlaces returns the names of the places that [NamedPlaces] knows.
func KnownPlaces() []string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.Name
	}
	return names
}

// NamedPlaces returns the known places of these names.
func NamedPlaces(names ...string) ([]Place, error) {
	out := make([]Place, 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(places[:], func(p Place) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("sim: unknown place %q (known: %q)", name, KnownPlaces())
		}
		out = append(out, places[i])
	}
	return out, nil
}

// Cities returns the cities where servers of the generated worlds stand, with lines that add
// nothing.
func Cities() []Place {
	cities := make([]Place, len(metros))
	for i, m := range metros {
		cities[i] = Place{Name: "in " + m.name, Country: m.country, Lat: m.lat, Lon: m.lon}
	}
	return cities
}
