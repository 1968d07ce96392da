package cli

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

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
			if err != nil && !strings.Contains(err.Error(), "192.0.2.1:7777 or 192.0.2.2:7777 or [2001:db8::1]:7777") {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
	}
}

func TestKnock(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(l.Addr().String())
	if err := knock(t.Context(), at); err != nil {
		t.Error(err)
	}
	l.Close()
	if err := knock(t.Context(), at); err == nil {
		t.Error("nobody is there, and takes a connection")
	}
}
