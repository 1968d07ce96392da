package peer

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// nextAfter is how long one of several addresses has to take the connection, with TLS and
// WebSocket, before the next is asked as well.
const nextAfter = time.Second

// around tries the addresses of a host's name one after the other until one takes the
// connection, and gives up those that are slower then: of several machines behind a name
// one may be off, or take connections and say nothing.
//
// IPv4 comes first, against RFC 6724's order: nearly all game servers are asked over
// IPv4, and the host knows players behind one address by what it sees of them. A
// household of which one came by IPv6 would count as two. Of
// each, what was left comes last.
func around[C io.Closer](ctx context.Context, addrs []netip.Addr, left netip.Addr,
	try func(context.Context, netip.Addr) (C, error)) (C, netip.Addr, error) {
	addrs = slices.Clone(addrs)
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] }) // so that machines share the load
	rank := func(a netip.Addr) (rank int) {
		if a.Is6() {
			rank += 2
		}
		if a == left {
			rank++
		}
		return rank
	}
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return rank(a) - rank(b) })
	return race(ctx, addrs, nextAfter, try, func(late C) { late.Close() })
}

// race tries addresses one after the other until one succeeds: each has a head start over
// the next, unless all before have failed. It ends the others, and drops what they bring.
func race[A, C any](ctx context.Context, addrs []A, headStart time.Duration, try func(context.Context, A) (C, error),
	drop func(C)) (won C, at A, err error) {
	type outcome struct {
		at  A
		won C
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan outcome, len(addrs))
	var running sync.WaitGroup
	defer func() {
		cancel()
		running.Wait()
		close(done)
		for late := range done {
			if late.err == nil {
				drop(late.won)
			}
		}
	}()
	for next, failed := 0, 0; failed < len(addrs); {
		var turn <-chan time.Time
		if next == failed {
			turn = time.After(0) // nobody is waited for
		} else if next < len(addrs) {
			turn = time.After(headStart)
		}
		select {
		case <-turn:
			at := addrs[next]
			running.Go(func() {
				won, err := try(ctx, at)
				done <- outcome{at, won, err}
			})
			next++
		case o := <-done:
			if o.err == nil {
				return o.won, o.at, nil
			}
			err = cmp.Or(err, o.err)
			failed++
		}
	}
	return won, at, cmp.Or(err, ErrUnreachable)
}

// dial makes a connection to a place.
func (s *session) dial(ctx context.Context, at Place) (*websocket.Conn, error) {
	u, err := url.Parse(at.URL)
	if err != nil {
		return nil, err
	}
	addrs, err := s.options.lookUp(ctx, u.Hostname())
	if err != nil {
		return nil, err
	}
	taken, addr, err := around(ctx, addrs, s.left, func(ctx context.Context, addr netip.Addr) (*websocket.Conn, error) {
		isMade := func() bool { return true }
		dialer := websocket.Dialer{ // without a proxy: hosts are friends' machines
			HandshakeTimeout: dialTimeout, TLSClientConfig: at.TLS,
			NetDialContext: func(_ context.Context, network, hostport string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(hostport)
				if err != nil {
					return nil, err
				}
				conn, err := new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(addr.String(), port))
				if err == nil {
					isMade = context.AfterFunc(ctx, func() { conn.Close() }) // the library waits for TLS and HTTP whatever happens
				}
				return conn, err
			},
		}
		ws, answer, err := dialer.DialContext(ctx, at.URL, nil)
		if err != nil {
			return nil, whyNot(err, answer)
		}
		isMade()
		return ws, nil
	})
	s.left = addr
	return taken, err
}

// lookUp is where a name leads, or the address that it is.
func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
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
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	type nothing struct{}
	_, at, err := race(ctx, addrs, headStart, func(ctx context.Context, at netip.AddrPort) (nothing, error) {
		return nothing{}, knock(ctx, at)
	}, func(nothing) {})
	if err != nil {
		return at, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return at, nil
}
