package wire_test

import (
	"strings"
	"testing"

	"muster/host/wire"
)

// TestNearBounds checks that a player's program may report only servers of private networks, and
// only so many.
func TestNearBounds(t *testing.T) {
	near := func(addrs ...string) wire.Frame {
		return wire.Frame{Data: []byte(`{"type":"near","game":"openarena","servers":[{"addr":"` + strings.Join(addrs, `"},{"addr":"`) + `"}]}`)}
	}
	for _, addr := range []string{"192.168.1.5:27960", "10.0.0.1:1", "[fd00::1]:27960", "100.64.0.1:27015"} {
		if _, err := wire.Unmarshal(near(addr)); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"192.0.2.1:27960", "127.0.0.1:27960", "0.0.0.0:27960", "224.0.0.1:5353",
		"255.255.255.255:27960", "192.168.1.5:0", "[::ffff:192.168.1.5]:27960", "[fe80::1%eth0]:27960", "den.local:27960"} {
		if _, err := wire.Unmarshal(near(addr)); err == nil {
			t.Errorf("%s is let through", addr)
		}
	}
	many := strings.Split(strings.Repeat("192.168.1.5:27960 ", wire.MaxNear), " ")[:wire.MaxNear]
	if _, err := wire.Unmarshal(near(many...)); err != nil {
		t.Errorf("%d servers: %v", wire.MaxNear, err)
	}
	if _, err := wire.Unmarshal(near(append(many, many[0])...)); err == nil {
		t.Errorf("%d servers are let through", wire.MaxNear+1)
	}
}
