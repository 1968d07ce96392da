package room

import (
	"slices"
	"testing"

	"muster/host/wire"
)

// TestDiscreet: who shows their address to few servers is asked for no more, also behind
// one address with somebody who does not mind, who is asked in their place; it is told,
// and kept.
func TestDiscreet(t *testing.T) {
	n := newSession(t, settings(0))
	for _, most := range []int{50, 50, 20} {
		if err := n.step(Join{Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "dora", Token: "dora's token", Discreet: most}, Token: "dora's token"}); err != nil {
			t.Fatal(err)
		}
	}
	n.join("ann")
	n.noted("dora asks at most 50 servers a round: the search works round that", "dora asks at most 20 servers a round: the search works round that")
	if err := n.step(Join{Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "dora", Token: "dora's token", Discreet: 20}, Token: "dora's token"}); err != nil {
		t.Fatal(err)
	}
	same(t, n.room, restored(t, n.room))
	dora, ann := n.room.round.player("dora"), n.room.round.player("ann")
	for _, c := range []struct {
		players []*player
		open    []int
		most    int
		few     bool
	}{
		{[]*player{dora}, []int{0}, 20 - wire.SearchFinalists, true},
		{[]*player{dora, dora}, []int{0, 1}, 2 * (20 - wire.SearchFinalists), true},
		{[]*player{dora, ann}, []int{1}, 0, false},
		{[]*player{ann}, []int{0}, 0, false},
	} {
		g := &probeGroup{players: c.players}
		if most, few := g.few(); most != c.most || few != c.few || !slices.Equal(g.open(), c.open) {
			t.Errorf("%d players: %d servers more, %v, asked are %v; want %+v", len(c.players), most, few, g.open(), c)
		}
	}
	dora.asked.add(3, n.now)
	if got := dora.mayAsk(); got != 20-wire.SearchFinalists-1 {
		t.Errorf("she may be asked for %d more", got)
	}
}
