package countries

import (
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// These flags compare ways with measured round trips. The matrix is in ms, one row a line. The other file
// has each row's country at the beginning of its line.
var (
	fitMatrix = flag.String("fit-matrix", "", "round trips to compare ways with, in ms")
	fitPlaces = flag.String("fit-places", "", "the country of each of the matrix's rows")
)

// TestFit tells how far ways are off, for each country of players and of servers as a whole, and which
// numbers would fit best.
func TestFit(t *testing.T) {
	if *fitMatrix == "" {
		t.Skip("-fit-matrix names no file")
	}
	lines := func(file string) []string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	var of []string
	for _, line := range lines(*fitPlaces) {
		of = append(of, line[:2])
	}
	type error struct{ km, ms, own float64 } // of a server, and what its country explains
	var all []error
	ways := map[string][]Way{}
	for i, line := range lines(*fitMatrix) {
		if ways[of[i]] == nil {
			ways[of[i]] = Ways(of[i], of)
		}
		for j, ms := range numbers(strings.Fields(line)) {
			if w := ways[of[i]][j]; i != j && ms > 0 && w.MS > 0 {
				all = append(all, error{(w.MS - base) / perKm, ms, math.Hypot(w.Off, w.Spread)})
			}
		}
	}
	best, fit := math.Inf(1), [2]float64{}
	for k := 0.009; k < 0.02; k += 0.0005 {
		rest := make([]float64, len(all))
		for i, e := range all {
			rest[i] = e.ms - k*e.km
		}
		slices.Sort(rest)
		b, sum := rest[len(rest)/2], 0.0
		for _, x := range rest {
			sum += math.Abs(x - b)
		}
		if sum < best {
			best, fit = sum, [2]float64{b, k}
		}
	}
	t.Logf("least absolute errors: base %.1f, perKm %.4f", fit[0], fit[1])
	least := 0.0
	for _, most := range []float64{1000, 2500, 5000, 10000, 15000, 40000} {
		var off, z []float64
		for _, e := range all {
			if e.km >= least && e.km < most {
				d := e.ms - base - perKm*e.km
				off, z = append(off, math.Abs(d)), append(z, math.Abs(d)/e.own)
			}
		}
		slices.Sort(off)
		slices.Sort(z)
		if n := len(off); n > 0 {
			t.Logf("%5.0f to %5.0f km: %5d ways, off by %3.0f, p68 %3.0f, p90 %3.0f; in deviations %.2f, %.2f, %.2f", least, most, n,
				off[n/2], off[68*n/100], off[9*n/10], z[n/2], z[68*n/100], z[9*n/10])
		}
		least = most
	}
}
