package netinfo

import (
	"net/netip"
	"slices"
	"testing"
)

func TestSharesAddress(t *testing.T) {
	for addr, want := range map[string]bool{
		"192.168.1.7": true, "10.0.0.7": true, "fd00::7": true, "2001:db8::7": true,
		"198.51.100.7": false, "127.0.0.1": false, "169.254.3.7": false, "fe80::7": false, "::1": false,
	} {
		if got := sharesAddress(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v, want %v", addr, got, want)
		}
	}
}

func TestCardOf(t *testing.T) {
	if got := cardOf(Localhost); !slices.Contains(got, netip.MustParsePrefix("127.0.0.1/8")) {
		t.Errorf("the networks of this machine's own card: %v", got)
	}
	if got := cardOf(netip.MustParseAddr("192.0.2.77")); got != nil {
		t.Errorf("a card with an address of documentation: %v", got)
	}
}

// TestIsOwn checks that this machine knows its own addresses, in every form.
func TestIsOwn(t *testing.T) {
	for text, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "192.0.2.1": false, "2001:db8::1": false} {
		if got := IsOwn(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is this machine's: %v", text, got)
		}
	}
}

// TestLikeliest checks that a machine without IPv4 is reached by IPv6, and one without a network not at all.
func TestLikeliest(t *testing.T) {
	addr := netip.MustParseAddr
	var none netip.Addr
	loopback, link := addr("127.0.0.1"), addr("fe80::1")
	for _, c := range []struct {
		name           string
		route4, route6 netip.Addr
		own            []netip.Addr
		want           string
	}{
		{"both", addr("192.168.1.7"), addr("2001:db8::7"), []netip.Addr{loopback, addr("172.17.0.1"), addr("192.168.1.7")}, "192.168.1.7"},
		{"a party without a router", none, none, []netip.Addr{loopback, link, addr("2001:db8::7"), addr("10.9.0.1")}, "10.9.0.1"},
		{"IPv6 alone", none, addr("2001:db8::7"), []netip.Addr{loopback, link, addr("fd00::7"), addr("2001:db8::7")}, "2001:db8::7"},
		{"IPv6 without a router", none, none, []netip.Addr{loopback, link, addr("fd00::7")}, "fd00::7"},
		{"no network", none, none, []netip.Addr{loopback, addr("::1")}, "127.0.0.1"},
	} {
		if got := likeliest(c.route4, c.route6, c.own); got.String() != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}
