package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestFourFirst: of a host's two families IPv4 is taken, and IPv6 if that fails.
func TestFourFirst(t *testing.T) {
	const hangs = time.Hour
	for _, tt := range []struct {
		name, addr string
		four       time.Duration // until IPv4 answers; under 0 it fails at once
		want       string
		took       time.Duration
	}{
		{"both", "night.example:7777", 50 * time.Millisecond, "[tcp4]", 50 * time.Millisecond},
		{"no IPv4", "night.example:7777", -1, "[tcp4 tcp]", 0},
		{"IPv4 leads nowhere", "night.example:7777", hangs, "[tcp4 tcp]", fourAlone},
		{"an address of IPv4", "192.0.2.1:7777", 0, "[tcp]", 0},
		{"an address of IPv6", "[2001:db8::1]:7777", 0, "[tcp]", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked []string
			ours, theirs := net.Pipe()
			defer ours.Close()
			defer theirs.Close()
			began := time.Now()
			conn, err := fourFirst(func(ctx context.Context, network, addr string) (net.Conn, error) {
				asked = append(asked, network)
				if network == "tcp" {
					return ours, nil
				}
				if tt.four < 0 {
					return nil, errors.New("no suitable address")
				}
				select {
				case <-time.After(tt.four):
					return ours, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			})(t.Context(), "tcp", tt.addr)
			if conn != ours || err != nil || fmt.Sprint(asked) != tt.want || time.Since(began) != tt.took {
				t.Errorf("%s: asked %v, want %s, after %v, want %v: %v", tt.name, asked, tt.want, time.Since(began), tt.took, err)
			}
		})
	}
}

// TestReach: a host's addresses are tried one after the other, without waiting
// for the end of those that hang.
func TestReach(t *testing.T) {
	const hangs = time.Hour
	a, b, c := netip.MustParseAddrPort("192.0.2.1:7777"), netip.MustParseAddrPort("192.0.2.2:7777"), netip.MustParseAddrPort("[2001:db8::1]:7777")
	refused := errors.New("connection refused")
	type answer struct {
		after time.Duration
		err   error
	}
	for _, tt := range []struct {
		name    string
		answers map[netip.AddrPort]answer
		want    netip.AddrPort
		knocked int
		took    time.Duration
	}{
		{"the likeliest answers", map[netip.AddrPort]answer{a: {200 * time.Millisecond, nil}}, a, 1, 200 * time.Millisecond},
		{"it refuses", map[netip.AddrPort]answer{a: {time.Millisecond, refused}, b: {time.Millisecond, nil}}, b, 2, 2 * time.Millisecond},
		{"it hangs", map[netip.AddrPort]answer{a: {hangs, nil}, b: {time.Millisecond, nil}}, b, 2, headStart + time.Millisecond},
		{"two hang", map[netip.AddrPort]answer{a: {hangs, nil}, b: {hangs, nil}, c: {time.Millisecond, nil}}, c, 3, 2*headStart + time.Millisecond},
		{"it is slow, and still first", map[netip.AddrPort]answer{a: {300 * time.Millisecond, nil}, b: {time.Second, nil}}, a, 2, 300 * time.Millisecond},
		{"all refuse", map[netip.AddrPort]answer{a: {0, refused}, b: {0, refused}, c: {0, refused}}, netip.AddrPort{}, 3, 0},
		{"all hang", map[netip.AddrPort]answer{a: {hangs, nil}, b: {hangs, nil}, c: {hangs, nil}}, netip.AddrPort{}, 3, reachTime},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var (
				knocking sync.Mutex
				knocked  []netip.AddrPort
			)
			got, err := reach(t.Context(), []netip.AddrPort{a, b, c}, func(ctx context.Context, at netip.AddrPort) error {
				knocking.Lock()
				knocked = append(knocked, at)
				knocking.Unlock()
				select {
				case <-time.After(tt.answers[at].after):
					return tt.answers[at].err
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			took := time.Since(began)
			synctest.Wait()
			if got != tt.want || (err == nil) != tt.want.IsValid() || took != tt.took || !slices.Equal(knocked, []netip.AddrPort{a, b, c}[:tt.knocked]) {
				t.Errorf("%s: %v, %v after %v, knocked at %v", tt.name, got, err, took, knocked)
			}
			if err != nil && !errors.Is(err, ErrUnreachable) {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
	}
}

// TestReachKnocks: of a port that is open and one that is not the open one is taken.
func TestReachKnocks(t *testing.T) {
	listen := func() (net.Listener, netip.AddrPort) {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l, netip.MustParseAddrPort(l.Addr().String())
	}
	open, at := listen()
	defer open.Close()
	closed, shut := listen()
	closed.Close()
	if got, err := Reach(t.Context(), []netip.AddrPort{shut, at}); got != at || err != nil {
		t.Errorf("%v, %v, want %v", got, err, at)
	}
	if got, err := Reach(t.Context(), []netip.AddrPort{shut, shut}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("nobody is there, and %v takes a connection: %v", got, err)
	}
}
