package rivals

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"muster/internal/sim"
)

// slicesOf names round trips between the same hosts, taken again and again, such as Seattle's 688
// slices (uofa-rzhu3/NetLatency-Data). They are in a file each, NAME_1 and so on, in seconds:
//
//	go -C bench test ./rivals -run TestSlices -v -timeout 0 -slices Seattle/SeattleData
var slicesOf = flag.String("slices", "", "round trips of the same hosts, one file after the other, by what their names begin with")

// TestSlices measures how long a choice and its measurements stay useful. Groups of four hosts
// choose among the others by one slice, and play in a later one.
func TestSlices(t *testing.T) {
	all := drifting(40, 30)
	groups := 50
	if *slicesOf != "" {
		all, groups = readSlices(t), 400
	}
	for _, how := range []struct {
		name   string
		choose func(g hostGroup, at int, rng *rand.Rand) int
	}{
		{"all measured", func(g hostGroup, at int, _ *rand.Rand) int { return g.best(all[at].mean) }},
		{"mean of ten slices", func(g hostGroup, at int, _ *rand.Rand) int {
			return g.best(func(g hostGroup, host int) (sum float64) {
				for _, m := range all[max(0, at-9) : at+1] {
					sum += m.mean(g, host)
				}
				return sum
			})
		}},
		{"half, vivaldi", func(g hostGroup, at int, rng *rand.Rand) int { return g.by(all[at], vivaldi, rng) }},
		{"half, dmfsgd", func(g hostGroup, at int, rng *rand.Rand) int { return g.by(all[at], dmfsgd, rng) }},
		{"half, the best seen", func(g hostGroup, at int, rng *rand.Rand) int { return g.by(all[at], nil, rng) }},
		{"at random", func(g hostGroup, _ int, rng *rand.Rand) int { return g.others[rng.IntN(len(g.others))] }},
	} {
		rng := rand.New(rand.NewPCG(7, 0x736c69636573))
		line := ""
		for _, later := range []int{0, 1, 10, 100} {
			if later >= len(all) {
				break
			}
			var regret []float64
			for range groups {
				at := rng.IntN(len(all) - later)
				g := drawHosts(len(all[at]), rng)
				m := all[at+later]
				regret = append(regret, m.mean(g, how.choose(g, at, rng))-m.mean(g, g.best(m.mean)))
			}
			line += fmt.Sprintf("  %3d later %5.0f / %5.0f", later, quantile(regret, 0.5), quantile(regret, 0.95))
			if how.name == "all measured" && later == 0 && quantile(regret, 1) > 0 {
				t.Errorf("who has measured all chooses %.1f ms worse than the best", quantile(regret, 1))
			}
		}
		t.Logf("%-20s%s ms", how.name, line)
	}
}

// slice holds the round trips between hosts at one time, in ms.
type slice sim.Matrix

// hostGroup is four hosts, and the others that they choose from.
type hostGroup struct{ players, others []int }

func drawHosts(hosts int, rng *rand.Rand) hostGroup {
	order := rng.Perm(hosts)
	return hostGroup{order[:4], order[4:]}
}

func (g hostGroup) best(mean func(g hostGroup, host int) float64) int {
	best := g.others[0]
	for _, host := range g.others {
		if mean(g, host) < mean(g, best) {
			best = host
		}
	}
	return best
}

func (m slice) mean(g hostGroup, host int) (sum float64) {
	for _, player := range g.players {
		sum += m[player][host] / float64(len(g.players))
	}
	return sum
}

// by chooses after each player has probed half of the others: by an estimate of the rest, or the
// best that all have probed.
func (g hostGroup) by(m slice, estimate estimator, rng *rand.Rand) int {
	var measured []edge
	asked := make(map[int]int)
	for _, player := range g.players {
		for _, i := range rng.Perm(len(g.others))[:len(g.others)/2] {
			measured = append(measured, edge{player, g.others[i], m[player][g.others[i]]})
			asked[g.others[i]]++
		}
	}
	if estimate == nil {
		return g.best(func(g hostGroup, host int) float64 {
			if asked[host] < len(g.players) {
				return 1e9
			}
			return m.mean(g, host)
		})
	}
	known := make(map[[2]int]float64)
	for _, e := range measured {
		known[[2]int{e.a, e.b}] = e.ms
	}
	of := estimate(len(m), measured, rng)
	return g.best(func(g hostGroup, host int) (sum float64) {
		for _, player := range g.players {
			if ms, ok := known[[2]int{player, host}]; ok {
				sum += ms
			} else {
				sum += of(player, host)
			}
		}
		return sum
	})
}

// drifting returns a few hosts on a line whose round trips change a little each time.
func drifting(hosts, times int) []slice {
	rng := rand.New(rand.NewPCG(3, 4))
	all := make([]slice, times)
	for at := range all {
		all[at] = make(slice, hosts)
		for i := range hosts {
			for j := range hosts {
				all[at][i] = append(all[at][i], 10+3*max(float64(i-j), float64(j-i))+5*rng.ExpFloat64())
			}
		}
	}
	return all
}

func readSlices(t *testing.T) (all []slice) {
	t.Helper()
	files, err := filepath.Glob(*slicesOf + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s*: %v", *slicesOf, err)
	}
	for n := 1; n <= len(files); n++ {
		text, err := os.ReadFile(*slicesOf + "_" + strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		var m slice
		for line := range strings.Lines(string(text)) {
			var row []float64
			for field := range strings.FieldsSeq(line) {
				seconds, err := strconv.ParseFloat(field, 64)
				if err != nil {
					t.Fatal(err)
				}
				row = append(row, 1000*seconds)
			}
			if len(row) > 0 {
				m = append(m, row)
			}
		}
		all = append(all, m)
	}
	return all
}
