package simulated

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/bench/worlds"
	"muster/discovery"
	"muster/discovery/countries"
	"muster/host/networks"
	"muster/internal/sim"
	"muster/selection"
	"muster/selection/estimate"
	"muster/selection/memory"
)

// These tests measure what a search gains by what it knows of countries before it begins: by the players'
// countries as a host knows them, by wrong ones, or by RIPE Atlas' country pairs. The first compares ways with
// round trips between cities. The second gives a start to all players, or to a newcomer among players with
// memories. The files are no part of Muster, so the gate skips both (bench/experiments/country-pairs.md).
//
//	go -C bench test ./simulated -run TestStarts -v -timeout 0 -recall-worlds 8 -sweep-of cities -sweep-matrix FILE -sweep-cities FILE -sweep-groups world-2,world-4,world-8
//	go -C bench test ./simulated -run TestCountryWays -v -find-pairs country_rtt_stat.csv.gz -sweep-matrix FILE -guest-countries FILE
//	go -C bench test ./simulated -run TestStarts -v -timeout 0 -find-pairs country_rtt_stat.csv.gz -recall-worlds 40 -sweep-of css2007 -sweep-groups world-4
var (
	startKinds  = flag.String("start-kinds", "none,country,wrong", "what a search knows of countries before it begins; compatriots are other players of the countries, by a host")
	startBudget = flag.Int("start-budget", 0, "servers that each player is asked for at most, 0 for a room's usual number")
)

// countryWay is the mean RTT between two countries, and its deviation, in ms.
type countryWay struct{ mean, off float64 }

