package discovery_test

import (
	"net/netip"
	"testing"

	"muster/discovery"
)

func TestReachOf(t *testing.T) {
	tests := map[string]discovery.Reach{
		"0.0.0.0":          discovery.NoReach,
		"::":               discovery.NoReach,
		"255.255.255.255":  discovery.NoReach,
		"224.0.0.251":      discovery.NoReach,
		"ff02::fb":         discovery.NoReach,
		"127.0.0.1":        discovery.MachineReach,
		"127.1.2.3":        discovery.MachineReach,
		"::1":              discovery.MachineReach,
		"::ffff:127.0.0.1": discovery.MachineReach,
		"10.0.0.1":         discovery.NetworkReach,
		"172.31.255.255":   discovery.NetworkReach,
		"192.168.1.1":      discovery.NetworkReach,
		"::ffff:10.0.0.1":  discovery.NetworkReach,
		"169.254.1.1":      discovery.NetworkReach,
		"fe80::1":          discovery.NetworkReach,
		"fd00::1":          discovery.NetworkReach,
		"100.64.0.1":       discovery.NetworkReach,
		"100.127.255.255":  discovery.NetworkReach,
		"100.63.255.255":   discovery.InternetReach,
		"100.128.0.0":      discovery.InternetReach,
		"172.32.0.0":       discovery.InternetReach,
		"192.0.2.1":        discovery.InternetReach,
		"2001:db8::1":      discovery.InternetReach,
	}
	for addr, want := range tests {
		if got := discovery.ReachOf(netip.MustParseAddr(addr)); got != want {
			t.Errorf("ReachOf(%s) = %d, want %d", addr, got, want)
		}
	}
	if got := discovery.ReachOf(netip.Addr{}); got != discovery.NoReach {
		t.Errorf("an invalid address has reach %d", got)
	}
}
