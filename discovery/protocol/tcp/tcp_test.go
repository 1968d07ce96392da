package tcp_test

import (
	"testing"

	"muster/discovery"
	"muster/discovery/protocol/tcp"
)

// TestQueryPort checks where a server takes connections, and that none is below its own port.
func TestQueryPort(t *testing.T) {
	for _, c := range []struct{ above, port, want uint16 }{{0, 4000, 4000}, {1, 22005, 22006}, {1, 65535, 65535}} {
		var p discovery.Aside = tcp.Protocol{Above: c.above}
		if got := p.QueryPort(c.port); got != c.want {
			t.Errorf("%d above %d: %d, want %d", c.above, c.port, got, c.want)
		}
	}
}
