package sim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// kind is the sort of company that an AS belongs to. It decides how its servers cluster.
type kind struct {
	// blocks and subnets are the concentrations of the Chinese restaurant processes by which
	// servers choose a /16, and in it a /24. More is more scattered.
	blocks, subnets float64
	// again is the probability that another server runs at the same address.
	again float64
	// purity is the share of a /16 that stands in one city.
	purity float64
	// accessMin and accessMax bound the delay that the server's line adds, in ms.
	accessMin, accessMax float64
}

var (
	hosting = kind{blocks: 0.8, subnets: 6, again: 0.42, purity: 0.97, accessMin: 0.4, accessMax: 3}
	isp     = kind{blocks: 1, subnets: 200, again: 0.12, purity: 0.85, accessMin: 6, accessMax: 35}
	small   = kind{blocks: 0.5, subnets: 2, again: 0.3, purity: 0.95, accessMin: 1, accessMax: 12}
)

// as is an autonomous system: one network's servers, and the cities of its sites.
type as struct {
	number  uint32
	country string
	kind    kind
	servers int
	sites   []int // metros, its home first
	weights []float64
	abroad  bool // it has sites in other countries
}

// These are Zipf's exponents: one for the servers of the ASes in a country, one for the growth of
// the number of ASes with its servers.
const (
	asSkew   = 1.05
	asGrowth = 0.72
	// An AS with fewer than pi servers has just a /24 in a block that many share.
	pi = 4
)

// newNetwork spreads the servers of a spec over countries and ASes.
func newNetwork(spec Spec, rng *rand.Rand) []as {
	counts := apportion(weightsOf(spec.Mix), spec.Servers)
	grown := make([]float64, len(counts))
	for i, n := range counts {
		grown[i] = math.Pow(float64(n), asGrowth)
	}
	systems := apportion(grown, spec.ASes)
	var network []as
	for i, share := range spec.Mix {
		n := min(max(1, systems[i]), counts[i])
		for rank, servers := range zipf(counts[i], n, asSkew) {
			network = append(network, newAS(share.Country, servers, rank, rng))
		}
	}
	goAbroad(network, rng)
	for i, number := range rng.Perm(len(network)) {
		network[i].number = uint32(1000 + 29*number)
	}
	return network
}

// newAS returns the AS of a country that is rank-th in size, from 0.
func newAS(country string, servers, rank int, rng *rand.Rand) as {
	a := as{country: country, servers: servers, kind: small}
	switch {
	case servers >= pi && rng.Float64() < 0.55:
		a.kind = hosting
	case servers >= pi:
		a.kind = isp
	}
	var sites []int
	for i, m := range metros {
		if m.country == country {
			sites = append(sites, i)
		}
	}
	shuffleByWeight(sites, rng)
	if a.kind != isp {
		sites = sites[:min(len(sites), 1+rng.IntN(2))]
	}
	a.addSites(sites, 1)
	return a
}

func (a *as) addSites(sites []int, scale float64) {
	for i, m := range sites {
		weight := metros[m].weight
		if a.kind != isp {
			weight = 1 / float64(i+1)
		}
		a.sites = append(a.sites, m)
		a.weights = append(a.weights, scale*weight)
	}
}

// The largest hosters have sites abroad too.
const (
	multinationals = 15
	sitesAbroad    = 4
	abroadScale    = 0.25
)

func goAbroad(network []as, rng *rand.Rand) {
	hosters := make([]int, 0, len(network))
	for i, a := range network {
		if a.kind == hosting {
			hosters = append(hosters, i)
		}
	}
	slices.SortStableFunc(hosters, func(i, j int) int { return cmp.Compare(network[j].servers, network[i].servers) })
	abroad := []string{"Amsterdam", "London", "Frankfurt", "Paris", "New York", "Washington", "Chicago", "Dallas",
		"Los Angeles", "San Jose", "Stockholm", "Singapore", "Tokyo", "Sydney"}
	for _, i := range hosters[:min(multinationals, len(hosters)/8)] {
		a := &network[i]
		a.abroad = true
		for _, c := range rng.Perm(len(abroad))[:sitesAbroad] {
			a.addSites([]int{metroIndex(abroad[c])}, abroadScale)
		}
	}
}

// site draws one of the metros that the AS is in.
func (a *as) site(rng *rand.Rand) int { return a.sites[weighted(a.weights, rng)] }

// weighted draws an index with these weights.
func weighted(weights []float64, rng *rand.Rand) int {
	at := rng.Float64() * sum(weights)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// shuffleByWeight puts metros in a random order that tends to start with the heavy ones.
func shuffleByWeight(sites []int, rng *rand.Rand) {
	key := make(map[int]float64, len(sites))
	for _, m := range sites {
		key[m] = rng.ExpFloat64() / metros[m].weight
	}
	slices.SortFunc(sites, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
}

// apportion splits n by weight, at least one to each while there are enough, the remainder by the
// largest fraction.
func apportion(weights []float64, n int) []int {
	total := sum(weights)
	counts, fraction, left := make([]int, len(weights)), make([]float64, len(weights)), n
	order := make([]int, len(weights))
	for i, w := range weights {
		exact := w / total * float64(max(0, n-len(weights)))
		counts[i] = int(exact)
		if i < n {
			counts[i]++
		}
		fraction[i], order[i] = exact-math.Floor(exact), i
		left -= counts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fraction[b], fraction[a]) })
	for _, i := range order[:min(max(0, left), len(order))] {
		counts[i]++
	}
	return counts
}

func sum(weights []float64) (total float64) {
	for _, w := range weights {
		total += w
	}
	return total
}

// zipf splits n over ranks with weights 1/rank^skew, at least one each.
func zipf(n, ranks int, skew float64) []int {
	weights := make([]float64, ranks)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -skew)
	}
	return apportion(weights, n)
}

func weightsOf(mix []Share) []float64 {
	weights := make([]float64, len(mix))
	for i, share := range mix {
		weights[i] = share.Weight
	}
	return weights
}
