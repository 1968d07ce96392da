package calibrated

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
)

// cluster is a group of servers that count as equally far.
type cluster struct {
	members []int // in the order of the list
	count   int   // how many samples
	// waiting counts the samples under way; rtts holds those of the others.
	waiting int
	rtts    []time.Duration
	// recall is what is remembered and not yet known to be wrong.
	recall recall
	// retry is how many more members to ask if all are silent.
	retry int
	// split tells to split this cluster if its samples differ too much.
	split bool
	rtt   time.Duration // unknownRTT until it is settled, and if all are silent
}

// unknownRTT is a value that ranks a cluster last.
const unknownRTT = time.Duration(math.MaxInt64)

// key is what the servers of a cluster share.
type key struct {
	country string
	asn     uint32
	prefix  netip.Prefix
}

// group puts members with the same key into a group each, in the order of first
// appearance.
func group(members []int, of func(int) key) [][]int {
	index := make(map[key]int)
	var groups [][]int
	for _, i := range members {
		k := of(i)
		at, ok := index[k]
		if !ok {
			at = len(groups)
			index[k] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// clusters returns the clusters of a strategy. The prefix replaces an unknown country
// or AS.
//
//   - By country it is each country, if refined each prefix of it.
//   - By country and prefix it is each prefix with more than ClusterMembers servers
//     and more than ClusterShare of its country, and the rest of each country
//     (2008, Algorithm 1, step 2).
//   - By AS it is each origin AS, across countries (NOSSDAV 2008, Algorithm 1,
//     step 2).
func clusters(strategy discovery.Strategy, servers []discovery.Server, o discovery.PlanOptions) [][]int {
	prefix := func(i int) netip.Prefix { return o.Cluster.Of(servers[i].Addr.Addr()) }
	all := make([]int, len(servers))
	inPrefix, inCountry := make(map[key]int), make(map[string]int)
	for i, s := range servers {
		all[i] = i
		if strategy == discovery.ByCountryPrefix {
			inPrefix[key{country: s.Country, prefix: prefix(i)}]++
			inCountry[s.Country]++
		}
	}
	return group(all, func(i int) key {
		s := servers[i]
		switch {
		case strategy == discovery.ByAS && s.ASN != 0:
			return key{asn: s.ASN}
		case strategy == discovery.ByAS:
			return key{prefix: prefix(i)}
		case strategy == discovery.ByCountry && s.Country != "" && !o.Refine:
			return key{country: s.Country}
		}
		k := key{country: s.Country, prefix: prefix(i)}
		if n := inPrefix[k]; strategy == discovery.ByCountryPrefix && s.Country != "" &&
			(n <= o.ClusterMembers || float64(n) <= o.ClusterShare*float64(inCountry[s.Country])) {
			k.prefix = netip.Prefix{}
		}
		return k
	})
}

// median returns the middle of the RTTs, the mean of both if there are two.
func median(rtts []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(rtts))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread returns the distance between the 20th and the 80th percentile. Each is the
// least value with at least that share of all at or under it.
func spread(rtts []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(rtts))
	rank := func(share float64) time.Duration {
		return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
	}
	return rank(0.8) - rank(0.2)
}
