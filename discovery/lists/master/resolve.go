package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/discovery"
	"muster/discovery/lists/address"
)

// maxNames is how many names of one list are looked up. Lists have addresses, and a
// name now and then. A list with thousands of names only aims at a name server.
const maxNames = 1000

// errManyNames is why a name was not looked up.
var errManyNames = fmt.Errorf("not looked up: the list has over %d names", maxNames)

// maxLookups is how many names are looked up at once: few enough for a home router's
// name server.
const maxLookups = 16

// Lookup finds the addresses of a host, as [net.Resolver.LookupNetIP] does with the
// network "ip".
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// LookupSRV finds the host and port of a service (_minecraft._tcp) at a domain.
type LookupSRV func(ctx context.Context, service, domain string) (host string, port uint16, err error)

// NameError is about an unknown host name in a list.
type NameError struct {
	Entry Entry
	Err   error
}

func (e *NameError) Error() string {
	return fmt.Sprintf("master: %s:%d: cannot find %s: %v", e.Entry.File, e.Entry.Line, e.Entry.Host, reason(e.Err))
}

func (e *NameError) Unwrap() error { return e.Err }

// reason strips the names and addresses around a network error.
func reason(err error) error {
	var dns *net.DNSError
	var errno syscall.Errno
	switch {
	case errors.As(err, &dns):
		return LookupReason(dns)
	case errors.As(err, &errno):
		return errno
	}
	return err
}

// LookupReason returns why a name has no address, without the names of the call and the
// socket.
func LookupReason(dns *net.DNSError) error {
	if dns.IsTimeout {
		return errors.New("no name server answers")
	}
	chain := strings.Split(dns.Err, ": ")
	return errors.New(chain[len(chain)-1])
}

// Resolve turns a list's entries into servers. It looks up names, replaces a missing
// port by the given one, and joins repeated servers. Unknown names are warnings, unless
// no server is left.
//
// A name with several addresses is one server, at its first IPv4 address, or else at
// its first.
func (c Client) Resolve(ctx context.Context, entries []Entry, port uint16) (Listing, error) {
	return c.resolved(ctx, entries, c.lookUpAll(ctx, entries), port)
}

// resolved is [Client.Resolve] with the hosts looked up.
func (c Client) resolved(ctx context.Context, entries []Entry, hosts map[toLookUp]*lookedUp, port uint16) (Listing, error) {
	if err := ctx.Err(); err != nil {
		return Listing{}, fmt.Errorf("master: %w", err)
	}
	var all union
	var listing Listing
	files := make(map[string]int)
	for _, e := range entries {
		if _, known := files[e.File]; !known {
			files[e.File] = len(files)
		}
		host := hosts[c.looked(e)]
		if host.err != nil {
			listing.Warnings = append(listing.Warnings, &NameError{Entry: e, Err: host.err})
			continue
		}
		all.add(files[e.File], discovery.Server{
			Addr:    netip.AddrPortFrom(host.addr, cmp.Or(e.Port, host.port, port)),
			Country: e.Country,
			ASN:     e.ASN,
		})
	}
	listing.Servers = all.list()
	switch {
	case len(listing.Servers) > 0:
		listing.Warnings = append(listing.Warnings, all.warnings("")...)
		return listing, nil
	case len(listing.Warnings) > 0:
		return listing, fmt.Errorf("master: none of the list's %d names is known: %w", len(listing.Warnings), listing.Warnings[0])
	}
	return listing, fmt.Errorf("master: %w", ErrEmpty)
}

// toLookUp is a host, or the service at it.
type toLookUp struct {
	host    string
	service bool
}

// looked returns the host or service to look up for an entry.
func (c Client) looked(e Entry) toLookUp {
	_, err := netip.ParseAddr(e.Host)
	return toLookUp{e.Host, c.Service != "" && e.Port == 0 && err != nil}
}

// lookedUp is the result for one host.
type lookedUp struct {
	addr netip.Addr
	port uint16 // of a service, or 0
	err  error
}

// lookupPatience is for all names of a list together. A name server that answers needs
// seconds for a thousand.
const lookupPatience = 30 * time.Second

// errSlowNames is why a name was not looked up.
var errSlowNames = fmt.Errorf("not found out within %v", lookupPatience)

// lookUpAll looks up every host once, several at a time.
func (c Client) lookUpAll(ctx context.Context, entries []Entry) map[toLookUp]*lookedUp {
	hosts := make(map[toLookUp]*lookedUp)
	slots := make(chan struct{}, maxLookups)
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	var wg sync.WaitGroup
	names := 0
	for _, e := range entries {
		to := c.looked(e)
		if hosts[to] != nil {
			continue
		}
		host := new(lookedUp)
		hosts[to] = host
		if addr, err := netip.ParseAddr(e.Host); err == nil {
			host.addr = addr.Unmap()
			continue
		}
		if names++; names > maxNames {
			host.err = errManyNames
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			host.err = errSlowNames
			continue
		}
		wg.Go(func() {
			*host = c.lookUp(ctx, to)
			if host.err != nil && ctx.Err() != nil {
				host.err = errSlowNames
			}
			<-slots
		})
	}
	wg.Wait()
	return hosts
}

// lookUp finds a host, or the place of its service. For a domain without the service it
// is the host itself.
func (c Client) lookUp(ctx context.Context, to toLookUp) (found lookedUp) {
	host := to.host
	if to.service {
		lookup := c.LookupSRV
		if lookup == nil {
			lookup = lookupSRV
		}
		if target, port, err := lookup(ctx, c.Service, host); err == nil && address.IsHost(target) && port != 0 {
			host, found.port = target, port
		}
	}
	addrs, err := c.addresses(ctx, host)
	if err != nil {
		return lookedUp{err: err}
	}
	found.addr = addrs[0]
	return found
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
	return strings.TrimSuffix(services[0].Target, "."), services[0].Port, nil
}

// addresses returns a host's usable addresses, IPv4 first, at least one.
func (c Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	lookup := c.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addrs, err := lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	addrs = slices.DeleteFunc(addrs, func(a netip.Addr) bool { return !canBeServer(a) })
	if len(addrs) == 0 {
		return nil, errors.New("it has no address")
	}
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return addrs, nil
}
