package selection

import "net/netip"

// NATGroups groups players by the public address they come from: game servers that
// limit how often they answer count by that, and take a whole household or LAN
// party for one asker (ioquake3 lets an address ask ten times, then once a
// second; DarkPlaces once a second at all). The groups are of indexes into the
// addresses, each in order, and come in the order of their first players. A
// player whose address is not known is a group alone.
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

// publicOf is what a server counts by: of an IPv6 address the /64, which most count
// as one.
func publicOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		return netip.PrefixFrom(a, oneCustomer).Masked().Addr()
	}
	return a
}
