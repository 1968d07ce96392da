package peer

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// fourAlone is how long a host has to answer over IPv4 before IPv6 is tried, too.
const fourAlone = time.Second

// dial is how a connection is made, as [net.Dialer.DialContext] does.
type dial func(ctx context.Context, network, addr string) (net.Conn, error)

// fourFirst prefers IPv4 where a host has both, against RFC 6724's order: nearly
// all game servers are asked over IPv4, and the host knows players behind one
// address by what it sees of them. A household of which one came by IPv6 would
// count as two.
func fourFirst(d dial) dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(addr); err != nil || net.ParseIP(host) != nil {
			return d(ctx, network, addr)
		}
		first, cancel := context.WithTimeout(ctx, fourAlone)
		defer cancel()
		if conn, err := d(first, "tcp4", addr); err == nil {
			return conn, nil
		}
		return d(ctx, network, addr)
	}
}

const (
	// headStart is how long an address is tried alone before the next is, too
	// (RFC 8305, section 8).
	headStart = 250 * time.Millisecond
	// reachTime is how long all of them may take.
	reachTime = 5 * time.Second
)

// Reach finds where a host takes connections of which several addresses are known,
// the likeliest first: each has a head start over the next, and the first that
// answers wins (RFC 8305 calls that happy eyeballs). The only one is taken as it
// is: who joins there finds out. The error is [ErrUnreachable] and why.
func Reach(ctx context.Context, addrs []netip.AddrPort) (netip.AddrPort, error) {
	return reach(ctx, addrs, func(ctx context.Context, at netip.AddrPort) error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", at.String())
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

func reach(ctx context.Context, addrs []netip.AddrPort, knock func(context.Context, netip.AddrPort) error) (netip.AddrPort, error) {
	if len(addrs) == 1 {
		return addrs[0], nil
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	type outcome struct {
		at  netip.AddrPort
		err error
	}
	done := make(chan outcome, len(addrs))
	var failed []error
	for next := 0; len(failed) < len(addrs); {
		var turn <-chan time.Time
		if next == len(failed) {
			turn = time.After(0) // nobody is waited for
		} else if next < len(addrs) {
			turn = time.After(headStart)
		}
		select {
		case <-turn:
			at := addrs[next]
			running.Go(func() { done <- outcome{at, knock(ctx, at)} })
			next++
		case o := <-done:
			if o.err == nil {
				return o.at, nil
			}
			failed = append(failed, o.err)
		}
	}
	return netip.AddrPort{}, fmt.Errorf("%w: %w", ErrUnreachable, failed[0])
}
