package cli

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// headStart is how long an address is tried alone before the next is, too
	// (RFC 8305, section 8).
	headStart = 250 * time.Millisecond
	// reachTime is how long all of them may take.
	reachTime = 5 * time.Second
)

// reach finds where a host can be reached of which several addresses are known,
// the likeliest first: each has a head start over the next, and the first that
// takes a connection wins (RFC 8305 calls that happy eyeballs).
func reach(ctx context.Context, addrs []netip.AddrPort, knock func(context.Context, netip.AddrPort) error) (netip.AddrPort, error) {
	if len(addrs) == 1 {
		return addrs[0], nil // who joins there finds out
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
	var list []string
	for _, at := range addrs {
		list = append(list, at.String())
	}
	return netip.AddrPort{}, unreached(strings.Join(list, " or "), failed[0])
}

// knock sees whether somebody takes a connection.
func knock(ctx context.Context, at netip.AddrPort) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return err
	}
	return conn.Close()
}
