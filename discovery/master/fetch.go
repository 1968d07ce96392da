package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"muster/discovery"
	"muster/discovery/quake3"
)

// DefaultPort is the port of most masters of the Quake III family.
const DefaultPort = 27950

// Query is one master and what to ask it.
type Query struct {
	// Master is HOST[:PORT], with brackets around an IPv6 address with a port.
	Master string
	// Port is the master's if it names none; 0 is [DefaultPort].
	Port uint16
	// Asks are sent one after another, each when the list before it has ended or
	// does not come. A single one is asked twice, as parts of a list get lost.
	Asks []quake3.MasterQuery
}

// Fetch asks several masters at once and joins their lists, the first master's
// servers first. Masters that give no list are warnings; if none gives one, the
// error is an [*UnreachableError]; if none lists a server, it is [ErrEmpty].
func (c Client) Fetch(ctx context.Context, queries ...Query) (Listing, error) {
	lists := make([][]netip.AddrPort, len(queries))
	errs := make([]error, len(queries))
	var wg sync.WaitGroup
	for i, q := range queries {
		wg.Go(func() { lists[i], errs[i] = c.fetch(ctx, q) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Listing{}, fmt.Errorf("master: %w", err)
	}
	return join(queries, lists, errs)
}

// join makes one list of what the masters gave.
func join(queries []Query, lists [][]netip.AddrPort, errs []error) (Listing, error) {
	var all union
	var failed []*MasterError
	for i, q := range queries {
		if errs[i] != nil {
			failed = append(failed, &MasterError{Master: q.Master, Err: errs[i]})
		}
		for _, addr := range lists[i] {
			all.add(discovery.Server{Addr: addr})
		}
	}
	listing := Listing{Servers: all.servers}
	for _, f := range failed {
		listing.Warnings = append(listing.Warnings, f)
	}
	switch {
	case len(failed) == len(queries):
		return listing, &UnreachableError{Masters: failed}
	case len(listing.Servers) == 0:
		return listing, fmt.Errorf("master: the masters' list: %w", ErrEmpty)
	}
	return listing, nil
}

// fetch asks one master, at its first address of each family at once: either
// may be unreachable from here.
func (c Client) fetch(ctx context.Context, q Query) ([]netip.AddrPort, error) {
	host, port, ok := splitAddress(q.Master)
	if !ok {
		return nil, errors.New("is no HOST[:PORT]")
	}
	addrs, err := c.addresses(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("cannot find the host: %w", reason(err))
	}
	addrs = firstOfEach(addrs)
	lists := make([][]netip.AddrPort, len(addrs))
	errs := make([]error, len(addrs))
	var wg sync.WaitGroup
	for i, addr := range addrs {
		to := netip.AddrPortFrom(addr, cmp.Or(port, q.Port, DefaultPort))
		wg.Go(func() { lists[i], errs[i] = c.ask(ctx, to, q.Asks) })
	}
	wg.Wait()
	return eitherOf(lists, errs)
}

// firstOfEach keeps the first IPv4 and the first IPv6 address.
func firstOfEach(addrs []netip.Addr) []netip.Addr {
	for _, addr := range addrs {
		if addr.BitLen() != addrs[0].BitLen() {
			return []netip.Addr{addrs[0], addr}
		}
	}
	return addrs[:1]
}

// eitherOf is all that came over the families; they failed only if each did.
func eitherOf(lists [][]netip.AddrPort, errs []error) ([]netip.AddrPort, error) {
	var all []netip.AddrPort
	ok := false
	for i := range lists {
		all = append(all, lists[i]...)
		ok = ok || errs[i] == nil
	}
	if ok {
		return all, nil
	}
	return nil, errs[0]
}
