package simulated

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/bench/worlds"
	"muster/discovery"
	"muster/internal/sim"
)

// TestFind measures what one player's search finds, what it costs, and whether its claims hold:
//
//	go -C bench test ./simulated -run TestFind$ -v -timeout 0 -find 10 -find-from 320000 -find-limits 200ms,100ms
var (
	findWorlds   = flag.Int("find", 0, "search in so many worlds of each kind")
	findFrom     = flag.Uint64("find-from", 310000, "the first world's seed; 310000 is for tuning, 320000 for reporting")
	findKinds    = flag.String("find-kinds", "css2007,distance,cables,pairs,matrix", "kinds of worlds; the last two need files, and so does cities")
	findPairs    = flag.String("find-pairs", "", "round trips between countries, country_rtt_stat.csv.gz")
	findMatrix   = flag.String("find-matrix", "", "round trips between hosts, planetlab-490.txt.gz")
	findServers  = flag.Int("find-servers", 12000, "servers of a world")
	findPlaces   = flag.String("find-places", "AU,JP,KR,TW,SG,Kota Bharu,IN,ZA,DE", "where the players are")
	findLimits   = flag.String("find-limits", "200ms,100ms", "RTT limits")
	findLabels   = flag.String("find-labels", "right", "labels that plans are told: right, wrong32, wrong24, wrong16 or none")
	findShift    = flag.String("find-shift", "", "the players' own lines change, such as 50ms@0-0.1")
	findNearest  = flag.Int("find-nearest", 0, "look for so many nearest servers")
	findEachRuns = flag.Bool("find-each", false, "print each run")
)

