package calibrated

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
)

// cluster is a group of servers that are taken to be equally far.
type cluster struct {
	members []int // in the order of the list
	// waiting is how many of the samples have not come back.
	waiting int
	rtts    []time.Duration // of the samples that did
	// recall is what is remembered and not yet known to be wrong.
	recall recall
	// retry is how many more members to ask if all are silent.
	retry int
	// split: this cluster is split if its samples differ too much.
	split bool
	rtt   time.Duration // unknownRTT until it is settled, and if all are silent
}

// unknownRTT ranks a cluster last.
const unknownRTT = time.Duration(math.MaxInt64)

// clusterKey is what the servers of a cluster share.
type clusterKey struct {
	country string
	asn     uint32
	prefix  netip.Prefix
}

// group puts members with the same key into a group each, in the order of first
// appearance.
func group(members []int, key func(int) clusterKey) [][]int {
	index := make(map[clusterKey]int)
	var groups [][]int
	for _, i := range members {
		k := key(i)
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

// all are the indices of a list.
func all(servers []discovery.Server) []int {
	indices := make([]int, len(servers))
	for i := range indices {
		indices[i] = i
	}
	return indices
}

// clusterByCountry makes a cluster of each country; where the country is not
// known the prefix stands for it.
func clusterByCountry(servers []discovery.Server, refine bool, bits discovery.Bits) [][]int {
	return group(all(servers), func(i int) clusterKey {
		k := clusterKey{country: servers[i].Country}
		if k.country == "" || refine {
			k.prefix = bits.Of(servers[i].Addr.Addr())
		}
		return k
	})
}

// clusterByCountryPrefix makes a cluster of each prefix that has more than so
// many servers and more than such a share of its country, and one of what is
// left of each country (2008, Algorithm 1, step 2).
func clusterByCountryPrefix(servers []discovery.Server, o discovery.PlanOptions) [][]int {
	key := func(i int) clusterKey {
		return clusterKey{country: servers[i].Country, prefix: o.Cluster.Of(servers[i].Addr.Addr())}
	}
	prefixes, countries := make(map[clusterKey]int), make(map[string]int)
	for i := range servers {
		prefixes[key(i)]++
		countries[servers[i].Country]++
	}
	return group(all(servers), func(i int) clusterKey {
		k := key(i)
		n := prefixes[k]
		if k.country != "" && (n <= o.ClusterMembers || float64(n) <= o.ClusterShare*float64(countries[k.country])) {
			k.prefix = netip.Prefix{}
		}
		return k
	})
}

// clusterByAS makes a cluster of each origin AS (NOSSDAV 2008, Algorithm 1,
// step 2); where it is not known the prefix stands for it.
func clusterByAS(servers []discovery.Server, bits discovery.Bits) [][]int {
	return group(all(servers), func(i int) clusterKey {
		k := clusterKey{asn: servers[i].ASN}
		if k.asn == 0 {
			k.prefix = bits.Of(servers[i].Addr.Addr())
		}
		return k
	})
}

// median is the middle of the RTTs, the mean of both if there are two.
func median(rtts []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(rtts))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread is the distance between the 20th and the 80th percentile.
func spread(rtts []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(rtts))
	return nearestRank(sorted, 0.8) - nearestRank(sorted, 0.2)
}

// nearestRank is a percentile of sorted values: the least that is at or over
// this share of them.
func nearestRank(sorted []time.Duration, share float64) time.Duration {
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}
