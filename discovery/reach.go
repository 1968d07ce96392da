package discovery

import "net/netip"

// Reach is from how far away an address is one and the same machine's.
type Reach int

const (
	// NoReach: no single machine has it, such as multicast, broadcast, 0.0.0.0.
	NoReach Reach = iota
	// MachineReach: loopback, which is another machine's own elsewhere.
	MachineReach
	// NetworkReach: private (RFC 1918, RFC 4193), link-local, or behind a
	// carrier's NAT (RFC 6598). Other networks have the same addresses.
	NetworkReach
	// InternetReach: all others.
	InternetReach
)

// ReachOf is from how far away an address can be reached.
func ReachOf(a netip.Addr) Reach {
	switch a = a.Unmap(); {
	case !a.IsValid() || a.IsUnspecified() || a.IsMulticast() || a == everybody:
		return NoReach
	case a.IsLoopback():
		return MachineReach
	case a.IsPrivate() || a.IsLinkLocalUnicast() || IsCarriers(a):
		return NetworkReach
	}
	return InternetReach
}

// everybody is the IPv4 broadcast address of whatever network one is on.
var everybody = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// carriers is what providers and overlay networks number their customers from.
var carriers = netip.MustParsePrefix("100.64.0.0/10")

// IsCarriers reports whether an address is an IPv4 one behind a carrier's NAT (RFC 6598).
func IsCarriers(a netip.Addr) bool { return carriers.Contains(a.Unmap()) }