func TestFind(t *testing.T) {
	if *findWorlds == 0 {
		t.Skip("no -find")
	}
	var shift sim.Shift
	if *findShift != "" {
		var err error
		if shift, err = sim.ParseShift(*findShift); err != nil {
			t.Fatal(err)
		}
	}
	all := make(map[string]*finds)
	for kind := range strings.SplitSeq(*findKinds, ",") {
		for limit := range strings.SplitSeq(*findLimits, ",") {
			maxRTT, err := time.ParseDuration(limit)
			if err != nil {
				t.Fatal(err)
			}
			row := &finds{}
			for world := range uint64(*findWorlds) {
				seed := *findFrom + world
				w, err := findWorld(t, kind, seed)
				if err != nil {
					t.Fatal(err)
				}
				vantages, err := sim.Scene(func(uint64) ([]*sim.Vantage, error) { return w.Vantages(), nil }).Labelled(findLabelled(t))(seed)
				if err != nil {
					t.Fatal(err)
				}
				found, missed, ideal := make([]sim.Run, len(vantages)), make([]string, len(vantages)), make([]float64, len(vantages))
				plan := discovery.PlanOptions{MaxRTT: maxRTT, Nearest: *findNearest, Seed: seed}
				err = sim.Parallel(context.Background(), len(vantages), func(i int) (err error) {
					var results []discovery.Result
					results, found[i], err = vantages[i].Run(discovery.Adaptive, plan, sim.ReplayOptions{Shift: shift})
					missed[i], ideal[i] = worstMissed(vantages[i], results, maxRTT), perfectStop(vantages[i], results, maxRTT)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range found {
					row.add(r)
					row.ideal = append(row.ideal, ideal[i])
					if *findEachRuns {
						c := r.Summary.Claim
						fmt.Printf("run %s %s %d %-5s %5d probes, %.2f %% (%.2f would do), %.4f of %5d, claim %.4f-%.4f, found %d, excess %.2f, within %.3f%s\n", kind, limit,
							seed, vantages[i].Name, r.Probes, 100*float64(r.Probes)/float64(r.Listed), ideal[i], r.Recall, r.Playable, c.Low, c.High, r.Found, r.Excess, r.Within, missed[i])
					}
				}
			}
			all[kind] = row
			fmt.Printf("%-9s %s %s: %s\n", kind, limit, *findLabels, row)
		}
	}
}

// goodRecall is the share of the near servers after which a perfect stop would end a search.
const goodRecall = 0.97

// perfectStop returns how much of the list, in percent, a search asked until it had found enough: all
// that it asked, if it never had.
func perfectStop(v *sim.Vantage, results []discovery.Result, limit time.Duration) float64 {
	near, found := 0, 0
	for _, rtt := range v.RTT {
		if rtt >= 0 && rtt < limit {
			near++
		}
	}
	asked := len(results)
	for i, r := range results {
		if r.State == discovery.Answered && v.RTT[r.Server] < limit {
			found++
		}
		if float64(found) >= goodRecall*float64(near) {
			asked = i + 1
			break
		}
	}
	return 100 * float64(asked) / float64(len(v.Servers))
}

// worstMissed describes the country with the most near servers that a search did not ask.
func worstMissed(v *sim.Vantage, results []discovery.Result, limit time.Duration) string {
	type country struct{ servers, near, asked, replies, missed int }
	of, asked := make(map[string]*country), make([]bool, len(v.Servers))
	for _, s := range v.Servers {
		of[s.Country] = &country{}
	}
	for _, r := range results {
		asked[r.Server] = true
		c := of[v.Servers[r.Server].Country]
		c.asked++
		if r.State == discovery.Answered {
			c.replies++
		}
	}
	worst := ""
	for i, s := range v.Servers {
		c := of[s.Country]
		c.servers++
		if v.RTT[i] < 0 || v.RTT[i] >= limit {
			continue
		}
		if c.near++; !asked[i] {
			c.missed++
		}
		if of[worst] == nil || c.missed > of[worst].missed {
			worst = s.Country
		}
	}
	c := of[worst]
	if c == nil || c.missed == 0 {
		return ""
	}
	return fmt.Sprintf(", missed %d of %d near in %s, asked %d of %d servers, %d replies", c.missed, c.near, worst, c.asked, c.servers, c.replies)
}

func findLabelled(t *testing.T) sim.Labels {
	switch *findLabels {
	case "right":
		return func(list []discovery.Server, _ uint64) []discovery.Server { return list }
	case "wrong24":
		return sim.Mislabelled(0.1, 24)
	case "wrong32":
		return sim.Mislabelled(0.1, 32)
	case "wrong16":
		return sim.Mislabelled(0.1, 16)
	case "none":
		return sim.Unlabelled
	}
	t.Fatalf("no labels %q", *findLabels)
	return nil
}

// finds sums up searches.
type finds struct {
	percent, ideal, recall, probes  []float64
	claims, broken, shown, shifts   int
	expected, left, excess, within5 float64
	// In farther searches a server is over 5 ms from the truly last one. The worst search's servers
	// are so many ms over the truth in the mean.
	farther int
	worst   float64
}

func (f *finds) add(r sim.Run) {
	f.percent = append(f.percent, 100*float64(r.Probes)/float64(r.Listed))
	f.probes = append(f.probes, float64(r.Probes))
	f.recall = append(f.recall, r.Recall)
	f.excess += r.Excess
	f.within5 += r.Within
	if r.Within < 1 {
		f.farther++
	}
	f.worst = max(f.worst, r.Excess)
	if r.Summary.Shift != 0 {
		f.shifts++
	}
	c := r.Summary.Claim
	if c.High == 0 {
		return
	}
	f.claims++
	if r.Recall < c.Low {
		f.broken++
	}
	if r.Recall < math.Floor(c.Low*100)/100 {
		f.shown++
	}
	f.expected += float64(r.Found) * (1/c.Low - 1)
	f.left += float64(r.Playable - r.Found)
}

func (f *finds) String() string {
	mean := func(of []float64) (m float64) {
		for _, x := range of {
			m += x / float64(len(of))
		}
		return m
	}
	slices.Sort(f.recall)
	slices.Sort(f.probes)
	n := float64(len(f.recall))
	poor, _ := slices.BinarySearch(f.recall, goodRecall)
	return fmt.Sprintf("%3.0f runs, %5.2f %% probed (%.2f would do), recall %.4f, worst eighth %.4f, worst %.4f, %d under 97 %%, claims %d: %d false, as displayed %d; "+
		"%.1f claimed missing, %.1f are; shifts %d; probes %.0f, p95 %.0f, excess %.2f, worst %.1f, within %.4f, farther %d",
		n, mean(f.percent), mean(f.ideal), mean(f.recall), mean(f.recall[:(len(f.recall)+7)/8]), f.recall[0], poor, f.claims, f.broken, f.shown,
		f.expected/float64(max(1, f.claims)), f.left/float64(max(1, f.claims)), f.shifts,
		mean(f.probes), f.probes[len(f.probes)*95/100], f.excess/n, f.worst, f.within5/n, f.farther)
}

// findWorld returns a world of a kind. Russia has three times css2007's servers, since a wide
// country is the hardest.
func findWorld(t *testing.T, kind string, seed uint64) (*sim.World, error) {
	spec, err := sim.NamedSpec("css2007", seed)
	if err != nil {
		return nil, err
	}
	spec.Servers = *findServers
	if spec.Places, err = findPlayers(strings.Split(*findPlaces, ",")); err != nil {
		return nil, err
	}
	for i := range spec.Mix {
		if spec.Mix[i].Country == "RU" {
			spec.Mix[i].Weight *= 3
		}
	}
	w := sim.Generate(spec)
	list := w.List()
	if *sweepServers != "" {
		real, err := sweepKind(kind).List()
		if err != nil {
			return nil, err
		}
		list = real(seed)
	}
	switch kind {
	case "css2007":
		return w, nil
	case "distance":
		return sim.DistanceWorld(list, w.Places, seed), nil
	case "cables":
		return sim.CableWorld(list, w.Places, seed), nil
	case "pairs":
		pairs, err := readPairs(*findPairs)
		if err != nil {
			return nil, err
		}
		return pairs.world(list, w.Places, seed), nil
	case "matrix":
		m := readMatrix(t, *findMatrix)
		return m.World(list, m.Draw(len(w.Places), sim.Anywhere, seed), seed), nil
	case "cities":
		m := readMatrix(t, *findMatrix)
		cities, err := worlds.Cities(m, *sweepCities)
		if err != nil {
			return nil, err
		}
		return cities.World(m, list, w.Places, seed), nil
	}
	return nil, fmt.Errorf("no kind of worlds %q", kind)
}

// hubAccess is the line of a player in a country's hub.
const hubAccess = 10 * time.Millisecond

// findPlayers returns places by their names, or a country's hub by its code.
func findPlayers(names []string) ([]sim.Place, error) {
	players := make([]sim.Place, len(names))
	for i, name := range names {
		known, err := sim.NamedPlaces(name)
		if err == nil {
			players[i] = known[0]
			continue
		}
		cities := sim.Cities()
		hub := slices.IndexFunc(cities, func(p sim.Place) bool { return p.Country == name })
		if hub < 0 {
			return nil, err
		}
		players[i] = cities[hub]
		players[i].Name, players[i].Access = name, hubAccess
	}
	return players, nil
}

// countryPairs are the mean, the deviation and the least of the round trips between countries, in
// ms.
type countryPairs map[[2]string][3]float64

func readPairs(path string) (countryPairs, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		return nil, err
	}
	pairs := make(countryPairs)
	for _, row := range rows[1:] {
		var v [3]float64
		if row[4] == "" || row[5] == "" {
			continue // fewer than two pings
		}
		for i, column := range []int{3, 4, 5} {
			if v[i], err = strconv.ParseFloat(row[column], 64); err != nil {
				return nil, err
			}
		}
		pairs[[2]string{row[0], row[1]}], pairs[[2]string{row[1], row[0]}] = v, v
	}
	return pairs, nil
}

// Shares of the variance between a country's servers that its networks have in common: an AS seen
// from everywhere, from one place, a /16 and a /24.
const (
	pairsAS    = 0.5
	pairsRoute = 0.35
	pairs16    = 0.1
	pairs24    = 0.05
	// maxPairs is the largest deviation that counts, as a share of the mean, because a few recorded
	// pings took minutes. In wide countries it is pairsWide.
	maxPairs  = 0.08
	pairsWide = 0.2
	// pairsDirect of a wide country's ASes are reached by a way that is pairsShorter times the others',
	// as those of Russia by land from East Asia.
	pairsDirect  = 0.15
	pairsShorter = 0.65
	// minPairs bounds how near one of a country's networks is, as a share of the mean.
	minPairs = 0.6
)

// wideCountries have networks that are far from each other.
var wideCountries = []string{"RU", "US", "CA", "CN", "BR", "AU", "IN", "KZ"}

// world returns a world with the recorded round trips between countries. How they vary between a
// country's networks is made up.
func (c countryPairs) world(list []discovery.Server, places []sim.Place, seed uint64) *sim.World {
	draw := func(what string) float64 { return rand.New(rand.NewPCG(seed, hash(what))).NormFloat64() }
	known := make(map[string]float64)
	normal := func(what string) float64 {
		if _, ok := known[what]; !ok {
			known[what] = draw(what)
		}
		return known[what]
	}
	sites := &sim.Siting{RNG: rand.New(rand.NewPCG(seed, 0x70616972)), Pool: func(string) []int { return []int{0} }}
	return sim.Settle(list, places, seed, sites, func(place, _ int, s discovery.Server) float64 {
		p := places[place]
		v, ok := c[[2]string{p.Country, s.Country}]
		if !ok {
			v = [3]float64{200, 60, 30}
		}
		as := fmt.Sprint(s.Country, s.ASN)
		z := math.Sqrt(pairsAS)*normal(as) + math.Sqrt(pairsRoute)*normal(as+p.Name) +
			math.Sqrt(pairs16)*normal(as+sim.Network(s, 16).String()) + math.Sqrt(pairs24)*normal(sim.Network(s, 24).String())
		mean, most := v[0], maxPairs
		if s.Country != p.Country && slices.Contains(wideCountries, s.Country) {
			most = pairsWide
			if normal("way "+as+p.Name) < math.Sqrt2*math.Erfinv(2*pairsDirect-1) {
				mean *= pairsShorter
			}
		}
		deviation := min(v[1], most*mean)
		return max(mean+deviation*z, minPairs*v[0], 2) + float64(p.Access)/float64(time.Millisecond)
	})
}
