package adaptive_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/adaptive"
	"muster/discovery/plan/topology"
	"muster/internal/sim"
)

// TestFit fits the fitted numbers of the package again, and reports how far today's are
// off:
//
//	go test ./discovery/plan/adaptive -run Fit -v -fit 3 [-fit-matrix planetlab.txt]
var (
	fitWorlds = flag.Int("fit", 0, "fit on so many worlds of each kind")
	fitMatrix = flag.String("fit-matrix", "", "and on worlds made of the measured round trips in this file")
)

// fitSeed is the first world's seed. No benchmark and no tuning uses seeds from here
// on.
const fitSeed uint64 = 21000

const ms = time.Millisecond

// fitLimits are limits that players set, and that a search for the nearest reaches.
var fitLimits = []time.Duration{50 * ms, 100 * ms, 200 * ms}

func TestFit(t *testing.T) {
	if *fitWorlds == 0 {
		t.Skip("no -fit")
	}
	var all pairs
	var runs runs
	fmt.Println("What today's table loses over the fit, and what the fit loses, in millinats a pair:")
	for _, kind := range fitKinds(t) {
		var own pairs
		for _, w := range kind.worlds {
			for place := range w.Places {
				v := w.Vantage(place)
				own.observe(w.Seed<<8+uint64(place), w, place, v)
				runs.run(t, v)
				runs.tail(w, place)
			}
		}
		own.printExcess(kind.name, own.fit())
		all.add(&own)
	}
	fitted := all.fit()
	all.printExcess("all", fitted)
	printTables(fitted)
	runs.print()
}

// kind is a kind of worlds.
type kind struct {
	name   string
	worlds []*sim.World
}

