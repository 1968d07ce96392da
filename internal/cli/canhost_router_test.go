package cli

import (
	"net/netip"
	"strings"
	"testing"

	"muster/internal/portmap"
)

// TestPassedOn: what a router opened is told for what it is worth.
func TestPassedOn(t *testing.T) {
	for outside, want := range map[string]string{
		"203.0.113.7:7787": "others ask for this computer at 203.0.113.7:7787",
		"203.0.113.7:7788": "others ask for you at 7787 in vain",
		"192.168.1.2:7787": "its own address 192.168.1.2 is not of the internet",
		"100.64.1.2:7787":  "its own address 100.64.1.2 is not of the internet",
	} {
		m := portmap.Mapping{External: netip.MustParseAddrPort(outside), Port: 7787, Transport: portmap.UDP, By: "PCP"}
		if got := passedOn(m); !strings.Contains(got, want) {
			t.Errorf("%s is told as %q", outside, got)
		}
	}
}
