package lan

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Interface is a network card or something like it (Wi-Fi, a VPN's adapter, a bridge). It says how
// the card is used.
type Interface struct {
	Name  string         `json:"name"`
	Addrs []netip.Prefix `json:"addrs,omitempty"`
	// Unused explains why rooms are neither announced nor looked for there; "" if they
	// are.
	Unused string `json:"unused,omitempty"`
	// Broadcast are the networks, with this machine's address there, where a broadcast
	// can ask all game servers at once.
	Broadcast []netip.Prefix `json:"broadcast,omitempty"`

	card net.Interface
}

// Interfaces returns this machine's network cards, in the system's order.
func Interfaces() ([]Interface, error) {
	cards, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("lan: cannot list the network cards: %w", err)
	}
	list := make([]Interface, 0, len(cards))
	for _, card := range cards {
		addrs, err := card.Addrs()
		if err != nil {
			continue // it has gone in the meantime
		}
		list = append(list, describe(card, addrs))
	}
	return list, nil
}

// describe judges a card by the addresses that the system gives it.
func describe(card net.Interface, addrs []net.Addr) Interface {
	i := Interface{Name: card.Name, card: card}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			i.Addrs = append(i.Addrs, netip.PrefixFrom(p.Addr().Unmap(), p.Bits()))
		}
	}
	i.Unused = unused(card.Flags, i.Addrs)
	if has(card.Flags, net.FlagUp|net.FlagRunning|net.FlagBroadcast) {
		i.Broadcast = slices.DeleteFunc(slices.Clone(i.Addrs), func(p netip.Prefix) bool { return !hasBroadcast(p) })
	}
	return i
}

// unused returns why mDNS cannot use such a card.
func unused(flags net.Flags, addrs []netip.Prefix) string {
	switch {
	case has(flags, net.FlagLoopback):
		return "reaches nobody but this machine"
	case !has(flags, net.FlagUp):
		return "is switched off"
	case !has(flags, net.FlagRunning):
		return "is not connected"
	case !has(flags, net.FlagMulticast):
		return "carries no multicast"
	case len(addrs) == 0:
		return "has no address"
	}
	return ""
}

func has(flags, wanted net.Flags) bool { return flags&wanted == wanted }

// hasBroadcast reports whether a network has a broadcast address. IPv6 has none, and
// networks of one or two addresses have none to spare (RFC 3021).
func hasBroadcast(network netip.Prefix) bool {
	return network.Addr().Is4() && network.Bits() <= 30
}

// broadcastOf returns the broadcast address, the last of an IPv4 network.
func broadcastOf(network netip.Prefix) netip.Addr {
	last := network.Addr().As4()
	for i := range last {
		last[i] |= byte(0xff >> min(max(network.Bits()-8*i, 0), 8))
	}
	return netip.AddrFrom4(last)
}

// announced returns the card's addresses for announcements, at most one of each family:
// the DNS library's client keeps the last of several. A global IPv6 address comes
// before a link-local one.
func (i Interface) announced() []net.IP {
	var v4, v6 netip.Addr
	for _, p := range i.Addrs {
		switch a := p.Addr(); {
		case a.Is4() && !v4.IsValid():
			v4 = a
		case a.Is6() && (!v6.IsValid() || v6.IsLinkLocalUnicast() && !a.IsLinkLocalUnicast()):
			v6 = a
		}
	}
	var ips []net.IP
	for _, a := range []netip.Addr{v4, v6} {
		if a.IsValid() {
			ips = append(ips, a.AsSlice())
		}
	}
	return ips
}

// hasFamily reports whether the card speaks IPv4 or IPv6.
func (i Interface) hasFamily(v6 bool) bool {
	return slices.ContainsFunc(i.Addrs, func(p netip.Prefix) bool { return p.Addr().Is6() == v6 })
}

func (i Interface) networks() []netip.Prefix {
	var list []netip.Prefix
	for _, p := range i.Addrs {
		list = append(list, p.Masked())
	}
	return list
}

// used returns the interfaces on which rooms are announced.
func used(list []Interface) []Interface {
	return slices.DeleteFunc(slices.Clone(list), func(i Interface) bool { return i.Unused != "" })
}

// isNear reports whether an address is on a network of these cards.
func isNear(a netip.AddrPort, cards []Interface) bool {
	return a.Addr().Zone() != "" || slices.ContainsFunc(cards, func(i Interface) bool {
		return slices.ContainsFunc(i.Addrs, func(p netip.Prefix) bool { return p.Contains(a.Addr()) })
	})
}

// reachFirst orders addresses for a machine with these cards. Addresses on its own
// networks come first, then IPv4, then the lower. Others are the host's addresses on
// networks that this machine is not on. They are left out if there is any better one.
func reachFirst(addrs []netip.AddrPort, cards []Interface) []netip.AddrPort {
	near := func(a netip.AddrPort) bool { return isNear(a, cards) }
	if slices.ContainsFunc(addrs, near) {
		addrs = slices.DeleteFunc(addrs, func(a netip.AddrPort) bool { return !near(a) })
	}
	slices.SortFunc(addrs, func(a, b netip.AddrPort) int {
		return cmp.Or(cmp.Compare(a.Addr().BitLen(), b.Addr().BitLen()), a.Compare(b))
	})
	return slices.Compact(addrs)
}
