package selection

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"muster/discovery"
)

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
