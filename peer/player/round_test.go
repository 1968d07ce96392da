package player

import (
	"net/netip"
	"testing"
)

func TestMayAsk(t *testing.T) {
	const internet, network, machine = "203.0.113.1", "192.168.1.2", "127.0.0.1"
	tests := []struct {
		host, server string
		want         bool
	}{
		{internet, "192.0.2.1", true},
		{internet, "2001:db8::1", true},
		{internet, "192.168.1.1", false},
		{internet, "fd00::1", false},
		{internet, "169.254.169.254", false},
		{internet, "100.100.100.100", false},
		{internet, "127.0.0.1", false},
		{internet, "0.0.0.0", false},
		{network, "192.0.2.1", true},
		{network, "10.0.0.1", true}, // another network, known to the host
		{network, "127.0.0.1", false},
		{machine, "127.1.0.2", true},
		{machine, "192.168.1.1", true},
		{machine, "0.0.0.0", false},
		{machine, "224.0.0.251", false},
		{machine, "255.255.255.255", false},
	}
	for _, tt := range tests {
		if got := mayAsk(netip.MustParseAddr(tt.host), netip.MustParseAddr(tt.server)); got != tt.want {
			t.Errorf("a host at %s may have us ask %s: %t", tt.host, tt.server, got)
		}
	}
}
