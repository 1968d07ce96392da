package coordinate

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
)

// TestWorlds checks two short cuts: leaving out what is out of reach, and taking long ways down the
// tree in one step. The best address must be as good as in a world where every node is drawn.
func TestWorlds(t *testing.T) {
	const worlds = 1500
	for _, test := range []struct {
		name     string
		networks int // in a country
		perBlock int // addresses
		bold     bool
	}{{"lone", 60, 1, false}, {"lone, bold", 60, 1, true}, {"large", 8, 12, false}, {"large, bold", 8, 12, true}} {
		t.Run(test.name, func(t *testing.T) {
			var list []discovery.Server
			for c := range 6 {
				for n := range test.networks {
					for i := range test.perBlock {
						addr := netip.AddrFrom4([4]byte{byte(20 + c), byte(n), byte(i / 3), byte(i)})
						list = append(list, discovery.Server{
							Addr:    netip.AddrPortFrom(addr, 27960),
							Country: string([]byte{'A', byte('A' + c)}),
							ASN:     uint32(1 + n + c/2*1000),
						})
					}
				}
			}
			tree := topology.New(list)
			criteria := selection.Criteria{By: selection.Mean}
			c := newCandidates(tree, selection.NewFilter(selection.Servers{List: list}, criteria), newQuestions(1, len(list), 0))
			e := newEstimator(c, newPredictor(tree, 1), criteria.Objective([]string{"ann"}), nil)
			for server := 0; server < len(list); server += 29 {
				e.measured(c.at(tree.Of(server)), 0, float64(20+list[server].Addr.Addr().As4()[0]*3+byte(server%7)))
			}
			p := newPosterior(e, rand.New(rand.NewPCG(1, 2)), priorVariances())
			p.now.astray = [topology.Levels]float64{0, 0, 0, 0.05, 0.05, 0.05}
			limit := e.value(e.lowest) + 0.5
			var quick, plain []float64
			for range worlds {
				_, lowest := p.sample(limit, test.bold, 5, map[topology.Node]bool{})
				quick = append(quick, min(lowest, limit))
				plain = append(plain, min(p.plainly(test.bold, limit), limit))
			}
			slices.Sort(quick)
			slices.Sort(plain)
			// Kolmogorov and Smirnov's distance of the two. By chance it exceeds this in one of
			// 1,000.
			if apart, most := distance(quick, plain), 1.95*math.Sqrt(2.0/worlds); apart > most {
				t.Errorf("the best of worlds differ by %.3f, at most %.3f by chance; medians %.3f and %.3f", apart,
					most, quick[worlds/2], plain[worlds/2])
			}
			if quick[0] == limit || quick[worlds*9/10] == quick[worlds/10] {
				t.Errorf("the limit decides: from %.3f to %.3f", quick[0], quick[worlds-1])
			}
		})
	}
}

// distance returns the largest difference between the shares of two sorted samples under a value.
func distance(a, b []float64) (most float64) {
	for _, x := range slices.Concat(a, b) {
		i, _ := slices.BinarySearch(a, math.Nextafter(x, math.Inf(1)))
		j, _ := slices.BinarySearch(b, math.Nextafter(x, math.Inf(1)))
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}

// plainly draws every node of a world one after the other, except in a bold one those out of reach
// of a limit. It returns the lowest value of an address that may be asked for.
func (p *posterior) plainly(bold bool, limit float64) float64 {
	w := world{posterior: p, bold: bold, cut: limit}
	lowest := math.Inf(1)
	nearer, parts := false, topology.Node(0) // parts ends where an AS decides for all unknown nodes below
	for node := topology.Root; int(node) < p.tree.Nodes(); node++ {
		l, e := p.tree.Level(node), p.find(node)
		w.spreads[l] = p.before[l]
		if e != nil {
			w.spreads[l] = e.spread
		}
		if l == topology.Country {
			w.known, w.clean = nil, nil
			if e != nil {
				w.known, w.lowest, w.bandwidth = p.known[e.known:e.knownEnd], e.lowest, e.bandwidth
			}
			for i := range p.countries {
				if s := &p.countries[i]; s.at == node && s.isClean {
					w.clean = &s.cleanValue
				}
			}
		}
		if node >= parts {
			nearer = w.nearer()
			if parts = node + 1; e == nil && p.tree.End(node)-node == topology.Node(topology.Address-l)+1 {
				parts = p.tree.End(node)
			}
		}
		switch {
		case l == topology.List:
			w.values[l] = w.drawAround(0, 1/vague, e)
		case e != nil:
			w.values[l] = w.drawAround(w.values[l-1], w.spreads[l-1], e)
		case l == topology.Country:
			w.values[l] = w.normal(w.values[l-1], w.spreads[l-1])
		default:
			w.values[l] = w.normal(w.unknown(node, l, nearer))
		}
		value := w.values[l]
		if l == topology.Country && w.clean != nil {
			value = min(value, *w.clean)
		}
		if bold && l > topology.List && l < topology.Address && node+1 == parts && w.outOfReach(node, l, value) {
			node = p.tree.End(node) - 1
			continue
		}
		if l == topology.Address && p.estimator.candidates.open(node) {
			lowest = min(lowest, w.values[l])
		}
	}
	return lowest
}
