package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/names"
)

// errManyNames is why a name was not looked up.
var errManyNames = fmt.Errorf("not looked up: the list has over %d names", discovery.MaxNames)

// maxLookups is how many names are looked up at once: few enough for a home router's
// name server.
const maxLookups = 16

// NameError says that a list contains an unknown host name.
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

// Resolve turns a list's entries into servers. It replaces a missing port by the given one, and joins
// repeated servers. A name stays a name: it is looked up only to learn whether it is known, and where it
// leads today. Unknown names are warnings, unless no server is left.
func (c Client) Resolve(ctx context.Context, entries []Entry, port uint16) (Listing, error) {
	return c.resolved(ctx, entries, c.lookUpAll(ctx, entries, port))
}

// resolved is [Client.Resolve] with the hosts looked up.
func (c Client) resolved(ctx context.Context, entries []Entry, hosts map[toLookUp]*lookedUp) (Listing, error) {
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
		host := hosts[toLookUp{e.Host, e.Port}]
		if host.err != nil {
			listing.Warnings = append(listing.Warnings, &NameError{Entry: e, Err: host.err})
			continue
		}
		host.lead(&all)
		all.add(files[e.File], discovery.Server{Addr: host.at, Country: e.Country, ASN: e.ASN})
	}
	listing.Servers, listing.Led = all.list(), all.led
	switch {
	case len(listing.Servers) > 0:
		listing.Warnings = append(listing.Warnings, all.warnings("")...)
		return listing, nil
	case len(listing.Warnings) > 0:
		return listing, fmt.Errorf("master: none of the list's %d names is known: %w", len(listing.Warnings), listing.Warnings[0])
	}
	return listing, fmt.Errorf("master: %w", ErrEmpty)
}

// toLookUp is a host and the written port, 0 for none.
type toLookUp struct {
	host string
	port uint16
}

// lookedUp is a server's address, or the key of its name, and where the name leads today.
type lookedUp struct {
	at  netip.AddrPort
	led netip.Addr
	err error
}

// lead notes the addresses that the host leads to, if it is a name.
func (l *lookedUp) lead(all *union) {
	if hostport.IsName(l.at.Addr()) {
		all.lead(l.at, l.led)
	}
}

// lookupPatience is for all names of a list together. A name server that answers needs
// seconds for a thousand.
const lookupPatience = 30 * time.Second

// errSlowNames is why a name was not looked up.
var errSlowNames = fmt.Errorf("not found out within %v", lookupPatience)

// resolver looks up names of a game with this port.
func (c Client) resolver(port uint16) names.Resolver {
	return names.Resolver{Lookup: c.Lookup, LookupSRV: c.LookupSRV, Service: c.Service, Port: port}
}

// lookUpAll looks up every host once, several at a time. Port is the game's own.
func (c Client) lookUpAll(ctx context.Context, entries []Entry, port uint16) map[toLookUp]*lookedUp {
	hosts := make(map[toLookUp]*lookedUp)
	slots := make(chan struct{}, maxLookups)
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	var wg sync.WaitGroup
	named := 0
	for _, e := range entries {
		to := toLookUp{e.Host, e.Port}
		if hosts[to] != nil {
			continue
		}
		host := new(lookedUp)
		hosts[to] = host
		if addr, err := netip.ParseAddr(e.Host); err == nil {
			host.at, host.led = netip.AddrPortFrom(addr.Unmap(), cmp.Or(e.Port, port)), addr.Unmap()
			continue
		}
		host.at = hostport.Of(e.Host, cmp.Or(e.Port, port))
		if named++; named > discovery.MaxNames {
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
			place, err := c.resolver(port).Find(ctx, e.Host, host.at.Port())
			if host.err = err; err == nil {
				host.led = place.Addrs[0]
			} else if ctx.Err() != nil {
				host.err = errSlowNames
			}
			<-slots
		})
	}
	wg.Wait()
	return hosts
}

// addresses returns a host's usable addresses, IPv4 first, at least one.
func (c Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	return c.resolver(0).Addrs(ctx, host)
}
