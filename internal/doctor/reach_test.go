package doctor

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"muster/discovery/lists/master"
	"muster/discovery/names"
	"muster/internal/game"
)

// TestReach checks that a machine that finds no name, or gets no list, is told so. Its names come from the test,
// and its master sits on this machine.
func TestReach(t *testing.T) {
	quiet, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := quiet.LocalAddr().(*net.UDPAddr).AddrPort()
	quiet.Close() // so that nothing listens there
	games, err := game.Load(strings.NewReader(""), "")
	if err != nil {
		t.Fatal(err)
	}
	arena, err := games.Find("openarena")
	if err != nil {
		t.Fatal(err)
	}
	asks := func(name string) []master.Query {
		queries, err := arena.Queries(fmt.Sprintf("%s:%d", name, at.Port()))
		if err != nil {
			t.Fatal(err)
		}
		return queries
	}
	here := func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{at.Addr()}, nil }
	nowhere := func(_ context.Context, host string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "server misbehaving", Name: host}
	}
	for _, c := range []struct {
		name   string
		lists  []master.Query
		lookup names.Lookup
		want   string
	}{
		{"nothing is tried", nil, nowhere, ""},
		{"no name", asks("master.invalid"), nowhere, "warn names: master.invalid: server misbehaving; warn lists: not known without names"},
		{"no list", asks("master.invalid"), here, "ok names: master.invalid has an address; warn lists: no list of servers comes: no master answers: master.invalid: connection refused"},
		{"no list at an address", asks("127.0.0.1"), nowhere, "warn lists: no list of servers comes: no master answers: 127.0.0.1: connection refused"},
	} {
		var d diagnosis
		d.reach(reach(t.Context(), c.lists, c.lookup))
		var got []string
		for _, check := range d {
			got = append(got, string(check.State)+" "+check.Name+": "+check.Detail)
		}
		if all := strings.ReplaceAll(strings.Join(got, "; "), fmt.Sprintf(":%d", at.Port()), ""); all != c.want {
			t.Errorf("%s: %s, want %s", c.name, all, c.want)
		}
	}
	var d diagnosis
	if d.reach(reached{isTried: true, found: "master.example", servers: 40}); len(d) != 2 || d[1].State != OK || d[1].Detail != "40 servers came" {
		t.Errorf("a list: %+v", d)
	}
}
