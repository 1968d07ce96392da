package sim

import (
	"fmt"
	"slices"
	"time"
)

// metro is a city where game servers stand and cables meet.
type metro struct {
	name, country string
	lat, lon      float64
	// weight is the city's relative share of its country's servers.
	weight float64
}

// metros are the cities of the synthetic internet. The first of a country is
// its hub.
var metros = [...]metro{
	{"Frankfurt", "DE", 50.11, 8.68, 6}, {"Berlin", "DE", 52.52, 13.40, 2}, {"Hamburg", "DE", 53.55, 9.99, 2},
	{"Munich", "DE", 48.14, 11.58, 2}, {"Nuremberg", "DE", 49.45, 11.08, 3}, {"Dusseldorf", "DE", 51.23, 6.78, 3},
	{"Paris", "FR", 48.86, 2.35, 6}, {"Lyon", "FR", 45.76, 4.84, 1}, {"Marseille", "FR", 43.30, 5.37, 1}, {"Roubaix", "FR", 50.69, 3.17, 2},
	{"London", "GB", 51.51, -0.13, 7}, {"Manchester", "GB", 53.48, -2.24, 2}, {"Edinburgh", "GB", 55.95, -3.19, 1},
	{"Amsterdam", "NL", 52.37, 4.90, 8}, {"Eindhoven", "NL", 51.44, 5.47, 1}, {"Groningen", "NL", 53.22, 6.57, 1},
	{"Brussels", "BE", 50.85, 4.35, 1}, {"Luxembourg", "LU", 49.61, 6.13, 1}, {"Zurich", "CH", 47.38, 8.54, 3},
	{"Geneva", "CH", 46.20, 6.14, 1}, {"Vienna", "AT", 48.21, 16.37, 3}, {"Graz", "AT", 47.07, 15.44, 1},
	{"Milan", "IT", 45.46, 9.19, 3}, {"Rome", "IT", 41.90, 12.50, 2}, {"Palermo", "IT", 38.12, 13.36, 1},
	{"Madrid", "ES", 40.42, -3.70, 3}, {"Barcelona", "ES", 41.39, 2.17, 2}, {"Lisbon", "PT", 38.72, -9.14, 1},
	{"Dublin", "IE", 53.35, -6.26, 1},
	{"Copenhagen", "DK", 55.68, 12.57, 3}, {"Aarhus", "DK", 56.16, 10.20, 1}, {"Stockholm", "SE", 59.33, 18.07, 4},
	{"Gothenburg", "SE", 57.71, 11.97, 1}, {"Umea", "SE", 63.83, 20.26, 1}, {"Oslo", "NO", 59.91, 10.75, 3},
	{"Tromso", "NO", 69.65, 18.96, 0.5}, {"Helsinki", "FI", 60.17, 24.94, 3}, {"Oulu", "FI", 65.01, 25.47, 1},
	{"Reykjavik", "IS", 64.15, -21.94, 1},
	{"Warsaw", "PL", 52.23, 21.01, 3}, {"Poznan", "PL", 52.41, 16.93, 2}, {"Krakow", "PL", 50.06, 19.94, 1},
	{"Prague", "CZ", 50.08, 14.44, 3}, {"Brno", "CZ", 49.20, 16.61, 1}, {"Bratislava", "SK", 48.15, 17.11, 1},
	{"Budapest", "HU", 47.50, 19.04, 1}, {"Bucharest", "RO", 44.43, 26.10, 2}, {"Cluj", "RO", 46.77, 23.60, 1},
	{"Sofia", "BG", 42.70, 23.32, 1}, {"Athens", "GR", 37.98, 23.73, 1},
	{"Zagreb", "HR", 45.81, 15.98, 1}, {"Ljubljana", "SI", 46.06, 14.51, 1}, {"Belgrade", "RS", 44.79, 20.45, 1},
	{"Sarajevo", "BA", 43.86, 18.41, 1}, {"Skopje", "MK", 41.99, 21.43, 1}, {"Tallinn", "EE", 59.44, 24.75, 1},
	{"Riga", "LV", 56.95, 24.11, 1}, {"Vilnius", "LT", 54.69, 25.28, 1}, {"Kyiv", "UA", 50.45, 30.52, 2},
	{"Odesa", "UA", 46.48, 30.73, 1}, {"Minsk", "BY", 53.90, 27.57, 1}, {"Chisinau", "MD", 47.01, 28.86, 1},
	{"Moscow", "RU", 55.76, 37.62, 5}, {"St Petersburg", "RU", 59.93, 30.34, 2},
	{"Yekaterinburg", "RU", 56.84, 60.61, 1}, {"Novosibirsk", "RU", 55.03, 82.92, 1},
	{"Vladivostok", "RU", 43.12, 131.89, 0.5}, {"Istanbul", "TR", 41.01, 28.98, 2}, {"Ankara", "TR", 39.93, 32.86, 1},
	{"Nicosia", "CY", 35.19, 33.38, 1}, {"Valletta", "MT", 35.90, 14.51, 1},

	{"New York", "US", 40.71, -74.01, 5}, {"Washington", "US", 38.91, -77.04, 4}, {"Boston", "US", 42.36, -71.06, 1},
	{"Atlanta", "US", 33.75, -84.39, 4}, {"Miami", "US", 25.76, -80.19, 1}, {"Charlotte", "US", 35.23, -80.84, 1},
	{"Chicago", "US", 41.88, -87.63, 6}, {"Detroit", "US", 42.33, -83.05, 1}, {"Minneapolis", "US", 44.98, -93.27, 1},
	{"St Louis", "US", 38.63, -90.20, 1}, {"Kansas City", "US", 39.10, -94.58, 1}, {"Dallas", "US", 32.78, -96.80, 7},
	{"Houston", "US", 29.76, -95.37, 2}, {"Denver", "US", 39.74, -104.99, 1}, {"Phoenix", "US", 33.45, -112.07, 1},
	{"Salt Lake City", "US", 40.76, -111.89, 0.5}, {"Los Angeles", "US", 34.05, -118.24, 5},
	{"San Jose", "US", 37.34, -121.89, 4}, {"Seattle", "US", 47.61, -122.33, 2}, {"Honolulu", "US", 21.31, -157.86, 0.1},
	{"Toronto", "CA", 43.65, -79.38, 3}, {"Montreal", "CA", 45.50, -73.57, 2}, {"Calgary", "CA", 51.05, -114.07, 1},
	{"Vancouver", "CA", 49.28, -123.12, 1}, {"Mexico City", "MX", 19.43, -99.13, 2},
	{"Monterrey", "MX", 25.69, -100.32, 1}, {"Guatemala City", "GT", 14.63, -90.51, 1},
	{"San Jose CR", "CR", 9.93, -84.08, 1}, {"Panama City", "PA", 8.98, -79.52, 1},
	{"San Juan", "PR", 18.47, -66.11, 1}, {"Santo Domingo", "DO", 18.49, -69.93, 1},
	{"Sao Paulo", "BR", -23.55, -46.63, 5}, {"Rio de Janeiro", "BR", -22.91, -43.17, 2},
	{"Porto Alegre", "BR", -30.03, -51.22, 1}, {"Fortaleza", "BR", -3.73, -38.52, 0.5},
	{"Buenos Aires", "AR", -34.60, -58.38, 3}, {"Cordoba", "AR", -31.42, -64.18, 1},
	{"Santiago", "CL", -33.45, -70.67, 1}, {"Lima", "PE", -12.05, -77.04, 1}, {"Bogota", "CO", 4.71, -74.07, 1},
	{"Caracas", "VE", 10.49, -66.88, 1}, {"Montevideo", "UY", -34.90, -56.16, 1}, {"Quito", "EC", -0.18, -78.47, 1},
	{"La Paz", "BO", -16.49, -68.12, 1},

	{"Johannesburg", "ZA", -26.20, 28.05, 3}, {"Cape Town", "ZA", -33.92, 18.42, 1}, {"Cairo", "EG", 30.04, 31.24, 1},
	{"Casablanca", "MA", 33.57, -7.59, 1}, {"Tunis", "TN", 36.81, 10.18, 1}, {"Nairobi", "KE", -1.29, 36.82, 1},
	{"Lagos", "NG", 6.52, 3.38, 1}, {"Port Louis", "MU", -20.16, 57.50, 1},
	{"Tel Aviv", "IL", 32.09, 34.78, 1}, {"Riyadh", "SA", 24.71, 46.68, 1}, {"Dubai", "AE", 25.20, 55.27, 1},
	{"Kuwait City", "KW", 29.38, 47.99, 1}, {"Amman", "JO", 31.95, 35.93, 1}, {"Beirut", "LB", 33.89, 35.50, 1},
	{"Tehran", "IR", 35.69, 51.39, 1}, {"Doha", "QA", 25.29, 51.53, 1},
	{"Mumbai", "IN", 19.08, 72.88, 2}, {"Delhi", "IN", 28.61, 77.21, 1}, {"Chennai", "IN", 13.08, 80.27, 1},
	{"Karachi", "PK", 24.86, 67.01, 1}, {"Colombo", "LK", 6.93, 79.86, 1}, {"Dhaka", "BD", 23.81, 90.41, 1},
	{"Tokyo", "JP", 35.68, 139.69, 6}, {"Osaka", "JP", 34.69, 135.50, 2}, {"Seoul", "KR", 37.57, 126.98, 3},
	{"Busan", "KR", 35.18, 129.08, 1}, {"Hong Kong", "HK", 22.32, 114.17, 1}, {"Shanghai", "CN", 31.23, 121.47, 3},
	{"Beijing", "CN", 39.90, 116.41, 3}, {"Guangzhou", "CN", 23.13, 113.26, 2}, {"Chengdu", "CN", 30.57, 104.07, 1},
	{"Taipei", "TW", 25.03, 121.57, 4}, {"Kaohsiung", "TW", 22.63, 120.30, 1},
	{"Singapore", "SG", 1.35, 103.82, 1}, {"Kuala Lumpur", "MY", 3.14, 101.69, 3},
	{"Kota Bharu", "MY", 6.13, 102.24, 0.3}, {"Bangkok", "TH", 13.76, 100.50, 1}, {"Jakarta", "ID", -6.21, 106.85, 1},
	{"Manila", "PH", 14.60, 120.98, 1}, {"Hanoi", "VN", 21.03, 105.85, 1}, {"Almaty", "KZ", 43.24, 76.89, 1},
	{"Sydney", "AU", -33.87, 151.21, 5}, {"Melbourne", "AU", -37.81, 144.96, 4}, {"Brisbane", "AU", -27.47, 153.03, 2},
	{"Adelaide", "AU", -34.93, 138.60, 1}, {"Perth", "AU", -31.95, 115.86, 1.5}, {"Auckland", "NZ", -36.85, 174.76, 2},
	{"Christchurch", "NZ", -43.53, 172.64, 1},
}

