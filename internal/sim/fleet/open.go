package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"syscall"

	"muster/discovery"
)

// open opens all sockets of a fleet.
func (f *Fleet) open(ctx context.Context) (err error) {
	at, err := berths(f.world.Servers, f.options.layout())
	if err != nil {
		return err
	}
	if f.master, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, f.options.MasterPort))); err != nil {
		return fmt.Errorf("fleet: the master's socket: %w", err)
	}
	for server := range at {
		port, err := f.portFor(ctx, server, at[server])
		if err != nil {
			return socketError(server, len(at), err)
		}
		addr, s := netip.AddrPortFrom(at[server].addr, port), f.world.Servers[server].Server
		f.servers = append(f.servers, discovery.Server{Addr: addr, Country: s.Country, ASN: s.ASN})
		f.byAddr[addr] = server
	}
	f.line.alarm, err = newAlarm()
	return err
}

func socketError(server, servers int, err error) error {
	advice := ""
	if errors.Is(err, syscall.EMFILE) {
		advice = " (raise the limit on open files, or take fewer servers)"
	}
	return fmt.Errorf("fleet: a socket for server %d of %d: %w%s", server+1, servers, err, advice)
}

// portFor opens what a server needs at its berth, unless others share it and
// have opened it already.
func (f *Fleet) portFor(ctx context.Context, server int, b berth) (uint16, error) {
	refusing := f.world.Servers[server].Refusing
	if f.options.layout() == shared {
		return f.sharedPort(ctx, b, refusing)
	}
	if refusing {
		return f.hold(b.addr)
	}
	return f.listen(ctx, b, server)
}

func (f *Fleet) sharedPort(ctx context.Context, b berth, refusing bool) (port uint16, err error) {
	switch {
	case refusing && b.nth == len(f.holds):
		return f.hold(loopback)
	case refusing:
		return localAddr(f.holds[b.nth]).Port(), nil
	case b.nth == len(f.sockets):
		return f.listen(ctx, berth{netip.IPv4Unspecified(), b.nth}, everyServer)
	}
	return f.sockets[b.nth].port, nil
}

// listen opens a socket for one server, or for every one that shares its port.
func (f *Fleet) listen(ctx context.Context, b berth, only int) (port uint16, err error) {
	if port = f.options.Port; port != 0 {
		if b.nth > math.MaxUint16-int(port) {
			return 0, fmt.Errorf("%d ports from %d are more than there are", b.nth+1, port)
		}
		port += uint16(b.nth)
	}
	s, err := newSocket(ctx, netip.AddrPortFrom(b.addr, port), only)
	if err != nil {
		return 0, err
	}
	f.sockets = append(f.sockets, s)
	return s.port, nil
}

// hold finds a port of an address on which nobody listens.
func (f *Fleet) hold(addr netip.Addr) (port uint16, err error) {
	conn, err := holdPort(addr)
	if err != nil {
		return 0, err
	}
	f.holds = append(f.holds, conn)
	return localAddr(conn).Port(), nil
}

// holdPort keeps a port from being taken by others, and yet has the system
// refuse what comes there: a connected socket hears only its one partner.
func holdPort(addr netip.Addr) (*net.UDPConn, error) {
	discard := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}
	return net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)), discard)
}

func (f *Fleet) closeSockets() error {
	var errs []error
	for _, s := range f.sockets {
		errs = append(errs, s.conn.Close())
	}
	for _, h := range f.holds {
		errs = append(errs, h.Close())
	}
	if f.master != nil {
		errs = append(errs, f.master.Close())
	}
	return errors.Join(errs...)
}

func localAddr(conn *net.UDPConn) netip.AddrPort {
	return discovery.Canonical(conn.LocalAddr().(*net.UDPAddr).AddrPort())
}
