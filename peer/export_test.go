package peer

import (
	"context"
	"net"
	"net/netip"
	"time"

	"muster/peer/player"
)

// Impatient sets how long a peer waits for the answers to a sample.
func Impatient(o *Options, patience time.Duration) { o.pace.Patience = patience }

// Hurry shortens all of a test peer's pauses.
func Hurry(o *Options, giveUp time.Duration) {
	o.pace = pace{
		Pace:       player.Pace{Flush: 5 * time.Millisecond, Sample: time.Millisecond, Patience: time.Minute},
		firstPause: 5 * time.Millisecond, lastPause: 20 * time.Millisecond, giveUp: giveUp, lastWord: giveUp,
		gone: giveUp, seekAfter: 30 * time.Millisecond,
	}
}

// Gone sets how long a peer waits for a host whose machine answers without it.
func Gone(o *Options, wait time.Duration) { o.pace.gone = wait }

// HostAt makes a peer believe that its host is at an address.
func HostAt(o *Options, addr netip.Addr) {
	o.hostAddr = func(net.Conn) netip.Addr { return addr }
}

// Named makes a peer resolve every name to some addresses.
func Named(o *Options, addrs ...netip.Addr) {
	o.lookUp = func(context.Context, string) ([]netip.Addr, error) { return addrs, nil }
}
