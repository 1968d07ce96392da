// Package scout measures how well package selection/scout finds the place that suits a group, in a made-up
// internet whose places are the built-in ones.
package scout

import (
	"compress/gzip"
	"encoding/csv"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"muster/discovery/countries"
	"muster/internal/sim"
	"muster/selection/scout"
)

// These flags set the size; bench/experiments/places-for-a-group.md has the results:
//
//	go -C bench test ./scout -v -scout-groups 1000 [-scout-countries country_rtt_stat.csv.gz]
var (
	scoutGroups    = flag.Int("scout-groups", 40, "how many groups by each rule")
	scoutOf        = flag.String("scout-of", "", "one: single players; region, regions, world: groups of one, of two, of anywhere; empty: groups of all kinds")
	scoutFrom      = flag.Uint64("scout-from", 1, "first seed")
	scoutAtOnce    = flag.Int("scout-at-once", 12, "how many places a player asks at once; muster where asks 4")
	scoutCountries = flag.String("scout-countries", "", "a table of RTTs between countries: cty1,cty2,rtt_cnt,rtt_avg,rtt_std,rtt_min,rtt_max")
)

const (
	// most is how many places a player asks.
	most = 24
	// goal is the regret, in ms, within which 95 of 100 groups shall stay.
	goal = 3
)

// world has the true pings, in ms, by player and place.
type world struct {
	places []scout.Place
	pings  [][]float64
	rough  []scout.Place // positions as a country tells them
}

// newWorld draws a group and its pings: the line of each player, and for each pair of player and place light in
// glass along the globe, times a detour of the pair of countries, times one of the pair itself. If there is a table of
// countries, it says how long the way between two of them is.
func newWorld(seed uint64, players []sim.Place, table map[[2]string]float64) world {
	rng := rand.New(rand.NewPCG(seed, 28))
	var w world
	detours := map[[2]string]float64{}
	for _, c := range cities() {
		w.places = append(w.places, scout.Place{Lat: c.Lat, Lon: c.Lon})
	}
	centres := centresOf()
	for _, p := range players {
		line := float64(p.Access)/1e6 + 2 + 6*rng.Float64()
		row := make([]float64, len(cities()))
		for i, v := range cities() {
			km := countries.GreatCircle(p.Lat, p.Lon, v.Lat, v.Lon)
			pair := [2]string{p.Country, v.Country}
			if detours[pair] == 0 {
				detours[pair] = 1.2 + 0.25*rng.ExpFloat64()
				if rng.Float64() < 0.05 { // by another continent
					detours[pair] += 1
				}
				a, b := centres[p.Country], centres[v.Country]
				between := countries.GreatCircle(a.Lat, a.Lon, b.Lat, b.Lon)
				if avg := table[pair]; avg > 0 && between > 500 {
					detours[pair] = min(max(1.05, (avg-10)/(between/100)), 6)
				}
			}
			own := 1 + 0.12*rng.ExpFloat64()
			way := km / 100 * detours[pair] * own
			row[i] = line + 1 + way
		}
		w.pings, w.rough = append(w.pings, row), append(w.rough, centres[p.Country])
	}
	return w
}

// cities returns the cities of the built-in places.
var cities = sync.OnceValue(func() (all []sim.Place) {
	f, err := os.Open("../../internal/venue/places.csv")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		panic(err)
	}
	for _, r := range rows[1:] {
		c := sim.Place{Name: r[0], Country: r[1]}
		c.Lat, _ = strconv.ParseFloat(r[2], 64)
		c.Lon, _ = strconv.ParseFloat(r[3], 64)
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
})

// centresOf returns the middle of each country's metros, as far as the worlds have them.
func centresOf() map[string]scout.Place {
	sums, counts := map[string]scout.Place{}, map[string]float64{}
	for _, c := range sim.Cities() {
		s := sums[c.Country]
		sums[c.Country], counts[c.Country] = scout.Place{Lat: s.Lat + c.Lat, Lon: s.Lon + c.Lon}, counts[c.Country]+1
	}
	for country, s := range sums {
		sums[country] = scout.Place{Lat: s.Lat / counts[country], Lon: s.Lon / counts[country]}
	}
	return sums
}

