package lines_test

import (
	"maps"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/lines"
	"muster/host/room/people"
	"muster/selection"
	"muster/selection/excess"
	"muster/selection/memory"
)

// TestFound checks that the lowest round trip of a session counts, that lines inside tell nothing, and
// that a player who left is forgotten.
func TestFound(t *testing.T) {
	const ms = time.Millisecond
	var list []discovery.Server
	players := []string{"ann", "ben", "cat", "dan", "eve", "fay"}
	table := selection.NewTable(players, 3)
	for server := range 3 {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 1)
		list = append(list, discovery.Server{Addr: addr, Country: "DE", ASN: 7})
		for player := range players {
			rtt := time.Duration(40+20*player) * ms
			if player < 2 {
				rtt += 30 * ms
			}
			table.Set(player, server, discovery.Answered, rtt)
		}
	}
	var b lines.Book
	at := excess.Place{Country: "DE", ASN: 7}
	trips := map[people.ID]time.Duration{}
	for player, name := range players {
		trips[people.ID(name)] = time.Duration(46+20*player) * ms
	}
	b.Note(lines.Seen{RoundTrips: trips, At: at})
	b.Note(lines.Seen{RoundTrips: map[people.ID]time.Duration{"ann": 300 * ms, "cat": 0}, At: at})
	expect := func(when string, inside people.ID, want map[string]selection.Excess) {
		t.Helper()
		got := b.Found(list, table, func(player people.ID) bool { return player != inside }, func(people.ID) []memory.Cell { return nil })
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	over := selection.Excess{MS: 30}
	expect("all outside", "", map[string]selection.Excess{"ann": over, "ben": over})
	expect("ann on the host's network", "ann", map[string]selection.Excess{"ben": over})
	b.Forget("ben")
	expect("ben has left", "", map[string]selection.Excess{"ann": over})
	if got := b.Landmarks(list); len(got) != 3 {
		t.Errorf("landmarks %v", got)
	}
}
