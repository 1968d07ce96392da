package lobby

import (
	"net/netip"
	"strings"
	"testing"

	"muster/internal/portmap"
)

// TestPassedOn checks that the text about a forwarded port says whether others can reach it.
func TestPassedOn(t *testing.T) {
	for _, c := range []struct {
		outside string
		isTold  bool
		want    string
	}{
		{"203.0.113.7:7787", false, "others measure this computer at 203.0.113.7:7787"},
		{"203.0.113.7:7787", true, "others measure this computer at 203.0.113.7:7787"},
		{"203.0.113.7:7788", false, "others get no answer from you at 7787"},
		{"203.0.113.7:7788", true, "others measure this computer at 203.0.113.7:7788"},
		{"192.168.1.2:7787", true, "its own address 192.168.1.2 isn't on the internet"},
		{"192.168.1.2:7788", true, "its own address 192.168.1.2 isn't on the internet"},
		{"100.64.1.2:7787", false, "its own address 100.64.1.2 isn't on the internet"},
	} {
		m := portmap.Mapping{External: netip.MustParseAddrPort(c.outside), Port: 7787, Transport: portmap.UDP, Protocol: "PCP"}
		if got := english(PassedOn(m, c.isTold)); !strings.Contains(got, c.want) {
			t.Errorf("%s is told as %q, want %q", c.outside, got, c.want)
		}
	}
}
