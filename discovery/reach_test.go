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

		"0.1.2.3":             discovery.NoReach,
		"0.255.255.255":       discovery.NoReach,
		"1.0.0.0":             discovery.InternetReach,
		"239.255.255.255":     discovery.NoReach,
		"240.0.0.0":           discovery.NoReach,
		"254.1.2.3":           discovery.NoReach,
		"192.0.0.8":           discovery.NetworkReach,
		"192.0.1.0":           discovery.InternetReach,
		"198.17.255.255":      discovery.InternetReach,
		"198.18.0.0":          discovery.NetworkReach,
		"198.19.255.255":      discovery.NetworkReach,
		"198.20.0.0":          discovery.InternetReach,
		"::2":                 discovery.NoReach,
		"::10.0.0.1":          discovery.NoReach,
		"::192.0.2.1":         discovery.NoReach,
		"100::1":              discovery.NoReach,
		"fec0::1":             discovery.NetworkReach,
		"fe80::1%eth0":        discovery.NetworkReach,
		"::1%eth0":            discovery.MachineReach,
		"::ffff:0.1.2.3":      discovery.NoReach,
		"::ffff:240.0.0.1":    discovery.NoReach,
		"64:ff9b::192.0.2.1":  discovery.InternetReach,
		"64:ff9b::10.0.0.1":   discovery.NetworkReach,
		"64:ff9b::127.0.0.1":  discovery.MachineReach,
		"64:ff9b::224.0.0.1":  discovery.NoReach,
		"64:ff9b:1::c000:201": discovery.NetworkReach,
		"64:ff9b:2::1":        discovery.InternetReach,
		"2002:c000:201::1":    discovery.InternetReach,
		"2002:c0a8:101::1":    discovery.NetworkReach,
		"2002:7f00:1::1":      discovery.MachineReach,
		"2002:6440:1::1":      discovery.NetworkReach,
		"2002:0:1::1":         discovery.NoReach,
		"2003::1":             discovery.InternetReach,
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

func TestIsStandIn(t *testing.T) {
	for addr, want := range map[string]bool{"198.17.255.255": false, "198.18.0.0": true, "198.19.255.255": true,
		"::ffff:198.18.0.7": true, "198.20.0.0": false} {
		if got := discovery.IsStandIn(netip.MustParseAddr(addr)); got != want {
			t.Errorf("IsStandIn(%s) = %v", addr, got)
		}
	}
}

// TestKeys checks that keys are told from real addresses, and from each other.
func TestKeys(t *testing.T) {
	for _, sum := range []uint64{0, 1, 1 << 63, 0xffffffffffffffff} {
		key := discovery.Placeholder(sum)
		if !discovery.IsPlaceholder(key.Addr()) || discovery.ReachOf(key.Addr()) != discovery.InternetReach || key.Port() == 0 {
			t.Errorf("%x: %v", sum, key)
		}
		if next := discovery.Placeholder(sum + 1); next == key {
			t.Errorf("%x: %v twice", sum, key)
		}
	}
	for _, other := range []string{"2001:db8::1", "192.0.2.1", "2606:4700::1"} {
		if discovery.IsPlaceholder(netip.MustParseAddr(other)) {
			t.Errorf("%s is a key", other)
		}
	}
}
