package selection

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
)

// TestBasis: a choice from a part of a basis is the one from a table of these players alone.
func TestBasis(t *testing.T) {
	list := make([]discovery.Server, 3)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, byte(i)}), 27960)
	}
	rtts := map[string][]int{"ann": {10, 40, 0}, "bob": {90, 50, 60}, "cat": {0, 20, 30}}
	table := func(players ...string) *Table {
		table := NewTable(players, len(list))
		for column, name := range players {
			for server, ms := range rtts[name] {
				state := discovery.Answered
				if ms == 0 {
					state = discovery.Lost
				}
				table.Set(column, server, state, time.Duration(ms)*time.Millisecond)
			}
			table.SetLate(column, time.Duration(rtts[name][1])*time.Microsecond)
			table.SetQuality(column, 1, Quality{Loss: float64(rtts[name][1]) / 100})
		}
		return table
	}
	infos := map[int]*discovery.Info{1: {Name: "middle", MaxPlayers: 4}}
	ann, bob := Edition{Player: "ann"}, Edition{Player: "bob"}
	b := Basis{
		Servers: Servers{List: list, Infos: infos}, Table: table("ann", "bob", "cat"),
		Criteria: Criteria{By: "mean", Seats: 2, Editions: []Edition{ann, bob}}, Along: []string{"ann", "cat"}, Guests: 1,
	}
	for _, c := range []struct {
		players  []string
		seats    int
		editions []Edition
	}{
		{[]string{"ann", "bob", "cat"}, 4, []Edition{ann, bob}},
		{[]string{"cat", "bob"}, 4, []Edition{bob}},
		{[]string{"ann"}, 3, []Edition{ann}},
		{nil, 3, []Edition{}},
	} {
		some, direct := b.For(c.players), table(c.players...)
		if some.Criteria.Seats != c.seats || !reflect.DeepEqual(some.Criteria.Editions, c.editions) {
			t.Errorf("%v: %d seats and editions %v, want %d and %v", c.players, some.Criteria.Seats, some.Criteria.Editions, c.seats, c.editions)
		}
		if want := Select(b.Servers, direct, some.Criteria); !reflect.DeepEqual(some.Select(), want) {
			t.Errorf("%v: chose %+v, want %+v", c.players, some.Select(), want)
		}
		for i := range c.players {
			if some.Table.Late(i) != direct.Late(i) {
				t.Errorf("%v: late %v, want %v", c.players, some.Table.Late(i), direct.Late(i))
			}
		}
	}
	if len(b.Table.Players()) != 3 || b.Criteria.Seats != 2 || len(b.Criteria.Editions) != 2 {
		t.Error("the basis has changed")
	}
	if stranger := b.Table.Of([]string{"zoe"}); stranger.Players()[0] != "zoe" {
		t.Error("a player without a column gets none")
	}
}
