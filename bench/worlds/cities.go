package worlds

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/countries"
	"muster/internal/sim"
)

// CityMatrix holds cities, and measured round trips between them: unlike on a [sim.Matrix] alone, a network can
// stand in a city of its country.
type CityMatrix struct {
	sim.Matrix
	Places []sim.Place
}

// ReadCityMatrix reads where the hosts of a matrix are, a line each: the country (ISO 3166-1 alpha-2), the
// city's name, and its latitude and longitude in degrees, separated by tabs.
func ReadCityMatrix(m sim.Matrix, r io.Reader) (CityMatrix, error) {
	c := CityMatrix{Matrix: m}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 4 {
			return c, fmt.Errorf("worlds: city %d has %d fields, want 4", len(c.Places)+1, len(fields))
		}
		lat, err := strconv.ParseFloat(fields[2], 64)
		lon, err2 := strconv.ParseFloat(fields[3], 64)
		if err := cmp.Or(err, err2); err != nil {
			return c, fmt.Errorf("worlds: city %d: %w", len(c.Places)+1, err)
		}
		c.Places = append(c.Places, sim.Place{Name: fields[1], Country: fields[0], Lat: lat, Lon: lon})
	}
	if err := lines.Err(); err != nil {
		return c, fmt.Errorf("worlds: the cities: %w", err)
	}
	if len(c.Places) != len(m) {
		return c, fmt.Errorf("worlds: %d cities for a matrix of %d", len(c.Places), len(m))
	}
	return c, nil
}

// neighbours is how many cities near its centre a country without a city of its own has its servers in.
const neighbours = 3

// World returns a world of a real list in which each network stands in a city of its country, and each
// player in the nearest city. The round trips are those of a time.
func (c CityMatrix) World(then sim.Matrix, list []discovery.Server, players []sim.Place, seed uint64) *sim.World {
	of := make(map[string][]int)
	for i, city := range c.Places {
		of[city.Country] = append(of[city.Country], i)
	}
	pool := func(country string) []int {
		if of[country] == nil {
			of[country] = c.all()
			if at, known := countries.Centre(country); known {
				of[country] = c.nearest(at.Lat, at.Lon)[:neighbours]
			}
		}
		return of[country]
	}
	at := make([]int, len(players))
	for i, p := range players {
		at[i] = c.nearest(p.Lat, p.Lon)[0]
	}
	rng := rand.New(rand.NewPCG(seed, 0x636974696573))
	return sim.Settle(list, players, seed, &sim.Siting{RNG: rng, Pool: pool}, func(place, site int, _ discovery.Server) float64 {
		return then[at[place]][site] + float64(players[place].Access.Microseconds())/1000
	})
}

// nearest returns the cities, the nearest to a point first.
func (c CityMatrix) nearest(lat, lon float64) []int {
	cities := c.all()
	km := func(i int) float64 { return countries.GreatCircle(lat, lon, c.Places[i].Lat, c.Places[i].Lon) }
	slices.SortStableFunc(cities, func(a, b int) int { return cmp.Compare(km(a), km(b)) })
	return cities
}

func (c CityMatrix) all() []int {
	cities := make([]int, len(c.Matrix))
	for i := range cities {
		cities[i] = i
	}
	return cities
}