// starting returns the pairs that the flag names, nil if it names none.
func starting(t *testing.T) countryPairs {
	if *findPairs == "" {
		return nil
	}
	pairs, err := readPairs(*findPairs)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

// kmWay returns the way that the distance makes likely. Countries of an unknown position have the
// widest one.
func kmWay(from, to string) countryWay {
	e := estimate.New(estimate.Place{Country: from}, nil).Estimate(to, nil)
	return countryWay{discovery.MS(e.RTT), discovery.MS(e.Error)}
}

const (
	// The mixed start believes the pairs, too, from mixedFrom ms by distance on: 4,000 km.
	mixedFrom = 85
	// widestPair bounds the deviation of a pair, in ms. Most of a larger one is waiting in queues.
	widestPair = 60
)

// between returns the way between two countries by a kind of start.
func (c countryPairs) between(kind, from, to string) (w countryWay, known bool) {
	km := kmWay(from, to)
	v, known := c[[2]string{from, to}]
	w = countryWay{v[0], min(v[1], widestPair)}
	switch {
	case kind == "km", kind == "mixed" && (!known || km.mean <= mixedFrom):
		return km, true
	case kind == "mixed":
		return countryWay{(w.mean + km.mean) / 2, km.off}, true
	}
	return w, known
}

// TestCountryWays compares starts with round trips between cities, by distance.
func TestCountryWays(t *testing.T) {
	if *guestCountries == "" || *findPairs == "" {
		t.Skip("-guest-countries or -find-pairs names no file")
	}
	pairs, m := starting(t), sweepRoundTrips(t)
	text, err := os.ReadFile(*guestCountries)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for line := range strings.Lines(string(text)) {
		codes = append(codes, line[:2])
	}
	cables := map[string][]countries.Way{}
	least := 0.0
	for _, most := range []float64{30, 60, mixedFrom, 150, 250, 500} { // ms by distance
		errors := map[string][]float64{}
		for i, row := range m {
			if cables[codes[i]] == nil {
				cables[codes[i]] = countries.Ways(codes[i], codes)
			}
			for j, ms := range row {
				from, to := codes[i], codes[j]
				by := kmWay(from, to).mean
				if _, known := pairs[[2]string{from, to}]; i == j || !known || by > most || by <= least {
					continue
				}
				errors["cables"] = append(errors["cables"], math.Abs(cables[from][j].MS-ms))
				for _, kind := range []string{"km", "pairs", "mixed"} {
					w, _ := pairs.between(kind, from, to)
					errors[kind] = append(errors[kind], math.Abs(w.mean-ms))
				}
			}
		}
		for _, kind := range []string{"km", "pairs", "mixed", "cables"} {
			all := slices.Sorted(slices.Values(errors[kind]))
			if n := len(all); n > 0 {
				t.Logf("%3.0f to %3.0f ms by distance, %-6s: off by %3.0f, p90 %3.0f (%d pairs)", least, most, kind, all[n/2], all[9*n/10], n)
			}
		}
		least = most
	}
}

// starts returns what players of some countries know of a list's countries. The kind "true" is each
// player's true mean.
func starts(g *sim.Group, kind string, pairs countryPairs, players []sim.Place) (known [][]memory.Cell) {
	for player, v := range g.Vantages {
		var cells []memory.Cell
		truth := map[string][]float64{}
		for server, s := range v.Servers {
			if v.RTT[server] > 0 && s.Country != "" {
				truth[s.Country] = append(truth[s.Country], discovery.MS(v.RTT[server]))
			}
		}
		for _, country := range slices.Sorted(maps.Keys(truth)) {
			w, is := pairs.between(kind, players[player].Country, country)
			if kind == "true" {
				w, is = meanAndDeviation(truth[country]), true
			}
			if is {
				cells = append(cells, memory.Cell{Part: memory.Part{Country: country}, MS: max(1, w.mean), Spread: w.off, Count: certain, Seen: sim.Epoch})
			}
		}
		known = append(known, cells)
	}
	return known
}

// certain is a count that leaves a cell its own deviation.
const certain = 1 << 10

func meanAndDeviation(all []float64) countryWay {
	sum, squares, n := 0.0, 0.0, float64(len(all))
	for _, x := range all {
		sum, squares = sum+x, squares+x*x
	}
	return countryWay{sum / n, math.Sqrt(max(0, squares/n-sum*sum/n/n))}
}

// startTrial runs a search with a start. The kinds "new-…" give it to the first player only, and the
// others remember an earlier session.
func startTrial(kind, group string, rule selection.Rule, pairs countryPairs) Trial {
	kind, isNew := strings.CutPrefix(kind, "new-")
	return func(g *sim.Group, seed uint64) (trialRun, error) {
		o := sim.GroupOptions{Criteria: sweepCriteria(rule), Replay: sim.ReplayOptions{Rate: 140}}
		if kind == "compatriots" {
			g, err := compatriots(&o, len(g.Players), seed)
			if err != nil {
				return trialRun{}, err
			}
			return runTrial(g, sim.Coordinated, o, seed+1<<20)
		}
		players, err := sim.GroupPlaces(group, seed)
		if err != nil {
			return trialRun{}, err
		}
		o.Tuning.Budget = *startBudget
		switch kind {
		case "none":
		case "country", "wrong":
			for i := range players {
				at := i
				if kind == "wrong" {
					at = (i + 1) % len(players)
				}
				o.Countries = append(o.Countries, players[at].Country)
			}
		default:
			o.Memories = starts(g, kind, pairs, players)
		}
		if isNew && o.Memories == nil {
			o.Memories = make([][]memory.Cell, len(players))
		}
		if isNew {
			earlier := o
			earlier.Memories = nil
			s, err := g.NewSession(sim.Coordinated, earlier.WithDefaults(len(g.Players)), seed)
			if err == nil {
				err = s.Run()
			}
			if err != nil {
				return trialRun{}, err
			}
			for i, p := range s.Peers[1:] {
				o.Memories[1+i] = p.Memory
			}
			seed, o.Replay.Run = seed+1<<20, 1
		}
		return runTrial(g, sim.Coordinated, o, seed)
	}
}

// compatriots returns a group whose members nobody remembers, and what a host knows of their countries: for each
// of them, players from another city of the country have played in three rooms. All cities have other ASes.
func compatriots(o *sim.GroupOptions, n int, seed uint64) (*sim.Group, error) {
	kind := sweepKind("cities")
	m, err := worlds.Matrix(kind.Matrix)
	if err != nil {
		return nil, err
	}
	cities, err := worlds.Cities(m, kind.Cities)
	if err != nil {
		return nil, err
	}
	lists, err := kind.List()
	if err != nil {
		return nil, err
	}
	drawn, err := sim.GroupPlaces("world-100", seed)
	if err != nil {
		return nil, err
	}
	var players, others []sim.Place
	for _, p := range drawn {
		if len(players) == n {
			break
		}
		var away []sim.Place
		for _, c := range cities.Places {
			if km := countries.GreatCircle(p.Lat, p.Lon, c.Lat, c.Lon); c.Country == p.Country && km > anotherCity {
				c.Access = p.Access
				away = append(away, c)
			}
		}
		if len(away) > 0 {
			players, others = append(players, p), append(others, away[int(seed)%len(away)])
		}
	}
	list := lists(seed)
	teachers, err := cities.World(m, list, others, seed).Everybody()
	if err != nil {
		return nil, err
	}
	g, err := cities.World(m, list, players, seed).Everybody()
	if err != nil {
		return nil, err
	}
	host := networks.New([32]byte{byte(seed)})
	of := make([]networks.Network, n)
	for room := range 3 {
		s, err := teachers.NewSession(sim.Coordinated, o.WithDefaults(n), seed+uint64(room)<<32)
		if err == nil {
			err = s.Run()
		}
		if err != nil {
			return nil, err
		}
		for player, p := range s.Peers {
			of[player] = networks.Network{Country: players[player].Country, ASN: uint32(1000 + player)}
			from := netip.AddrFrom4([4]byte{203, byte(player), byte(room), 1})
			host.Learn(fmt.Sprint(room), from, networks.Network{Country: of[player].Country, ASN: uint32(1 + player)}, p.Memory, sim.Epoch)
		}
	}
	o.Memories, o.Replay.Run = host.Known(of, g.Vantages[0].Topology(), sim.Epoch.Add(7*24*time.Hour)), 1
	for _, p := range players {
		o.Countries = append(o.Countries, p.Country)
	}
	return g, nil
}

// anotherCity is how far another city is from a player's at least, in km.
const anotherCity = 100

// TestStarts measures what a start is worth to a search, with all groups of a kind of worlds together.
func TestStarts(t *testing.T) {
	if *recallWorlds == 0 {
		t.Skip("-recall-worlds is 0")
	}
	pairs, kinds := starting(t), strings.Split(*startKinds, ",")
	for _, of := range strings.Split(*sweepOf, ",") {
		for _, rule := range strings.Split(*sweepRules, ",") {
			together := make([][]trialRun, len(kinds))
			for _, group := range strings.Split(*sweepGroups, ",") {
				var trials []Trial
				for _, kind := range kinds {
					trials = append(trials, startTrial(kind, group, selection.Rule(rule), pairs))
				}
				all, err := Sweep(sweepGroup(t, of, group), *sweepFrom, *recallWorlds, trials)
				if err != nil {
					t.Fatal(err)
				}
				for i, kind := range kinds {
					t.Logf("%-8s %-8s %-14s %-9s %s", of, group, rule, kind, recallReport(all[i]))
					together[i] = append(together[i], all[i]...)
				}
			}
			for i, kind := range kinds {
				t.Logf("%-8s %-8s %-14s %-9s %s", of, "all", rule, kind, recallReport(together[i]))
			}
		}
	}
}
