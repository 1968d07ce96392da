package cli

import (
	"net/netip"
	"slices"
	"testing"
)

func TestIsHomely(t *testing.T) {
	for addr, want := range map[string]bool{
		"192.168.1.7": true, "10.0.0.7": true, "fd00::7": true, "2001:db8::7": true,
		"198.51.100.7": false, "127.0.0.1": false, "169.254.3.7": false, "fe80::7": false, "::1": false,
	} {
		if got := isHomely(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v, want %v", addr, got, want)
		}
	}
}

func TestCardOf(t *testing.T) {
	if got := cardOf(localhost); !slices.Contains(got, netip.MustParsePrefix("127.0.0.1/8")) {
		t.Errorf("the networks of this machine's own card: %v", got)
	}
	if got := cardOf(netip.MustParseAddr("192.0.2.77")); got != nil {
		t.Errorf("a card with an address of documentation: %v", got)
	}
}
