package selection_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/law"
)

// TestLaw checks that a server that breaks a law is left out where another keeps it, that a player's
// best ping is the lowest of the table or an earlier one, and that a law needs both sides.
func TestLaw(t *testing.T) {
	var duelmania *law.Law
	for _, l := range law.All() {
		if l.Name == "duelmania" {
			duelmania = l
		}
	}
	addr := func(server int) netip.AddrPort {
		return netip.MustParseAddrPort(fmt.Sprintf("192.0.2.%d:27960", server))
	}
	both := map[string]selection.Side{"ann": selection.SideA, "ben": selection.SideB}
	for _, tt := range []struct {
		name    string
		best    map[string]time.Duration
		sides   map[string]selection.Side
		keep    int
		server  int
		decides bool
		culled  int
	}{
		{"ann has 60 at best and ben 40, so 20 more is her own", nil, both, 0, 1, false, 1},
		{"she had 45 once, so 5 more is", map[string]time.Duration{"ann": 45 * time.Millisecond}, both, 0, 0, false, 2},
		{"she had 20 once, and no server keeps 1 less", map[string]time.Duration{"ann": 20 * time.Millisecond}, both, 2, 0, true, 0},
		{"nobody is on side b", nil, map[string]selection.Side{"ann": selection.SideA}, 1, 1, false, 0},
	} {
		table := selection.NewTable([]string{"ann", "ben"}, 4)
		var servers selection.Servers
		for server, pings := range [][2]int{{60, 54}, {60, 40}, {90, 70}, {99, 0}} {
			servers.List = append(servers.List, discovery.Server{Addr: addr(server)})
			table.Set(0, server, discovery.Answered, time.Duration(pings[0])*time.Millisecond)
			if pings[1] > 0 {
				table.Set(1, server, discovery.Answered, time.Duration(pings[1])*time.Millisecond)
			}
		}
		s := selection.Select(servers, table, selection.Criteria{
			By: selection.Mean, Law: duelmania, Sides: tt.sides, Best: tt.best, Keep: addr(tt.keep), Differing: true,
		})
		if j := s.Chosen.Law; s.Chosen.Server != tt.server || (j != nil && j.Decides) != tt.decides || s.Culled.Lawless != tt.culled {
			t.Errorf("%s: server %d, %+v, culled %+v", tt.name, s.Chosen.Server, j, s.Culled)
		}
	}
}
