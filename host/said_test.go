package host_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host"
)

// TestSaid checks that a room knows what its list says about servers.
func TestSaid(t *testing.T) {
	list := listOf(2)
	servers, _ := list(t.Context(), "")
	h, server := serve(t, host.Config{List: list, Said: func(game string) discovery.Said {
		if game != "openarena" {
			t.Errorf("asked for the list of %q", game)
		}
		return discovery.Said{
			At:    time.Now(),
			Infos: map[netip.AddrPort]*discovery.Info{servers[0].Addr: {Name: "Den", Mode: "ctf", AsListed: true}},
		}
	}})
	code, _, _ := h.Open(friday(1))
	if launch := join(t, server, code, "ann").plays(5); !strings.HasPrefix(launch.Name, "Den (") {
		t.Errorf("everyone is sent to %q", launch.Name)
	}
}
