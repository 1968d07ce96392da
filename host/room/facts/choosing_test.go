package facts_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room/attendance"
	"muster/host/room/facts/factstest"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
)

// TestWeigh checks that only the right players' words about a server count.
func TestWeigh(t *testing.T) {
	const server = 0
	full := discovery.Info{Players: 16, MaxPlayers: 16}
	other := func(is string) discovery.Info { return discovery.Info{Map: is, MaxPlayers: 16} }
	for _, tt := range []struct {
		name  string
		words map[people.ID]discovery.Info
		does  func(g *factstest.Group)
		free  int // -1 if unknown
		level string
		lone  bool
	}{
		{"nobody's", nil, nil, -1, "", false},
		{"the word of one", map[people.ID]discovery.Info{"ann": full}, nil, 0, "", true},
		{"the word of one who was not asked", map[people.ID]discovery.Info{"dan": full}, nil, -1, "", false},
		{"the word of all", map[people.ID]discovery.Info{"ann": full, "bob": full, "cat": full}, nil, 0, "", false},
		{"the word of most", map[people.ID]discovery.Info{"ann": other("a"), "bob": other("a"), "cat": other("c")}, nil, 16, "a", false},
		{"the word of one who is not believed", map[people.ID]discovery.Info{"cat": full}, func(g *factstest.Group) {
			all := []people.ID{"ann", "bob", "cat"}
			g.Trust.Discredit([]anomaly.Anomaly{{Player: "cat", Sign: anomaly.Contradicts}}, all, all)
		}, -1, "", false},
		{"the word of the only one who goes on", map[people.ID]discovery.Info{"ann": full}, func(g *factstest.Group) {
			g.Attendance.LeaveOut(attendance.Left, "bob", "cat", "dan")
		}, 0, "", false},
		{"the word of one who has left", map[people.ID]discovery.Info{"ann": full, "bob": full}, func(g *factstest.Group) {
			g.Drop("bob")
		}, 0, "", true},
		{"of two as many as not have the map", map[people.ID]discovery.Info{"ann": other("a"), "bob": other("b")}, func(g *factstest.Group) {
			g.Settings.Map = "b"
		}, 16, "b", false},
	} {
		g := factstest.New(t, factstest.Settings(), 10, "ann", "bob", "cat", "dan")
		g.Gets(factstest.List(10)) // the host has heard nothing of these servers
		for _, player := range []people.ID{"ann", "bob", "cat"} {
			g.Measures(player, 10)
		}
		for player, info := range tt.words {
			if stranger := g.HearInfos(player, wire.Infos{Servers: []wire.ServerInfo{{Server: server, Info: info}}}, g.Now); stranger >= 0 {
				t.Errorf("%s: server %d is a stranger", tt.name, stranger)
			}
		}
		if tt.does != nil {
			tt.does(g)
		}
		g.RefreshFacts()
		free, level := -1, ""
		if info := g.Servers.Info(server); info != nil {
			free, level = info.Free(), info.Map
		}
		if free != tt.free || level != tt.level || g.Servers.Lone[server] != tt.lone {
			t.Errorf("%s: %d seats are free, the map is %q, lone: %v", tt.name, free, level, g.Servers.Lone[server])
		}
	}
}

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

// TestCriteria checks that the criteria come from the right settings and words.
func TestCriteria(t *testing.T) {
	g := busy(t)
	g.Tuning.Weights, g.Tuning.Spare = map[string]float64{"ann": 2}, -1
	g.Lists.Bring("ann", discovery.InternetReach, nil, []wire.Brought{{Addr: hostport.At(g.Servers.List[4].Addr)}}, false)
	g.Choice.Take(selection.Selection{Chosen: &selection.Ranked{Addr: hostport.At(g.Servers.List[6].Addr)}})
	g.Choice = g.Choice.Next()
	c := g.F.Criteria(g.Settings, []people.ID{"ann", "bob"})
	factstest.Same(t, "vetoes", c.Vetoes, g.Ballot.Vetoes())
	factstest.Same(t, "the last server", c.Keep, g.Servers.List[6].Addr)
	factstest.Same(t, "ours", len(c.Ours), 2)
	factstest.Same(t, "hidden", c.Hidden, []selection.Veto{{Player: "ann", Server: g.Servers.List[4].Addr}})
	factstest.Same(t, "weights", c.Weights, g.Tuning.Weights)
	factstest.Same(t, "spare seats", c.Spare, time.Duration(0))
	factstest.Same(t, "editions", c.Editions, []selection.Edition{{Player: "bob", Edition: discovery.Edition{Version: "1.2"}}})
	if c = g.F.Criteria(g.Settings, []people.ID{"ann"}); len(c.Editions) != 0 {
		t.Errorf("editions for ann are %v", c.Editions)
	}
	g.Settings.AnyVersion = true
	if c = g.F.Criteria(g.Settings, []people.ID{"bob"}); len(c.Editions) != 0 {
		t.Errorf("of any version editions are %v", c.Editions)
	}
	g.Tuning.Spare = 0
	if c = g.F.Criteria(g.Settings, nil); c.Spare <= 0 {
		t.Errorf("without tuning the spare seats are worth %v", c.Spare)
	}
}

