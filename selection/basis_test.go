package selection

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
)

// TestBasis checks that a choice from a part of a basis equals the one from a table of these
// players alone.
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

// TestEstimated checks that a choice names the players whose pings are estimates, and says nothing
// of their loss and jitter. Without them it is the choice of the others alone.
func TestEstimated(t *testing.T) {
	b := Basis{Table: NewTable([]string{"ann", "zoe", "bob"}, 2), Criteria: Criteria{By: Mean, Seats: 2}, Along: []string{"ann"}, Guests: 1}
	b.Servers.Infos = map[int]*discovery.Info{0: {MaxPlayers: 9}, 1: {MaxPlayers: 9}}
	for server := range 2 {
		b.Servers.List = append(b.Servers.List,
			discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, byte(server)}), 27960)})
		for column := range 3 {
			b.Table.Set(column, server, discovery.Answered, time.Duration(10+column+server)*time.Millisecond)
			b.Table.SetQuality(column, server, Quality{Loss: 0.1, Jitter: time.Millisecond})
		}
	}
	if s := b.Select(); s.Estimated != nil || len(s.Chosen.Loss) != 3 || b.Measured().Table != b.Table {
		t.Errorf("without estimates it chose %+v, estimated %v", s.Chosen, s.Estimated)
	}
	b.Estimated = map[string]float64{"zoe": 9}
	s := b.Select()
	if !reflect.DeepEqual(s.Estimated, b.Estimated) || len(s.Players) != 3 {
		t.Errorf("estimated are %v of %v", s.Estimated, s.Players)
	}
	for _, ranked := range append(s.Ranking, *s.Chosen) {
		if len(ranked.Loss) != 2 || len(ranked.JitterMS) != 2 || ranked.Loss["ann"] != 0.1 || len(ranked.RTT) != 3 {
			t.Errorf("of %v it knows %v, %v", ranked.Addr, ranked.Loss, ranked.JitterMS)
		}
	}
	b.Estimated["eve"] = 3
	if len(s.Estimated) != 1 {
		t.Error("the choice shares the estimates of the basis")
	}
	without := b.Measured()
	if !reflect.DeepEqual(without.Table.Players(), []string{"ann", "bob"}) || without.Estimated != nil || without.Criteria.Seats != 3 {
		t.Errorf("without estimates it is for %v, with %d seats", without.Table.Players(), without.Criteria.Seats)
	}
	if s := without.Select(); s.Estimated != nil || len(s.Chosen.Loss) != 2 {
		t.Errorf("without estimates it chose %+v", s.Chosen)
	}
}

// TestListedWordIsLookedUpWhereItCounts checks that the short cut for servers that answer all
// criteria themselves gives the same causes as looking up every fact.
func TestListedWordIsLookedUpWhereItCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	info := func() *discovery.Info {
		return &discovery.Info{
			Name: one("", "a"), Map: one("", "a", "b"), Mode: one("", "a", "b"), Mod: one("", "a", "b"), Version: one("", "1", "2"),
			Tags: discovery.Tags(one("", "a", "b")), Players: random.IntN(3), MaxPlayers: random.IntN(3),
			Bots: random.IntN(2), Password: random.IntN(2) == 0,
			Protocol: random.IntN(3), OldestProtocol: random.IntN(2),
		}
	}
	addr, spared := netip.MustParseAddrPort("192.0.2.1:27960"), 0
	for range 20_000 {
		c := Criteria{
			Seats: random.IntN(3), Wishes: Wishes{NoPassword: random.IntN(2) == 0, Map: one("", "", "a"), Mode: one("", "", "a"), Mod: one("", "", "a"), Version: one("", "", "1"), Tags: one("", "", "a", "-a")},
		}
		if random.IntN(3) == 0 {
			c.Editions = []Edition{{"ann", discovery.Edition{Version: "1", Protocol: 1}}}
		}
		if random.IntN(3) == 0 {
			c.Vetoes = []Veto{{Player: "ann", Map: "a"}}
		}
		heard, listed := info(), info()
		listed.AsListed = true
		f := NewFilter(Servers{
			List: []discovery.Server{{Addr: addr}},
			Said: discovery.Said{Infos: map[netip.AddrPort]*discovery.Info{addr: listed}},
		}, c)
		all, known := heard.Completed(listed), f.known(0, heard)
		if known == heard && all != heard {
			spared++
		}
		if f.judgeBy(0, all, false) != f.judgeBy(0, known, false) || freeSeats(all) != freeSeats(known) {
			t.Fatalf("%+v, listed as %+v: %b and %d free, want %b and %d; wanted is %+v", heard, listed,
				f.judgeBy(0, known, false), freeSeats(known), f.judgeBy(0, all, false), freeSeats(all), c)
		}
	}
	if spared == 0 {
		t.Error("the list is always looked up")
	}
}
