package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
)

// GroupPlaces returns the places of a named group's players: the four of MUSST's evaluation, two or
// three far apart, or cities drawn by a seed. A name world-N draws N of them. clans-N are two clans of N
// players, the first N on one side.
func GroupPlaces(name string, seed uint64) ([]Place, error) {
	switch name {
	case "musst":
		return NamedPlaces("NL", "Massachusetts", "Kota Bharu", "North Carolina")
	case "au-jp":
		return NamedPlaces("AU", "JP")
	case "au-de-usw":
		return NamedPlaces("AU", "DE", "US-W")
	case "europe-8":
		return DrawPlaces(8, seed, func(r Region) bool { return r == Europe }), nil
	}
	if text, is := strings.CutPrefix(name, "clans-"); is {
		if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= clanCities {
			return drawClans(n, seed), nil
		}
	}
	text, _ := strings.CutPrefix(name, "world-")
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return DrawPlaces(n, seed, func(Region) bool { return true }), nil
	}
	return nil, fmt.Errorf("sim: unknown group %q", name)
}

// DrawPlaces draws cities of some regions, each with a line of its own.
func DrawPlaces(n int, seed uint64, where func(Region) bool) []Place {
	rng := rand.New(rand.NewPCG(seed, 0x706c61636573))
	var drawn []Place
	of := CityRegions()
	for _, i := range rng.Perm(len(metros)) {
		if m := metros[i]; where(of[i]) && len(drawn) < n {
			access := milliseconds(5 + 15*rng.Float64())
			drawn = append(drawn, Place{Name: m.name, Country: m.country, Lat: m.lat, Lon: m.lon, Access: access})
		}
	}
	return drawn
}

// A clan's players live in some of the clanCities cities nearest to a home. The clans' homes are at
// least clansApart degrees from each other.
const clanCities, clansApart = 8, 5

// drawClans draws two clans. With odd seeds they are of one part of the world.
func drawClans(n int, seed uint64) []Place {
	rng := rand.New(rand.NewPCG(seed, 0x636c616e73))
	var drawn []Place
	of, homes, taken := CityRegions(), []int{}, map[int]bool{}
	for _, home := range rng.Perm(len(metros)) {
		isOther := len(homes) == 0 || metros[home].country != metros[homes[0]].country && degrees(home, homes[0]) >= clansApart &&
			(of[home] == of[homes[0]]) == (seed%2 == 1)
		if len(homes) == 2 || !isOther {
			continue
		}
		homes = append(homes, home)
		var near []int
		for i := range metros {
			if !taken[i] {
				near = append(near, i)
			}
		}
		slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(degrees(home, a), degrees(home, b)) })
		near = near[:clanCities]
		rng.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
		for _, i := range near[:n] {
			taken[i] = true
			m := metros[i]
			drawn = append(drawn, Place{Name: m.name, Country: m.country, Lat: m.lat, Lon: m.lon, Access: milliseconds(5 + 15*rng.Float64())})
		}
	}
	return drawn
}

// degrees returns roughly how far cities are from each other, in degrees of latitude.
func degrees(a, b int) float64 {
	across := math.Abs(metros[a].lon - metros[b].lon)
	across = min(across, 360-across) * math.Cos((metros[a].lat+metros[b].lat)/2*math.Pi/180)
	return math.Hypot(across, metros[a].lat-metros[b].lat)
}

// GroupWorld returns a named group on a named world: a synthetic one, the distance world of a list
// like css2007's, or the demo's 2,000 servers.
func GroupWorld(world, group string, seed uint64) (*Group, error) {
	players, err := GroupPlaces(group, seed)
	if err != nil {
		return nil, err
	}
	if world == "distance" {
		return DistanceWorld(ListLike2007(seed), players, seed).Everybody()
	}
	spec, err := NightSpec(2000, seed), error(nil)
	if world != "night2000" {
		spec, err = NamedSpec(world, seed)
	}
	if err != nil {
		return nil, err
	}
	spec.Places = players
	return Generate(spec).Everybody()
}

// ListLike2007 returns a list like css2007's.
func ListLike2007(seed uint64) []discovery.Server {
	spec := css2007(seed)
	spec.Places = nil
	return Generate(spec).List()
}

// OnMatrix returns a group with the layout of a named one, on hosts of a matrix. The servers of the
// list stand on its hosts, too.
func (m Matrix) OnMatrix(list []discovery.Server, group string, seed uint64) (*Group, error) {
	return m.OnMatrixWith(m, list, group, seed)
}

// OnMatrixWith returns such a group with the round trips of another time.
func (m Matrix) OnMatrixWith(then Matrix, list []discovery.Server, group string, seed uint64) (*Group, error) {
	players, err := GroupPlaces(group, seed)
	if err != nil {
		return nil, err
	}
	spread := Far
	switch n := len(players); {
	case group == "europe-8":
		spread = Near
	case n > 4:
		spread = Anywhere
	}
	return m.WorldWith(then, list, m.Draw(len(players), spread, seed), seed).Everybody()
}