func fitKinds(t *testing.T) []kind {
	et, css, distance, matrix := kind{name: "et2007"}, kind{name: "css2007"}, kind{name: "distance"}, kind{name: "matrix"}
	for seed := fitSeed; seed < fitSeed+uint64(*fitWorlds); seed++ {
		for _, k := range []*kind{&et, &css} {
			spec, err := sim.NamedSpec(k.name, seed)
			if err != nil {
				t.Fatal(err)
			}
			k.worlds = append(k.worlds, sim.Generate(spec))
		}
		last := css.worlds[len(css.worlds)-1]
		distance.worlds = append(distance.worlds, sim.DistanceWorld(last.List(), last.Places, seed))
	}
	kinds := []kind{et, css, distance}
	if *fitMatrix == "" {
		return kinds
	}
	file, err := os.Open(*fitMatrix)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := sim.ReadMatrix(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range css.worlds {
		hosts := rand.New(rand.NewPCG(w.Seed, 1)).Perm(len(m))[:len(w.Places)]
		matrix.worlds = append(matrix.worlds, m.World(w.List(), hosts, w.Seed))
	}
	return append(kinds, matrix)
}

// pairs counts pairs of servers that have just a level in common, by level and by the
// column of the first: all, and those with the second under the limit.
type pairs [topology.Levels][columns]struct{ n, near float64 }

// The columns are finer than the table's, so that its own fit the steps between.
const (
	columns     = 600
	firstColumn = -1.0
	columnWidth = 0.005
	perLevel    = 4000 // pairs of a level, from each place
)

func (p *pairs) add(o *pairs) {
	for l := range p {
		for c := range p[l] {
			p[l][c].n += o[l][c].n
			p[l][c].near += o[l][c].near
		}
	}
}

func (p *pairs) observe(seed uint64, w *sim.World, place int, v *sim.Vantage) {
	rng, tree := rand.New(rand.NewPCG(seed, 1)), v.Topology()
	for l := topology.List; l < topology.Levels; l++ {
		for range perLevel {
			a := rng.IntN(len(v.Servers))
			servers := tree.Servers(tree.Above(tree.Of(a), l))
			b := int(servers[rng.IntN(len(servers))])
			if a == b || l < topology.Address && tree.Above(tree.Of(a), l+1) == tree.Above(tree.Of(b), l+1) || v.RTT[a] < 0 || v.RTT[b] < 0 {
				continue
			}
			x, lost1 := w.Sample(place, a, 0)
			y, lost2 := w.Sample(place, b, 1)
			if lost1 || lost2 {
				continue
			}
			for _, limit := range fitLimits {
				c := int((adaptive.Column(x, limit) - firstColumn) / columnWidth)
				at := &p[l][min(max(0, c), columns-1)]
				at.n++
				if y < limit {
					at.near++
				}
			}
		}
	}
}

// table is a likelihood table.
type table = [topology.Levels][len(adaptive.LikelihoodAt)]float64

// weights returns the shares of the table's columns in a fine one.
func weights(column int) (left int, share float64) {
	x := firstColumn + (float64(column)+0.5)*columnWidth
	right, _ := slices.BinarySearch(adaptive.LikelihoodAt[:], x)
	switch right {
	case 0:
		return 0, 0
	case len(adaptive.LikelihoodAt):
		return right - 2, 1
	}
	a, b := adaptive.LikelihoodAt[right-1], adaptive.LikelihoodAt[right]
	return right - 1, (x - a) / (b - a)
}

// fit returns the table of maximum likelihood for the pairs. A point between two
// columns mixes them, so expectation maximization finds it.
func (p *pairs) fit() table {
	fitted := adaptive.Likelihoods
	for l := range p {
		for range 300 {
			var near, n [len(adaptive.LikelihoodAt)]float64
			for c, at := range p[l] {
				left, share := weights(c)
				a, b := fitted[l][left], fitted[l][left+1]
				both := (1-share)*a + share*b
				ofNear, ofFar := (1-share)*a/both, (1-share)*(1-a)/(1-both)
				far := at.n - at.near
				near[left] += at.near * ofNear
				near[left+1] += at.near * (1 - ofNear)
				n[left] += at.near*ofNear + far*ofFar
				n[left+1] += at.near*(1-ofNear) + far*(1-ofFar)
			}
			for k := range near { // half a pair of each kind keeps them from 0 and 1
				fitted[l][k] = (near[k] + 0.5) / (n[k] + 1)
			}
		}
	}
	return fitted
}

// loss returns the mean log-loss of a level under a table, in millinats a pair.
func (p *pairs) loss(l int, t *table) float64 {
	sum, n := 0.0, 0.0
	for c, at := range p[l] {
		left, share := weights(c)
		both := (1-share)*t[l][left] + share*t[l][left+1]
		sum -= at.near*math.Log(both) + (at.n-at.near)*math.Log(1-both)
		n += at.n
	}
	return 1000 * sum / max(1, n)
}

func (p *pairs) printExcess(kind string, fitted table) {
	today := plain()
	fmt.Printf("%-9s", kind)
	for l, name := range adaptive.LevelNames {
		loss := p.loss(l, &fitted)
		fmt.Printf("  %s %.1f of %.0f", name, p.loss(l, &today)-loss, loss)
	}
	fmt.Println()
}

// plain returns today's table with its far half as it was fitted.
func plain() table { return sharpened(1 / adaptive.FarSharpness) }

// sharpened returns today's table with the log-odds of its far half multiplied, except
// at the level of the list.
func sharpened(times float64) table {
	t := adaptive.Likelihoods
	for l := topology.Country; l < topology.Levels; l++ {
		for k, x := range adaptive.LikelihoodAt {
			if odds := math.Pow(t[l][k]/(1-t[l][k]), times); x > 0 {
				t[l][k] = odds / (1 + odds)
			}
		}
	}
	return t
}

func printTables(fitted table) {
	today := plain()
	fmt.Printf("\nThe table as it is, with its far half not sharpened, and fitted:\n%-16s", "")
	for _, x := range adaptive.LikelihoodAt {
		fmt.Printf(" %8.3f", x)
	}
	fmt.Println()
	for l, name := range adaptive.LevelNames {
		for i, row := range [][len(adaptive.LikelihoodAt)]float64{adaptive.Likelihoods[l], today[l], fitted[l]} {
			fmt.Printf("%-8s %-7s", name, []string{"as is", "plain", "fitted"}[i])
			for _, v := range row {
				fmt.Printf(" %8.3g", v)
			}
			fmt.Println()
		}
	}
}

// runs collects what the plan met in worlds.
type runs struct {
	all, depth         []adaptive.Line // errors: of all against none, of a depth against all
	root, answers, far share
	claims             share
}

// share is a count and its total.
type share struct{ n, of float64 }

func (s *share) add(yes bool) {
	s.of++
	if yes {
		s.n++
	}
}

// run records what the adaptive plan learnt from a place.
func (r *runs) run(t *testing.T, v *sim.Vantage) {
	for _, rtt := range v.RTT {
		r.answers.add(rtt >= 0)
		if rtt >= 0 {
			r.root.add(rtt < 200*ms)
		}
	}
	for _, limit := range fitLimits[1:] {
		options, err := discovery.PlanOptions{MaxRTT: limit, Seed: fitSeed}.Complete(discovery.Adaptive)
		if err != nil {
			t.Fatal(err)
		}
		plan := adaptive.New(v.Topology(), options)
		results, _ := v.Replay(plan, sim.ReplayOptions{Run: fitSeed})
		all, depths := adaptive.Lines(plan)
		r.all = append(r.all, adaptive.Line{Shift: all.Shift, Small: all.Small - 1, Large: all.Large - 1})
		for _, d := range depths {
			r.depth = append(r.depth, adaptive.Line{Shift: d.Shift - all.Shift, Small: d.Small - all.Small, Large: d.Large - all.Large})
		}
		found, near := 0.0, 0.0
		for _, result := range results {
			if result.State == discovery.Answered && v.RTT[result.Server] < limit {
				found++
			}
		}
		for _, rtt := range v.RTT {
			if rtt >= 0 && rtt < limit {
				near++
			}
		}
		if claim := plan.Summary().Claim; claim.High > 0 && near > 0 {
			recall := found / near
			r.claims.add(claim.Low <= recall+1e-9 && recall <= claim.High+1e-9)
		}
	}
}

// tail counts the replies of near servers that look far.
func (r *runs) tail(w *sim.World, place int) {
	const clearly = 0.9 // a share of the limit
	for server, s := range w.Servers {
		if s.Silent || s.Refusing {
			continue
		}
		rtt, lost := w.Sample(place, server, 2)
		for _, limit := range fitLimits {
			if !lost && float64(w.RTT(place, server)) < clearly*float64(limit) {
				r.far.add(rtt >= limit)
			}
		}
	}
}

func (r *runs) print() {
	sd := func(lines []adaptive.Line, squared func(adaptive.Line) float64) float64 {
		sum := 0.0
		for _, l := range lines {
			sum += squared(l)
		}
		return math.Sqrt(sum / float64(len(lines)))
	}
	shift := func(l adaptive.Line) float64 { return l.Shift * l.Shift }
	slope := func(l adaptive.Line) float64 { return (l.Small*l.Small + l.Large*l.Large) / 2 }
	fmt.Printf("\n%-14s %8s %8s\n", "", "today", "fitted")
	for _, row := range []struct {
		name   string
		fitted float64
	}{
		{"rootShare", r.root.n / r.root.of}, {"answersPrior", r.answers.n / r.answers.of}, {"delayedShare", r.far.n / r.far.of},
		{"allShiftSD", sd(r.all, shift)}, {"allSlopeSD", sd(r.all, slope)}, {"depthShiftSD", sd(r.depth, shift)},
		{"depthSlopeSD", sd(r.depth, slope)},
	} {
		fmt.Printf("%-14s %8.3g %8.3g\n", row.name, adaptive.Fitted[row.name], row.fitted)
	}
	fmt.Printf("claims that held: %.1f %% of %.0f\n", 100*r.claims.n/r.claims.of, r.claims.of)
}
