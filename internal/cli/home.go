package cli

import (
	"net"
	"net/netip"
	"slices"
)

// atHome tells a neighbour in the network through which this machine reaches the
// internet: they share a public address. Other networks, such as a VPN's, say
// nothing of where somebody sits.
func atHome(addr netip.Addr) bool {
	out := sourceTowards(somewhere4)
	return out.IsValid() && isHomely(addr) && slices.ContainsFunc(cardOf(out), func(network netip.Prefix) bool {
		return network.Contains(addr.WithZone(""))
	})
}

// isHomely: behind a router addresses are private, or IPv6's, which servers count
// by network. Whoever has a public IPv4 address is counted by that.
func isHomely(addr netip.Addr) bool {
	return addr.IsPrivate() || addr.Is6() && addr.IsGlobalUnicast()
}

// cardOf are the networks of the interface with an address.
func cardOf(addr netip.Addr) []netip.Prefix {
	cards, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, card := range cards {
		addrs, _ := card.Addrs() // a card that has gone has none
		var networks []netip.Prefix
		for _, a := range addrs {
			if network, err := netip.ParsePrefix(a.String()); err == nil {
				networks = append(networks, network)
			}
		}
		if slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Addr() == addr }) {
			return networks
		}
	}
	return nil
}
