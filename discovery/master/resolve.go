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

	"muster/discovery"
)

// maxLookups is how many names are looked up at once: few enough for a home
// router's name server.
const maxLookups = 16

// Lookup finds the addresses of a host, as [net.Resolver.LookupNetIP] does with
// the network "ip".
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// NameError is of a host name in a list that is not known.
type NameError struct {
	Entry Entry
	Err   error
}

func (e *NameError) Error() string {
	return fmt.Sprintf("master: %s:%d: cannot find %s: %v", e.Entry.File, e.Entry.Line, e.Entry.Host, reason(e.Err))
}

func (e *NameError) Unwrap() error { return e.Err }

// reason is an error of the network without the names and addresses around it.
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

// LookupReason is why a name has no address, without which call failed on which
// socket.
func LookupReason(dns *net.DNSError) error {
	if dns.IsTimeout {
		return errors.New("no name server answers")
	}
	chain := strings.Split(dns.Err, ": ")
	return errors.New(chain[len(chain)-1])
}

// Resolve turns a list's entries into servers: names are looked up, a missing
// port is the given one, and servers that stand there twice become one. Names
// that are not known are warnings, unless no server is left.
//
// A name with several addresses is one server, taken at its first IPv4 address,
// or else at its first.
func (c Client) Resolve(ctx context.Context, entries []Entry, port uint16) (Listing, error) {
	hosts := c.lookUpAll(ctx, entries)
	if err := ctx.Err(); err != nil {
		return Listing{}, fmt.Errorf("master: %w", err)
	}
	var all union
	var listing Listing
	for _, e := range entries {
		host := hosts[e.Host]
		if host.err != nil {
			listing.Warnings = append(listing.Warnings, &NameError{Entry: e, Err: host.err})
			continue
		}
		all.add(discovery.Server{Addr: netip.AddrPortFrom(host.addr, cmp.Or(e.Port, port)), Country: e.Country, ASN: e.ASN})
	}
	listing.Servers = all.servers
	switch {
	case len(listing.Servers) > 0:
		return listing, nil
	case len(listing.Warnings) > 0:
		return listing, fmt.Errorf("master: none of the list's %d names is known: %w", len(listing.Warnings), listing.Warnings[0])
	}
	return listing, fmt.Errorf("master: %w", ErrEmpty)
}

// lookedUp is what came of looking up one host.
type lookedUp struct {
	addr netip.Addr
	err  error
}

// lookUpAll looks up every host once, several at a time.
func (c Client) lookUpAll(ctx context.Context, entries []Entry) map[string]*lookedUp {
	hosts := make(map[string]*lookedUp)
	slots := make(chan struct{}, maxLookups)
	var wg sync.WaitGroup
	for _, e := range entries {
		if hosts[e.Host] != nil {
			continue
		}
		host := new(lookedUp)
		hosts[e.Host] = host
		slots <- struct{}{}
		wg.Go(func() {
			addrs, err := c.addresses(ctx, e.Host)
			if *host = (lookedUp{err: err}); err == nil {
				host.addr = addrs[0]
			}
			<-slots
		})
	}
	wg.Wait()
	return hosts
}

// addresses are a host's usable addresses, IPv4 first, at least one.
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

// union gathers servers without repeating any, in the order in which they are
// first seen.
type union struct {
	servers []discovery.Server
	index   map[netip.AddrPort]int
}

// add takes a server, or what a second mention adds to the first.
// Over [discovery.MaxServers] it takes no more.
func (u *union) add(s discovery.Server) {
	if u.index == nil {
		u.index = make(map[netip.AddrPort]int)
	}
	s.Addr = discovery.Canonical(s.Addr)
	if i, ok := u.index[s.Addr]; ok {
		known := &u.servers[i]
		known.Country = cmp.Or(known.Country, s.Country)
		known.ASN = cmp.Or(known.ASN, s.ASN)
		return
	}
	if len(u.servers) < discovery.MaxServers {
		u.index[s.Addr] = len(u.servers)
		u.servers = append(u.servers, s)
	}
}
