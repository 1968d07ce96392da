package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"runtime"
	"syscall"

	"muster/discovery"
	"muster/internal/alarm"
	"muster/internal/sim"
)

func (f *Fleet) open(ctx context.Context) (err error) {
	at, err := places(f.world.Servers, f.options.layout())
	if err != nil {
		return err
	}
	if f.master, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, f.options.MasterPort))); err != nil {
		return fmt.Errorf("fleet: the master's socket: %w", err)
	}
	for server := range at {
		port, err := f.portFor(ctx, server, at[server])
		if err != nil {
			advice := ""
			if errors.Is(err, syscall.EMFILE) {
				advice = " (raise the limit on open files, or take fewer servers)"
			}
			return fmt.Errorf("fleet: a socket for server %d of %d: %w%s", server+1, len(at), err, advice)
		}
		addr, s := netip.AddrPortFrom(at[server].addr, port), f.world.Servers[server].Server
		listed := netip.AddrPortFrom(addr.Addr(), port-f.options.Game.QueryAbove)
		f.servers = append(f.servers, discovery.Server{Addr: listed, Country: s.Country, ASN: s.ASN})
		f.byAddr[addr] = server
	}
	f.line.alarm, err = alarm.New()
	return err
}

// portFor opens a server's socket, unless servers that share it have opened it already.
func (f *Fleet) portFor(ctx context.Context, server int, b place) (port uint16, err error) {
	sharing, refusing := f.options.layout() == shared, f.world.Servers[server].Refusing
	switch {
	case !sharing && refusing:
		return f.hold(b.addr)
	case !sharing:
		return f.listen(ctx, b, server)
	case refusing && b.nth == len(f.holds):
		return f.hold(loopback)
	case refusing:
		return localAddr(f.holds[b.nth]).Port(), nil
	case b.nth == len(f.sockets):
		return f.listen(ctx, place{netip.IPv4Unspecified(), b.nth}, everyServer)
	}
	return f.sockets[b.nth].port, nil
}

// listen opens a socket for one server, or for every server that shares its port.
func (f *Fleet) listen(ctx context.Context, b place, only int) (port uint16, err error) {
	if port = f.options.Port; port != 0 {
		if b.nth > math.MaxUint16-int(port) {
			return 0, fmt.Errorf("%d ports from %d are more than there are", b.nth+1, port)
		}
		port += uint16(b.nth)
	}
	var s *socket
	for range listenTries {
		if s, err = newSocket(ctx, netip.AddrPortFrom(b.addr, port), only); err != nil {
			return 0, err
		}
		if f.options.Kind.stream() == nil {
			break
		}
		if err = s.listenStream(ctx, b.addr.String()); err == nil {
			break
		}
		_ = s.conn.Close()
	}
	if err != nil {
		return 0, err
	}
	f.sockets = append(f.sockets, s)
	return s.port, nil
}

// discardPort is the port that a socket connects to if it only holds its own port.
const discardPort = 9

// hold keeps a port of an address from others, and yet the system refuses what comes there: a
// connected socket hears only its one partner.
func (f *Fleet) hold(addr netip.Addr) (port uint16, err error) {
	conn, err := net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)),
		net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, discardPort)))
	if err != nil {
		return 0, err
	}
	f.holds = append(f.holds, conn)
	return localAddr(conn).Port(), nil
}

func (f *Fleet) closeSockets() error {
	var errs []error
	for _, s := range f.sockets {
		errs = append(errs, s.conn.Close())
		if s.listener != nil {
			errs = append(errs, s.listener.Close())
		}
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

// layout is how a fleet spreads over loopback.
type layout uint8

const (
	// shared gives every server its address, and has one socket for all of a port.
	shared layout = iota
	// byAddress gives every server its address, and a socket of its own.
	byAddress
	// byPort puts all servers on 127.0.0.1, each with a socket of its own.
	byPort
)

// wholeLoopback reports whether the system has all of 127.0.0.0/8 from the start.
const wholeLoopback = runtime.GOOS == "linux" || runtime.GOOS == "windows"

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

func (o Options) layout() layout {
	switch {
	case o.OneAddress || !wholeLoopback:
		return byPort
	case runtime.GOOS == "linux":
		return shared
	}
	return byAddress
}

// place is a server's listening place. It is the nth of its address, where servers that answer and
// servers that refuse are counted separately.
type place struct {
	addr netip.Addr
	nth  int
}

// places finds where each server listens.
func places(servers []sim.Server, l layout) ([]place, error) {
	folded := map[netip.Addr]netip.Addr{}
	addrs := make([]netip.Addr, len(servers))
	for i, s := range servers {
		addrs[i] = s.Addr.Addr()
		folded[addrs[i]] = loopback
	}
	if l != byPort {
		var err error
		if folded, err = foldAddrs(addrs); err != nil {
			return nil, err
		}
	}
	type row struct {
		addr     netip.Addr
		refusing bool
	}
	taken := map[row]int{}
	at := make([]place, len(servers))
	for i, s := range servers {
		r := row{folded[addrs[i]], s.Refusing}
		at[i] = place{r.addr, taken[r]}
		taken[r]++
	}
	return at, nil
}
