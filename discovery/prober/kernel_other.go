//go:build !linux

package prober

import (
	"net"
	"net/netip"
	"time"
)

func prepare(*net.UDPConn, bool) error { return nil }

// arrived reads the clock: no kernel stamp here.
func arrived(c clock, _ []byte) arrival {
	now := c.now()
	return arrival{kernel: now, read: now}
}

// refusals finds nothing: an unconnected socket does not see ICMP errors.
func refusals(*net.UDPConn, func(netip.AddrPort, []byte)) {}

// handshakeTime reports that the kernel does not tell the time here. The caller uses the time of
// connecting.
func handshakeTime(*net.TCPConn) (time.Duration, bool) { return 0, false }

// fineSleep has nothing better than Go's timers.
func fineSleep() (nap func(time.Duration), undo func()) { return nil, func() {} }
