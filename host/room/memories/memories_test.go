package memories_test

import (
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/memories"
	"muster/host/room/people"
	"muster/selection/memory"
)

// TestBook checks that a player's own memory counts before the host's, and that players without any
// have no forecasts.
func TestBook(t *testing.T) {
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	tree := topology.New([]discovery.Server{{Addr: netip.MustParseAddrPort("192.0.2.1:1"), Country: "DE", ASN: 7}})
	as := func(ms float64) []memory.Cell {
		return []memory.Cell{{Part: memory.Part{Country: "DE", ASN: 7}, MS: ms, Count: 1, Seen: now}}
	}
	var b memories.Book
	expect := func(when string, ann float64) {
		t.Helper()
		all := b.Forecasts(tree, []people.ID{"ann", "bob"}, func(people.ID) string { return "" }, now)
		if ann == 0 {
			if all != nil {
				t.Errorf("%s: %v", when, all)
			}
			return
		}
		if len(all) != 2 || len(all[0]) == 0 || all[0][0].MS != ann || len(all[1]) != 0 {
			t.Errorf("%s: %v, want %v ms", when, all, ann)
		}
	}
	expect("before anything", 0)
	b.Tell("ann", as(30))
	expect("by the host", 30)
	b.Bring("ann", as(20))
	expect("by herself", 20)
	b.Tell("ann", as(40))
	expect("whatever the host says", 20)
	b.Bring("ann", nil)
	expect("once she has forgotten", 40)
	b.Forget("ann")
	expect("after she left", 0)

	from := func(player people.ID) string { return map[people.ID]string{"ann": "NZ", "bob": "AT"}[player] }
	all := b.Forecasts(tree, []people.ID{"ann", "bob"}, from, now)
	if len(all) != 2 || len(all[0]) != 1 || len(all[1]) != 1 || !all[0][0].IsVague || all[0][0].MS < 4*all[1][0].MS {
		t.Errorf("nothing is remembered by players in New Zealand and Austria: %+v", all)
	}
	if all := b.Forecasts(tree, []people.ID{"ann", "cat"}, from, now); all != nil {
		t.Errorf("one player may be anywhere: %v", all)
	}
	b.Bring("bob", as(20))
	if all := b.Forecasts(tree, []people.ID{"ann", "bob"}, from, now); len(all) != 2 || all[0] != nil || all[1][0].IsVague {
		t.Errorf("one remembers: %+v", all)
	}
}
