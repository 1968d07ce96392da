package lobby_test

import (
	"net/netip"
	"strings"
	"testing"

	"muster/internal/catalogue"
	"muster/internal/lobby"
)

// TestWaysOut checks that a host behind a router is told so at once, and how friends get in.
func TestWaysOut(t *testing.T) {
	for addr, isTold := range map[string]bool{
		"192.168.1.5": true, "10.0.0.1": true, "172.20.0.1": true, "100.64.0.1": true, "fd00::1": true, "169.254.1.1": true,
		"198.51.100.7": false, "2001:db8::1": false,
	} {
		ways := catalogue.InEnglish().Say(lobby.WaysOut(netip.MustParseAddr(addr)))
		if isTold != strings.Contains(ways, "--port-map") || isTold != strings.Contains(ways, "--at URL") ||
			isTold != strings.Contains(ways, "--public-url") {
			t.Errorf("at %s the organiser reads %q", addr, ways)
		}
	}
}
