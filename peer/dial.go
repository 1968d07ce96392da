package peer

import (
	"cmp"
	"context"
	"errors"
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

// nextAfter is how long an address may take to set up the connection, with TLS and WebSocket, before the next one is
// tried in parallel.
const nextAfter = time.Second

// around tries the addresses of a host's name one after the other, keeps the first connection and drops slower ones.
// One of several machines behind a name may be off, or accept connections and stay silent.
//
// IPv4 comes first, against the order of RFC 6724. Nearly all game servers are asked over IPv4, and the host groups
// players by the address it sees. A household with one player on IPv6 would count as two. Within each family, the
// address that the player just left comes last.
func around[C io.Closer](ctx context.Context, addrs []netip.Addr, left netip.Addr, random *rand.Rand,
	try func(context.Context, netip.Addr) (C, error)) (C, netip.Addr, error) {
	addrs = slices.Clone(addrs)
	random.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] }) // share the load among the machines
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

// race tries addresses one after the other until one succeeds. Each has a head start over the next, unless all earlier
// ones have failed. It cancels the losers and closes what they still return.
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
			turn = time.After(0) // no attempt is running, so start the next at once
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

func (s *session) dial(ctx context.Context, at Place) (*websocket.Conn, error) {
	u, err := url.Parse(at.URL)
	if err != nil {
		return nil, err
	}
	addrs, err := s.options.lookUp(ctx, u.Hostname())
	if err != nil {
		return nil, err
	}
	taken, addr, err := around(ctx, addrs, s.left, s.options.Random, func(ctx context.Context, addr netip.Addr) (*websocket.Conn, error) {
		ws, err := s.open(ctx, addr, at)
		if elsewhere, is := errors.AsType[*Elsewhere](err); is && elsewhere.isEncrypted(u) {
			secure := *u
			secure.Scheme, secure.Host = "wss", elsewhere.To.Host
			return s.open(ctx, addr, Place{secure.String(), at.TLS})
		}
		return ws, err
	})
	s.left = addr
	return taken, err
}

// open opens a WebSocket to a place at one of its addresses.
func (s *session) open(ctx context.Context, addr netip.Addr, at Place) (*websocket.Conn, error) {
	isMade := func() bool { return true }
	dialer := websocket.Dialer{ // no proxy: hosts are friends' machines
		HandshakeTimeout: dialTimeout, TLSClientConfig: at.TLS,
		NetDialContext: func(_ context.Context, network, hostport string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(hostport)
			if err != nil {
				return nil, err
			}
			conn, err := s.options.Dial(ctx, network, net.JoinHostPort(addr.String(), port))
			if err == nil {
				isMade = context.AfterFunc(ctx, func() { conn.Close() }) // the library ignores ctx during TLS and HTTP
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
}

// lookUp resolves a name. An address resolves to itself.
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
	// headStart is how long an address is tried alone before the next one joins (RFC 8305, section 8).
	headStart = 250 * time.Millisecond
	// reachTime bounds all attempts together.
	reachTime = 5 * time.Second
)

// Reach finds the address at which a host accepts connections. The addresses come likeliest first; each has a head
// start over the next, and the first to answer wins (RFC 8305 calls this happy eyeballs). A single address is returned
// untried, because joining will try it. The error wraps [ErrUnreachable] and the cause.
func Reach(ctx context.Context, addrs []netip.AddrPort) (netip.AddrPort, error) {
	return reach(ctx, addrs, knock)
}

// Knock is [Reach], but it tries even a single address.
func Knock(ctx context.Context, addrs []netip.AddrPort) (netip.AddrPort, error) {
	if len(addrs) != 1 {
		return Reach(ctx, addrs)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	if err := knock(ctx, addrs[0]); err != nil {
		return addrs[0], fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return addrs[0], nil
}

func knock(ctx context.Context, at netip.AddrPort) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return err
	}
	return conn.Close()
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