// readCountries reads the average RTTs between countries, both ways round.
func readCountries(t *testing.T, file string) map[[2]string]float64 {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table := map[[2]string]float64{}
	for _, r := range rows[1:] {
		avg, err := strconv.ParseFloat(r[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if count, _ := strconv.Atoi(r[2]); count >= 10 {
			table[[2]string{r[0], r[1]}], table[[2]string{r[1], r[0]}] = avg, avg
		}
	}
	return table
}

// rule is a group's cost of pings.
type rule struct {
	name string
	cost func([]float64) float64
}

func mean(pings []float64) (sum float64) {
	for _, p := range pings {
		sum += p
	}
	return sum / float64(len(pings))
}

var rules = []rule{{"mean", mean}, {"worst", slices.Max[[]float64]}}

// search lets a group measure, and returns its regret and the most that a player asked.
func (w world) search(seed uint64, r rule, isRough bool) (regret float64, asked int) {
	rng := rand.New(rand.NewPCG(seed, 29))
	players := make([]scout.Player, len(w.pings))
	count := make([]int, len(players))
	for i := range players {
		players[i].Pings = make([]float64, len(w.places))
		if isRough {
			players[i].At = w.rough[i]
		}
	}
	for {
		isOver := true
		for i, next := range scout.Next(w.places, players, r.cost, *scoutAtOnce) {
			for _, at := range next {
				if count[i] == most {
					break
				}
				count[i]++
				isOver = false
				ping := math.Inf(1) // the least of five
				for range 5 {
					ping = min(ping, w.pings[i][at]+2*rng.ExpFloat64())
				}
				players[i].Pings[at] = ping
			}
		}
		if isOver {
			break
		}
	}
	best, chosen, least := math.Inf(1), -1, math.Inf(1)
	for at := range w.places {
		var truth, seen []float64
		for i := range players {
			truth = append(truth, w.pings[i][at])
			if ping := players[i].Pings[at]; ping > 0 {
				seen = append(seen, ping)
			}
		}
		best = min(best, r.cost(truth))
		if len(seen) == len(players) {
			if cost := r.cost(seen); cost < least {
				chosen, least = at, cost
			}
		}
	}
	if chosen < 0 {
		return math.Inf(1), slices.Max(count)
	}
	var truth []float64
	for i := range players {
		truth = append(truth, w.pings[i][chosen])
	}
	return r.cost(truth) - best, slices.Max(count)
}

// group draws players: neighbours of a region, of two regions, or from anywhere.
func group(seed uint64) []sim.Place {
	rng := rand.New(rand.NewPCG(seed, 30))
	n := 2 + rng.IntN(7)
	regions := []sim.Region{}
	for _, r := range sim.CityRegions() {
		if !slices.Contains(regions, r) {
			regions = append(regions, r)
		}
	}
	home, other := regions[rng.IntN(len(regions))], regions[rng.IntN(len(regions))]
	kind := rng.IntN(3)
	if *scoutOf != "" {
		kind = max(0, slices.Index([]string{"region", "regions", "world", "one"}, *scoutOf))
	}
	if kind == 3 {
		n = 1
	}
	return sim.DrawPlaces(n, seed, func(r sim.Region) bool { return kind >= 2 || r == home || kind == 1 && r == other })
}

// TestRegret checks that 95 of 100 groups find a place within the goal of the best.
func TestRegret(t *testing.T) {
	var table map[[2]string]float64
	if *scoutCountries != "" {
		table = readCountries(t, *scoutCountries)
	}
	for _, r := range rules {
		for _, way := range []struct {
			name    string
			isRough bool
		}{
			{"positions unknown", false}, {"countries known", true},
		} {
			var all []float64
			within := 0
			for seed := *scoutFrom; seed < *scoutFrom+uint64(*scoutGroups); seed++ {
				regret, asked := newWorld(seed, group(seed), table).search(seed, r, way.isRough)
				if asked > most {
					t.Fatalf("a player asked %d places", asked)
				}
				if all = append(all, regret); regret <= goal {
					within++
				}
			}
			slices.Sort(all)
			share := float64(within) / float64(len(all))
			t.Logf("%-6s %-18s within %v ms: %.1f %%; regret median %.2f, p90 %.1f, p95 %.1f, p99 %.1f, worst %.1f ms", r.name, way.name, goal, 100*share,
				all[len(all)/2], all[len(all)*9/10], all[len(all)*95/100], all[len(all)*99/100], all[len(all)-1])
			if share < 0.95 && table == nil && *scoutOf == "" {
				t.Errorf("%s, %s: only %d of %d groups are within %v ms", r.name, way.name, within, len(all), goal)
			}
		}
	}
}
