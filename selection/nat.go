package selection

import "net/netip"

// NATGroups groups players by the public address that they query from. Game servers that limit
// their answers count by that address, and take a whole household or LAN party for one client.
// Ioquake3 lets an address ask ten times, then once a second. DarkPlaces lets it ask once a second
// at all. The groups hold indexes into the addresses in ascending order, and are in the order of
// their first players. A player with an unknown address is a group alone.
func NATGroups(players []netip.Addr) [][]int {
	var groups [][]int
	at := map[netip.Addr]int{}
	for i, addr := range players {
		key := publicOf(addr)
		n, known := at[key]
		if !known || !key.IsValid() {
			n = len(groups)
			at[key] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}

// oneCustomer is the prefix of IPv6 that providers give to one customer.
const oneCustomer = 64

// publicOf returns the address or prefix that a server counts by: for an IPv6 address its /64,
// which most servers count as one.
func publicOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		return netip.PrefixFrom(a, oneCustomer).Masked().Addr()
	}
	return a
}
