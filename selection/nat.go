package selection

import (
	"cmp"
	"net/netip"
	"slices"

	"muster/discovery"
)

// NATGroups groups players by the public address they come from: game servers that
// limit how often they answer count by that, and take a whole household or LAN
// party for one asker (ioquake3 lets an address ask ten times, then once a
// second; DarkPlaces once a second at all). The groups are of indexes into the
// addresses, each in order, and come in the order of their first players. A
// player whose address is not known is a site alone.
func NATGroups(players []netip.Addr) [][]int {
	var sites [][]int
	at := map[netip.Addr]int{}
	for i, addr := range players {
		key := publicOf(addr)
		n, known := at[key]
		if !known || !key.IsValid() {
			n = len(sites)
			at[key] = n
			sites = append(sites, nil)
		}
		sites[n] = append(sites[n], i)
	}
	return sites
}

// publicOf is what a server counts by: of an IPv6 address the network, which
// most counts as one.
func publicOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		return netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a
}

// Share deals servers out to the players of one site: each server goes to one
// player, and all get the same number, or one more. Neighbours in the network
// (country, origin AS, address) go to different players, so that each measures
// some of every cluster, and a cluster's distance is known however the list is
// cut. Every share is in the order of the list.
func Share(servers []discovery.Server, players int) [][]int {
	shares := make([][]int, max(players, 1))
	order := make([]int, len(servers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := servers[i], servers[j]
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN), a.Addr.Compare(b.Addr))
	})
	for n, server := range order {
		player := n % len(shares)
		shares[player] = append(shares[player], server)
	}
	for _, share := range shares {
		slices.Sort(share)
	}
	return shares
}
