package facts_test

import (
	"slices"
	"testing"

	"muster/host/room/facts/factstest"
	"muster/host/room/people"
	"muster/host/wire"
)

// TestInfos checks that words about servers that the list does not have are refused whole.
func TestInfos(t *testing.T) {
	g := factstest.New(t, factstest.Settings(), 10, "ann")
	g.Gets(factstest.List(10))
	g.Measures("ann", 10)
	stranger := g.HearInfos("ann", wire.Infos{Servers: []wire.ServerInfo{{Server: 0, Info: factstest.Info()}, {Server: 10}}}, g.Now)
	g.RefreshFacts()
	if stranger != 10 || g.Servers.Info(0) != nil {
		t.Errorf("a stranger is %d, of the first is known %+v", stranger, g.Servers.Info(0))
	}
}

// TestSeats checks that there are seats for the choice's players, for guests who count, and for all
// who come along.
func TestSeats(t *testing.T) {
	for _, tt := range []struct {
		name    string
		players []people.ID
		fewest  int
		counted bool
		along   []string
		seats   int // that a choice asks for
	}{
		{"for all", []people.ID{"ann", "bob", "cat"}, 0, false, []string{"ann", "bob", "cat"}, 3},
		{"for some, and one comes along", []people.ID{"ann", "bob"}, 0, false, []string{"ann", "bob", "cat"}, 3},
		{"for all, and a guest", []people.ID{"ann", "bob", "cat"}, 0, true, []string{"ann", "bob", "cat"}, 4},
		{"for some, and a guest", []people.ID{"ann"}, 0, true, []string{"ann", "bob", "cat"}, 4},
		{"for more to come", []people.ID{"ann"}, 6, false, []string{"ann", "bob", "cat"}, 6},
	} {
		g := germans(t, factstest.Settings())
		g.Join("dan")
		g.Attendance.Leave("dan", g.Now)
		if g.Settings.Players = tt.fewest; tt.counted {
			counts(g, "zoe")
		}
		guests := 0
		if tt.counted {
			guests = 1
		}
		g.Measures("ann", 10)
		b := g.F.Basis(tt.players)
		if !slices.Equal(b.Along, tt.along) || b.Guests != guests || b.Criteria.Seats != tt.fewest {
			t.Errorf("%s: along come %v and %d guests, wanted are %d seats", tt.name, b.Along, b.Guests, b.Criteria.Seats)
		}
		needs := max(tt.seats, tt.fewest)
		if got := g.F.Criteria(g.Settings, tt.players).Seats; got != needs || tt.fewest == 0 && g.F.SeatsFor(tt.players) != needs {
			t.Errorf("%s: %d seats, by the criteria %d", tt.name, g.F.SeatsFor(tt.players), got)
		}
		full := g.F.BasisWithGuests(tt.players)
		if full.Criteria.Seats != needs || len(full.Table.Players()) != len(tt.players)+guests || len(full.Estimated) != guests {
			t.Errorf("%s: a choice is for %v with %d seats, estimated are %v", tt.name, full.Table.Players(), full.Criteria.Seats, full.Estimated)
		}
	}
}