// regions lists the countries whose networks meet on each land mass.
var regions = map[Region][]string{
	Europe: {"DE", "FR", "GB", "NL", "BE", "LU", "CH", "AT", "IT", "ES", "PT", "IE", "DK", "SE", "NO", "FI", "IS",
		"PL", "CZ", "SK", "HU", "RO", "BG", "GR", "HR", "SI", "RS", "BA", "MK", "EE", "LV", "LT", "UA", "BY", "MD", "RU", "KZ", "TR", "CY", "MT"},
	northAmerica: {"US", "CA", "MX", "GT", "CR", "PA", "PR", "DO"},
	southAmerica: {"BR", "AR", "CL", "PE", "CO", "VE", "UY", "EC", "BO"},
	africa:       {"ZA", "KE", "NG", "MU"},
	middleEast:   {"EG", "MA", "TN", "IL", "SA", "AE", "KW", "JO", "LB", "IR", "QA"},
	southAsia:    {"IN", "PK", "LK", "BD"},
	eastAsia:     {"JP", "KR", "HK", "CN", "TW", "SG", "MY", "TH", "ID", "PH", "VN"},
	oceania:      {"AU", "NZ"},
}

// regionOf maps countries to regions.
var regionOf = func() map[string]Region {
	of := make(map[string]Region)
	for region, countries := range regions {
		for _, country := range countries {
			of[country] = region
		}
	}
	return of
}()

type Region uint8

const (
	Europe Region = iota
	northAmerica
	southAmerica
	africa
	middleEast
	southAsia
	eastAsia
	oceania
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