// TestSelect checks that a choice goes by its players' measurements, and leaves out servers that
// somebody hides or vetoes, that lie, or that are full.
func TestSelect(t *testing.T) {
	veto := func(v selection.Veto) func(g *factstest.Group) {
		return func(g *factstest.Group) {
			if err := g.Ballot.Veto(v); err != nil {
				g.Fatal(err)
			}
		}
	}
	addr := factstest.List(10)[0].Addr
	for _, tt := range []struct {
		name   string
		does   func(g *factstest.Group)
		whom   []people.ID
		chosen int
		cause  string // why the first server is not chosen
	}{
		{"the best", func(*factstest.Group) {}, []people.ID{"ann", "bob", "cat"}, 0, ""},
		{"the best of others", func(*factstest.Group) {}, []people.ID{"dan"}, 9, ""},
		{"one vetoes it", veto(selection.Veto{Player: "dan", Server: addr}), []people.ID{"ann", "bob", "cat"}, 1, "vetoed"},
		{"one hides it", func(g *factstest.Group) {
			g.Lists.Bring("dan", discovery.InternetReach, nil, []wire.Brought{{Addr: hostport.At(addr)}}, false)
		}, []people.ID{"ann", "bob", "cat"}, 1, "hidden"},
		{"it is full", func(g *factstest.Group) {
			g.Hears("", 0, discovery.Info{Players: 16, MaxPlayers: 16})
		}, []people.ID{"ann", "bob", "cat"}, 1, "full"},
		{"it is full for those who come along", func(g *factstest.Group) {
			g.Hears("", 0, discovery.Info{Players: 13, MaxPlayers: 16})
		}, []people.ID{"ann", "bob", "cat"}, 1, "full"},
		{"it is silent for one", func(g *factstest.Group) { g.Measures("bob", lost) }, []people.ID{"ann", "bob", "cat"}, 1, "unreachable"},
	} {
		g := factstest.New(t, factstest.Settings(), 10, "ann", "bob", "cat", "dan")
		for _, player := range []people.ID{"ann", "bob", "cat"} {
			g.Measures(player, factstest.Up(10, 10)...)
		}
		g.Measures("dan", factstest.Down(10, 10)...)
		tt.does(g)
		s := g.F.Select(tt.whom)
		cause := ""
		if c := g.F.CauseAgainst(0, tt.whom); c != nil {
			cause = c.String()
		}
		if factstest.Chosen(&s) != tt.chosen || cause != tt.cause {
			t.Errorf("%s: chosen is %d, against the first is %q", tt.name, factstest.Chosen(&s), cause)
		}
		if tt.cause == "" && g.F.CauseAgainst(5, tt.whom) != nil {
			t.Errorf("%s: against the sixth is %v", tt.name, g.F.CauseAgainst(5, tt.whom))
		}
	}
}

// TestLiars checks that servers that are next door to players far apart are left out.
func TestLiars(t *testing.T) {
	players := []people.ID{"ann", "bob", "cat", "dan"}
	g := factstest.New(t, factstest.Settings(), 40, people.Texts(players)...)
	for i, player := range players {
		far := make([]int, 40)
		for server := range far {
			far[server] = 20 + 10*max(server-10*i, 10*i-server)
		}
		far[0] = 1
		g.Measures(player, far...)
	}
	v := g.Trust.Judge(g.F.Basis(players), players, 0)
	if len(v.LeftOut) > 0 || len(v.Notes) == 0 || v.Notes[0].Key != "room.odd-server" {
		t.Fatalf("left out are %v: %q", v.LeftOut, v.Notes)
	}
	if s := g.F.Select(players); factstest.Chosen(&s) <= 0 || g.F.CauseAgainst(0, players) == nil {
		t.Errorf("chosen is %d, against the liar is %v", factstest.Chosen(&s), g.F.CauseAgainst(0, players))
	}
}
