package peer

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAround checks the order of a host's addresses: IPv4 first, IPv6 if that fails, and within a family any address
// that answers, however many others do not.
func TestAround(t *testing.T) {
	const hangs = time.Hour
	four, other, third, six := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"),
		netip.MustParseAddr("192.0.2.3"), netip.MustParseAddr("2001:db8::1")
	type answers map[netip.Addr]time.Duration // how long an address takes to answer; below 0 it fails at once
	for _, tt := range []struct {
		name    string
		answers answers
		left    netip.Addr
		want    netip.Addr
		tried   int
		took    time.Duration
	}{
		{"both", answers{four: 50 * time.Millisecond, six: 0}, netip.Addr{}, four, 1, 50 * time.Millisecond},
		{"both, and IPv4 was lost", answers{four: 50 * time.Millisecond, six: 0}, four, four, 1, 50 * time.Millisecond},
		{"IPv4 fails", answers{four: -1, six: 0}, netip.Addr{}, six, 2, 0},
		{"IPv4 leads nowhere", answers{four: hangs, six: 0}, netip.Addr{}, six, 2, nextAfter},
		{"an address of IPv6 alone", answers{six: time.Second / 2}, netip.Addr{}, six, 1, time.Second / 2},
		{"two machines, of which one was lost", answers{four: 0, other: 0}, four, other, 1, 0},
		{"one takes connections and says nothing", answers{four: hangs, other: time.Millisecond}, other, other, 2, nextAfter + time.Millisecond},
		{"two do", answers{four: hangs, other: hangs, third: time.Millisecond}, third, third, 3, 2*nextAfter + time.Millisecond},
		{"two are off", answers{four: -1, other: -1, third: time.Millisecond}, third, third, 3, time.Millisecond},
		{"all are off", answers{four: -1, other: -1}, netip.Addr{}, netip.Addr{}, 2, 0},
		{"nowhere at all", answers{}, netip.Addr{}, netip.Addr{}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			tried, open := 0, 0
			began := time.Now()
			conn, at, err := around(t.Context(), slices.Collect(maps.Keys(tt.answers)), tt.left, rand.New(rand.NewPCG(1, 0)),
				func(ctx context.Context, addr netip.Addr) (*counted, error) {
					mu.Lock()
					defer mu.Unlock()
					tried++
					after := tt.answers[addr]
					mu.Unlock()
					defer mu.Lock()
					if after < 0 {
						return nil, errors.New("nobody is there")
					}
					select {
					case <-time.After(after):
						mu.Lock()
						defer mu.Unlock()
						open++
						return &counted{&mu, &open}, nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				})
			took := time.Since(began)
			if at != tt.want || (err == nil) != (conn != nil) || tried != tt.tried || took != tt.took {
				t.Errorf("%s: %v after %v, %d tried, %v; want %v after %v, %d tried", tt.name, at, took, tried, err, tt.want, tt.took, tt.tried)
			}
			if want := min(1, len(tt.want.AsSlice())); open != want {
				t.Errorf("%s: %d connections are open", tt.name, open)
			}
		})
	}
}

// counted is a connection that counts itself while open.
type counted struct {
	mu   *sync.Mutex
	open *int
}

func (c *counted) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.open--
	return nil
}

// TestReach checks that a host's addresses are tried in turn, without waiting for those that hang.
func TestReach(t *testing.T) {
	const hangs = time.Hour
	a, b, c := netip.MustParseAddrPort("192.0.2.1:7777"), netip.MustParseAddrPort("192.0.2.2:7777"),
		netip.MustParseAddrPort("[2001:db8::1]:7777")
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
		{"two hang", map[netip.AddrPort]answer{a: {hangs, nil}, b: {hangs, nil}, c: {time.Millisecond, nil}}, c, 3,
			2*headStart + time.Millisecond},
		{"it is slow, and still first",
			map[netip.AddrPort]answer{a: {300 * time.Millisecond, nil}, b: {time.Second, nil}}, a, 2, 300 * time.Millisecond},
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
			if got != tt.want || (err == nil) != tt.want.IsValid() || took != tt.took ||
				!slices.Equal(knocked, []netip.AddrPort{a, b, c}[:tt.knocked]) {
				t.Errorf("%s: %v, %v after %v, knocked at %v", tt.name, got, err, took, knocked)
			}
			if err != nil && !errors.Is(err, ErrUnreachable) {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
	}
}

// TestReachKnocks checks that the open port wins over a closed one.
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
