// Package names looks up where servers are that are listed by name, anew at each visit: a home server
// has another address tomorrow, and a player with IPv6 alone needs another one than the others.
//
//	play.example.org ─▶ SRV, if the game has one ─▶ host and port ─▶ addresses, IPv4 first
package names

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
)

// Lookup finds the addresses of a host, as [net.Resolver.LookupNetIP] does with the
// network "ip".
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// LookupSRV finds the host and port of a service (_minecraft._tcp) at a domain.
type LookupSRV func(ctx context.Context, service, domain string) (host string, port uint16, err error)

// maxAddrs is how many addresses of a name are tried.
const maxAddrs = 8

// Resolver looks up names. The zero value asks the machine's own resolver.
type Resolver struct {
	Lookup    Lookup
	LookupSRV LookupSRV
	// Service is the game's, by which a domain may say where its server is (_minecraft._tcp), or empty.
	// As in the game itself, only a name with the game's own port, Port, is such a domain.
	Service string
	Port    uint16
	// MinReach is the least reach of the addresses that names may lead to. A stranger's list must not have
	// us ask our own networks.
	MinReach discovery.Reach
}

// Place is where a name leads.
type Place struct {
	// Host and Port lead to the server: they come from the service, or else from the name itself. Players' games tell
	// the server that they came to this host.
	Host string
	Port uint16
	// Addrs are its addresses, in the order in which they should be tried, at least one.
	Addrs []netip.Addr
}

// errNoAddress means that a name leads nowhere, or to addresses that nobody may be sent to by it.
var errNoAddress = errors.New("it has no address")

// Find looks up a host's name, or the place of its service. For a domain without the service it is the
// host itself.
func (r Resolver) Find(ctx context.Context, host string, port uint16) (p Place, err error) {
	p = Place{Host: host, Port: port}
	if r.Service != "" && port == r.Port {
		lookup := r.LookupSRV
		if lookup == nil {
			lookup = lookupSRV
		}
		if target, port, err := lookup(ctx, r.Service, host); err == nil && hostport.Of(target, port).IsValid() {
			p.Host, p.Port = strings.ToLower(strings.TrimSuffix(target, ".")), port
		}
	}
	p.Addrs, err = r.Addrs(ctx, p.Host)
	return p, err
}

// Addrs returns a host's usable addresses, at least one. IPv4 comes first: it is what most games try.
func (r Resolver) Addrs(ctx context.Context, host string) ([]netip.Addr, error) {
	lookup := r.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	found, err := lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); r.isUsable(a) && !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, errNoAddress
	}
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return cmp.Compare(a.BitLen(), b.BitLen()) })
	return mixed(addrs), nil
}

// isUsable reports whether a server may have an address that a name leads to. A proxy on this machine
// stands for any machine of the internet.
func (r Resolver) isUsable(a netip.Addr) bool {
	reach := discovery.ReachOf(a)
	return a.Zone() == "" && reach != discovery.NoReach && (reach >= r.MinReach || discovery.IsStandIn(a))
}

// mixed returns as many addresses as are tried, with both families among them.
func mixed(addrs []netip.Addr) []netip.Addr {
	if len(addrs) <= maxAddrs {
		return addrs
	}
	first, last := addrs[:maxAddrs/2:maxAddrs/2], addrs[len(addrs)-maxAddrs/2:]
	return append(first, last...)
}

// lookupSRV asks the machine's resolver.
func lookupSRV(ctx context.Context, service, domain string) (string, uint16, error) {
	_, services, err := net.DefaultResolver.LookupSRV(ctx, "", "", service+"."+domain)
	if err != nil {
		return "", 0, err
	}
	if len(services) == 0 {
		return "", 0, errors.New("it has no such service")
	}
	return services[0].Target, services[0].Port, nil
}
