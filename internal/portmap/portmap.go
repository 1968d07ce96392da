// Package portmap asks a home router to let players in, by forwarding one of its ports to this machine while the
// program runs.
//
//	muster host ── MAP ──▶ router ── asks nobody ──▶ 203.0.113.1:7777 is open
//	     ▲                                                │
//	     └───────────────── friends ◀────────────────────┘
//
// Three protocols do that: PCP (RFC 6887) and its predecessor NAT-PMP (RFC 6886), with one packet each to the gateway,
// and UPnP's Internet Gateway Device, found by multicast and asked by SOAP. They are tried in this order until one
// works. None of them authenticates, so any program could open a port. Therefore Muster asks only when the user wants
// it.
package portmap

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"muster/discovery"
	"muster/internal/netinfo"
)

const (
	// askTime bounds one protocol. UPnP's search alone takes three seconds.
	askTime = 5 * time.Second
	// lifetime is how long a mapping lasts without renewal. If the program is killed, the port closes within the hour.
	lifetime = time.Hour
	// backTime bounds how long withdrawing a mapping may delay the end. A router that is still there answers in
	// milliseconds.
	backTime = 800 * time.Millisecond
)

// ErrNoRouter says that no router opens a port.
var ErrNoRouter = errors.New("portmap: no router here opens ports")

// errNoAnswer says that a router has not answered in time.
var errNoAnswer = errors.New("no answer")

// Transport is the protocol to let in, by UPnP's name: [TCP] or [UDP].
type Transport string

const (
	TCP Transport = "TCP" // for rooms
	UDP Transport = "UDP" // for beacons and games
)

// Mapping is a port of the router that leads to this machine.// Mapping is a port of the router that leads to this machine.
type Mapping struct {
	// External is where friends on the internet reach this machine.
	External netip.AddrPort
	// Port is the port on this machine, for one transport.
	Port      uint16
	Transport Transport
	// Protocol is the name of the protocol that opened the port.
	Protocol string
	// Life is how long the mapping lasts without renewal; 0 means for ever.
	Life time.Duration
}

// IsPublic reports whether the router has a public address. Otherwise it is behind another router, which would have to
// open a port too.
func (m Mapping) IsPublic() bool {
	return discovery.ReachOf(m.External.Addr()) == discovery.InternetReach
}

// protocol opens ports on a router. Calling open again renews a mapping.
type protocol interface {
	name() string
	// open opens a port. Along with an error it returns the mapping that it asked for, if it asked for one.
	open(ctx context.Context, t Transport, port uint16, life time.Duration) (Mapping, error)
	// close withdraws the mapping. It may not exist.
	close(ctx context.Context, m Mapping) error
}

// Keep opens a port and keeps it open until ctx ends, then withdraws the mapping. It calls told
// with the mapping, and again whenever the mapping changes. The error is [ErrNoRouter] if nothing
// was opened. Keep returns within a second of ctx's end.
func Keep(ctx context.Context, t Transport, port uint16, log *slog.Logger, told func(Mapping)) error {
	return keep(ctx, ways(log), t, port, log, told)
}

func keep(ctx context.Context, ways []protocol, t Transport, port uint16, log *slog.Logger, told func(Mapping)) error {
	w, m, unsure, err := first(ctx, ways, t, port, log)
	if err == nil {
		told(m)
		for wait(ctx, m.Life/2) {
			again, err := w.open(ctx, t, port, lifetime)
			switch {
			case err != nil:
				log.Debug("port not renewed", "by", w.name(), "err", err)
				m.Life = max(m.Life/2, time.Minute) // retry before the mapping ends
			case again.External != m.External:
				m = again
				told(m)
			default:
				m = again
			}
		}
		unsure = append(unsure, opened{w, m})
	}
	withdraw(context.WithoutCancel(ctx), unsure, log)
	return err
}

// opened is a mapping that a way has opened, or may have opened.
type opened struct {
	protocol
	Mapping
}

// withdraw closes mappings, all at the same time.
func withdraw(ctx context.Context, all []opened, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, backTime)
	defer cancel()
	var closing sync.WaitGroup
	for _, o := range all {
		closing.Go(func() {
			if err := o.close(ctx, o.Mapping); err != nil {
				log.Debug("port not taken back", "by", o.name(), "err", err)
			}
		})
	}
	closing.Wait()
}

// wait waits, for ever if the time is 0, and reports whether ctx is still alive.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		<-ctx.Done()
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// first tries the ways one after another. Some routers speak several, and would open a port for each. unsure are the
// mappings that a router may have opened, or may still open, although its answer did not come in time.
func first(ctx context.Context, ways []protocol, t Transport, port uint16, log *slog.Logger) (w protocol, m Mapping, unsure []opened, err error) {
	failed := []error{ErrNoRouter}
	for _, w := range ways {
		asking, cancel := context.WithTimeout(ctx, askTime)
		m, err := w.open(asking, t, port, lifetime)
		isLate := asking.Err() != nil || errors.Is(err, errNoAnswer)
		cancel()
		if err == nil {
			return w, m, unsure, nil
		}
		if isLate {
			unsure = append(unsure, opened{w, m})
		}
		if ctx.Err() != nil {
			return nil, Mapping{}, unsure, ctx.Err()
		}
		failed = append(failed, fmt.Errorf("%s: %w", w.name(), err))
		log.Debug("no port", "by", w.name(), "err", err)
	}
	return nil, Mapping{}, unsure, errors.Join(failed...)
}

func ways(log *slog.Logger) []protocol {
	list := upnps()
	local := netinfo.Source4()
	if !local.IsValid() {
		return list
	}
	at, ok := systemGateway()
	if !ok {
		at = likelyGateway(local)
	}
	log.Debug("asking a router", "at", at)
	return append([]protocol{newPCP(at, local), pmp{at}}, list...)
}

// systemGateway returns the default route's gateway, if the system has a file of routes.
func systemGateway() (netip.Addr, bool) {
	f, err := os.Open("/proc/net/route")
	if err != nil {
		return netip.Addr{}, false
	}
	defer f.Close()
	return gatewayOf(f)
}

// gatewayOf reads Linux' table of routes: interface, destination, gateway, …, in hexadecimal, least significant byte
// first.
func gatewayOf(r io.Reader) (netip.Addr, bool) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || fields[1] != "00000000" {
			continue
		}
		b, err := hex.DecodeString(fields[2])
		if err == nil && len(b) == 4 {
			var a [4]byte
			binary.BigEndian.PutUint32(a[:], binary.LittleEndian.Uint32(b))
			return netip.AddrFrom4(a), a != [4]byte{}
		}
	}
	return netip.Addr{}, false
}

// likelyGateway returns the usual address of home routers: the first of 256.
func likelyGateway(local netip.Addr) netip.Addr {
	a := local.As4()
	a[3] = 1
	return netip.AddrFrom4(a)
}
