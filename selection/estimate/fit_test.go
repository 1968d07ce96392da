package estimate

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/discovery"
)

// These flags fit the model's numbers again to measured round trips. The matrix is in ms, one row a
// line. The other file has each row's country at the beginning of its line.
var (
	fitMatrix    = flag.String("fit-matrix", "", "round trips to fit the model to, in ms")
	fitCountries = flag.String("fit-countries", "", "the country of each of the matrix's rows")
)

// trial is a guest and players, as rows of the matrix.
type trial struct {
	guest   int
	players []int
}

func TestFit(t *testing.T) {
	if *fitMatrix == "" {
		t.Skip("-fit-matrix names no file")
	}
	rtts, places := readRoundTrips(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var trials []trial
	for range 600 {
		perm := rng.Perm(len(places))
		one := trial{guest: perm[0]}
		rest := perm[1:]
		n := []int{1, 3, 7}[rng.IntN(3)]
		if rng.IntN(2) == 0 { // somebody of the same country, if there is anybody
			for _, i := range rest {
				if places[i].Country == places[one.guest].Country {
					one.players = append(one.players, i)
					break
				}
			}
		}
		for _, i := range rest {
			if len(one.players) < n && (len(one.players) == 0 || i != one.players[0]) {
				one.players = append(one.players, i)
			}
		}
		trials = append(trials, one)
	}
	loss := func(m model) float64 {
		sum, n := 0.0, 0.0
		for _, one := range trials {
			players := make([]Place, len(one.players))
			for i, p := range one.players {
				players[i] = places[p]
			}
			e := m.estimator(places[one.guest], players, nil)
			for server := range places {
				if server == one.guest {
					continue
				}
				seen := make([]time.Duration, len(one.players))
				for i, p := range one.players {
					seen[i] = duration(rtts[p][server])
				}
				got := e.Estimate(places[server].Country, seen)
				off, sd := rtts[one.guest][server]-discovery.MS(got.RTT), max(0.5, discovery.MS(got.Error))
				// Student's t of 3 degrees, because some ways are far out
				sum += math.Log(sd) + 2*math.Log(1+off*off/(3*sd*sd))
				n++
			}
		}
		return sum / n
	}
	m := fitted
	numbers := []*float64{&m.base, &m.perKm, &m.offBase, &m.offPerKm, &m.nearby, &m.fades}
	descend(t, &m, numbers, loss)
}

// descend changes numbers of a model one after the other until its loss falls no more.
func descend(t *testing.T, m *model, numbers []*float64, loss func(model) float64) {
	best := loss(*m)
	t.Logf("%.4f %+v", best, *m)
	for _, step := range []float64{1.5, 1.2, 1.2, 1.08, 1.03, 1.03} {
		for _, x := range numbers {
			for _, by := range []float64{step, 1 / step} {
				for {
					before := *x
					*x *= by
					l := math.Inf(1)
					if m.nearby < 0.995 {
						l = loss(*m)
					}
					if l >= best {
						*x = before
						break
					}
					best = l
				}
			}
		}
		t.Logf("%.4f %+v", best, *m)
	}
}

// readRoundTrips reads the two files.
func readRoundTrips(t *testing.T) (rtts [][]float64, places []Place) {
	rtts = readMatrix(t, *fitMatrix)
	text, err := os.ReadFile(*fitCountries)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		places = append(places, Place{Country: line[:2]})
	}
	if len(places) != len(rtts) {
		t.Fatalf("%d countries for %d rows", len(places), len(rtts))
	}
	return rtts, places
}

// fitLandmarks fits the numbers for landmarks to half of the hosts of a matrix, as servers, too.
// bench/experiments/guest-estimates.md measures the other half.
var fitLandmarks = flag.String("fit-landmarks", "", "round trips between hosts without places, in ms")

func TestFitLandmarks(t *testing.T) {
	if *fitLandmarks == "" {
		t.Skip("-fit-landmarks names no file")
	}
	rtts := readMatrix(t, *fitLandmarks)
	hosts := rand.New(rand.NewPCG(4, 9)).Perm(len(rtts))[:len(rtts)/2]
	rng := rand.New(rand.NewPCG(1, 77))
	const players, landmarks = 4, 8
	var trials [][]int // a guest, players, landmarks, servers
	for len(trials) < 300 {
		rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		from := rtts[hosts[0]]
		mate := slices.IndexFunc(hosts, func(h int) bool { return from[h] >= 3 && from[h] < 20 })
		if mate > 0 && from[hosts[2]] >= 20 && from[hosts[3]] >= 20 && from[hosts[4]] >= 20 {
			hosts[1], hosts[mate] = hosts[mate], hosts[1]
			trials = append(trials, slices.Clone(hosts))
		}
	}
	loss := func(m model) float64 {
		sum, n := 0.0, 0.0
		for _, one := range trials {
			guest, servers := rtts[one[0]], one[1+players+landmarks:]
			seen := func(machine int) (all []time.Duration) {
				for _, p := range one[1 : 1+players] {
					all = append(all, duration(rtts[p][machine]))
				}
				return all
			}
			var known []Landmark
			for _, l := range one[1+players : 1+players+landmarks] {
				known = append(known, Landmark{Guest: duration(guest[l]), Players: seen(l)})
			}
			e := m.estimator(Place{Country: "X1"}, []Place{{Country: "X1"}, {Country: "X2"}, {Country: "X3"}, {Country: "X4"}}, known)
			for _, server := range servers {
				got := e.Estimate("", seen(server))
				off, sd := guest[server]-discovery.MS(got.RTT), max(0.5, discovery.MS(got.Error))
				sum += math.Log(sd) + 2*math.Log(1+off*off/(3*sd*sd))
				n++
			}
		}
		return sum / n
	}
	m := fitted
	k := &m.kinship
	descend(t, &m, []*float64{&k.offset, &k.weights, &k.local, &k.reach, &k.doubt}, loss)
}

func readMatrix(t *testing.T, file string) (rtts [][]float64) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var row []float64
		for field := range strings.FieldsSeq(line) {
			ms, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, ms)
		}
		rtts = append(rtts, row)
	}
	return rtts
}
