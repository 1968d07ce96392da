package search

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/coordinate"
)

var eight = roomtime.Opening

// members returns players of one group who can be asked for much.
func members(players ...people.ID) (group []Member) {
	for _, player := range players {
		group = append(group, Member{ID: player, Spare: 1000})
	}
	return group
}

// TestDealIsFair checks that every server has one asker, neighbours in the list have different
// ones, the work is even, and each share is in the order of the questions.
func TestDealIsFair(t *testing.T) {
	var servers []int
	for i := range 1001 {
		servers = append(servers, i*7919%1001)
	}
	for players := 1; players <= 64; players++ {
		group := make([]Member, players)
		for i := range players {
			group[i].ID = people.ID(rune('a' + i))
		}
		g := Form([][]Member{group}, nil)
		shares, by, asked := map[people.ID][]int{}, map[int]people.ID{}, 0
		for _, ask := range g.Deal(0, group, servers) {
			shares[ask.Player] = append(shares[ask.Player], ask.Servers...)
			for _, server := range ask.Servers {
				by[server] = ask.Player
			}
		}
		least, most := len(servers), 0
		for _, share := range shares {
			least, most, asked = min(least, len(share)), max(most, len(share)), asked+len(share)
			if !slices.IsSortedFunc(share, func(a, b int) int { return slices.Index(servers, a) - slices.Index(servers, b) }) {
				t.Errorf("%d players: a share is %v", players, share)
			}
		}
		if most-least > 1 || asked != len(servers) || len(by) != len(servers) || len(g.groups[0].out) != len(servers) {
			t.Errorf("%d players: shares of %d to %d, %d of %d servers asked", players, least, most, len(by), asked)
		}
		for server := range len(servers) - 1 {
			if players > 1 && by[server] == by[server+1] {
				t.Errorf("%d players: one asks both %d and its neighbour", players, server)
			}
		}
	}
}

// TestRoomLeft checks that a player who can be asked for few more servers leaves the others to
// those behind the same address.
func TestRoomLeft(t *testing.T) {
	group := []Member{{ID: "ann", Spare: 1}, {ID: "bob", Spare: 5}}
	want := []Ask{{Player: "ann", Servers: []int{3}}, {Player: "bob", Servers: []int{4, 5, 6}}}
	if got := Form([][]Member{group}, nil).Deal(0, group, []int{3, 4, 5, 6}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestDiscreet checks that discreet players are asked for no more than they allow, and for nothing
// if somebody behind the same address does not mind.
func TestDiscreet(t *testing.T) {
	dora, ann := Member{ID: "dora", Discreet: 20}, Member{ID: "ann"}
	late := dora
	late.Asked = 1
	for _, tt := range []struct {
		members []Member
		open    []int
		most    int
		few     bool
	}{
		{[]Member{dora}, []int{0}, 20 - wire.SearchFinalists, true},
		{[]Member{late}, []int{0}, 20 - wire.SearchFinalists - 1, true},
		{[]Member{dora, dora}, []int{0, 1}, 2 * (20 - wire.SearchFinalists), true},
		{[]Member{dora, ann}, []int{1}, 0, false},
		{[]Member{ann}, []int{0}, 0, false},
	} {
		if most, few := fewLeft(tt.members); most != tt.most || few != tt.few || !slices.Equal(open(tt.members), tt.open) {
			t.Errorf("%+v: %d servers more, %v, asked are %v", tt.members, most, few, open(tt.members))
		}
	}
}

// TestMates checks that another player behind the same address asks a silent server, because the
// first player's line may be at fault.
func TestMates(t *testing.T) {
	const server = 7
	lost, answers := discovery.Result{Server: server, State: discovery.Lost}, discovery.Result{Server: server, State: discovery.Answered}
	group := members("ann", "bob", "cat")
	for _, tt := range []struct {
		name    string
		by      people.ID
		result  discovery.Result
		states  []discovery.State // the others' states
		mayAsk  bool
		at      int
		instead []Ask
		out     []Ask
	}{
		{"an answer", "ann", answers, nil, true, 0, nil, nil},
		{"a silence", "ann", lost, []discovery.State{discovery.Unprobed, discovery.Unprobed}, true, -1,
			[]Ask{{Player: "bob", Servers: []int{server}}}, []Ask{{Player: "bob", Servers: []int{server}}}},
		{"a silence, and one knows it", "ann", lost, []discovery.State{discovery.Lost, discovery.Unprobed}, true, -1,
			[]Ask{{Player: "cat", Servers: []int{server}}}, []Ask{{Player: "cat", Servers: []int{server}}}},
		{"a silence, and one was answered", "ann", lost, []discovery.State{discovery.Answered, discovery.Unprobed}, true, 0, nil, nil},
		{"a silence for all", "ann", lost, []discovery.State{discovery.Lost, discovery.Lost}, true, 0, nil, nil},
		{"a silence, and nobody may ask", "ann", lost, []discovery.State{discovery.Unprobed, discovery.Unprobed}, false, 0, nil, nil},
		{"a silence of another, while one is asked", "cat", lost,
			[]discovery.State{discovery.Unprobed, discovery.Unprobed}, true, -1, nil, []Ask{{Player: "ann", Servers: []int{server}}}},
		{"an answer to another", "cat", answers, nil, true, 0, nil, []Ask{{Player: "ann", Servers: []int{server}}}},
		{"somebody else", "dan", lost, nil, true, -1, nil, []Ask{{Player: "ann", Servers: []int{server}}}},
	} {
		g := Form([][]Member{group}, []Ask{{Player: "ann", Servers: []int{server}}})
		var mates []NATMate
		for i, mate := range g.NATMates(tt.by, tt.result) {
			mates = append(mates, NATMate{mate, tt.states[i], tt.mayAsk})
		}
		at, instead := g.Heard(tt.by, tt.result, mates)
		if at != tt.at || !reflect.DeepEqual(instead, tt.instead) || !reflect.DeepEqual(g.Out(), tt.out) {
			t.Errorf("%s: group %d, instead %v, out are %v", tt.name, at, instead, g.Out())
		}
	}
}

// TestRelease checks that the open questions to a player whose connection has ended are forgotten,
// and that those to the others behind the same address stay.
func TestRelease(t *testing.T) {
	group := members("ann", "bob")
	g := Form([][]Member{group, members("cat")}, nil)
	asks := g.Deal(0, group, []int{1, 2, 3})
	if idle := g.Idle(); len(asks) != 2 || !slices.Equal(idle, []people.ID{"cat"}) ||
		!reflect.DeepEqual(g.Finished(), [][]people.ID{{"cat"}}) || !g.IsOut(0, 2) {
		t.Errorf("after %v, %v are idle", asks, idle)
	}
	if !g.Are([][]people.ID{{"ann", "bob"}, {"cat"}}) || g.Are([][]people.ID{{"ann"}, {"cat"}}) {
		t.Error("the groups are others")
	}
	g.Release("ann")
	if g.Are([][]people.ID{{"ann", "bob"}, {"cat"}}) || !reflect.DeepEqual(g.Out(), []Ask{{Player: "bob", Servers: []int{2}}}) ||
		slices.Contains(g.Idle(), "ann") {
		t.Errorf("out are %v", g.Out())
	}
	if g = Form([][]Member{members("bob"), members("cat")}, g.Out()); !g.IsOut(0, 2) || g.IsOut(0, 1) || g.IsOut(1, 2) {
		t.Errorf("out are %v", g.Out())
	}
}

// world is a list of servers in ten countries. Each player's RTT to a server follows from its
// country.
type world struct {
	*testing.T
	*Search
	groups  [][]Member
	setup   Setup
	players [][]people.ID
	now     roomtime.Time
	// known are each player's answers, and asked is the number of questions.
	known map[people.ID]map[int]bool
	asked map[people.ID]int
	// silent reports whether a server does not answer a player.
	silent func(player people.ID, server int) bool
}

func newWorld(t *testing.T, servers int, groups ...[]Member) *world {
	w := &world{
		T:      t,
		groups: groups,
		now:    eight,
		known:  map[people.ID]map[int]bool{},
		asked:  map[people.ID]int{},
		silent: func(people.ID, int) bool { return false },
	}
	var heads []string
	for _, group := range groups {
		var players []people.ID
		heads = append(heads, string(group[0].ID))
		for _, m := range group {
			players = append(players, m.ID)
			w.known[m.ID] = map[int]bool{}
		}
		w.players = append(w.players, players)
	}
	list := make([]discovery.Server, servers)
	infos := map[int]*discovery.Info{}
	for i := range list {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(20 + i*10/servers), byte(i / 200), byte(i % 200), 1}), 27960)
		list[i] = discovery.Server{Addr: addr, Country: string(rune('A' + i*10/servers))}
		infos[i] = &discovery.Info{MaxPlayers: 16}
	}
	w.setup = Setup{
		Topology: topology.New(list), Servers: selection.Servers{List: list, Infos: infos, Lone: map[int]bool{}},
		Table: selection.NewTable(heads, servers), Criteria: selection.Criteria{By: selection.Mean},
	}
	w.Search = New(groups, nil, w.setup)
	return w
}

func (w *world) rtt(player people.ID, server int) time.Duration {
	country := server * 10 / len(w.setup.Servers.List)
	return time.Duration(20+15*((country+int(player[0]))%10)+server%7) * time.Millisecond
}

// answers lets players measure what they are asked for, if the servers answer.
func (w *world) answers(asks []Ask) {
	for len(asks) > 0 {
		ask := asks[0]
		asks = asks[1:]
		for _, server := range ask.Servers {
			if w.asked[ask.Player]++; w.silent(ask.Player, server) {
				continue
			}
			w.known[ask.Player][server] = true
			result := discovery.Result{Server: server, State: discovery.Answered, RTT: w.rtt(ask.Player, server)}
			asks = append(asks, w.Heard(ask.Player, result, nil, roomtime.Time(0))...)
		}
	}
}

// goes lets the search go on until it is over, and returns its duration.
func (w *world) goes() time.Duration {
	w.Helper()
	began := w.now
	for range 1000 {
		if w.IsDue(w.players, w.now) {
			asks, over := w.Turn(w.groups, len(w.known), w.now)
			if over {
				return w.now.Sub(began)
			}
			w.answers(asks)
		}
		w.now = w.now.Add(100 * time.Millisecond)
	}
	w.Fatal("the search does not end")
	return 0
}

// TestTurn checks that a search asks for some of the list, finds and reports the best server for
// all, and goes on behind the vote.
func TestTurn(t *testing.T) {
	w := newWorld(t, 1000, members("ann"), members("bob", "cat"))
	if w.IsShort() || !w.IsTimeUp(Longest+5, 4) || w.IsTimeUp(Longest+5, 5) || w.IsTimeUp(Longest, 0) || w.View(selection.Mean).Found {
		t.Errorf("before the first question: %+v", w.View(selection.Mean))
	}
	w.goes()
	best := w.Progress().Best
	for server := range w.setup.Servers.List {
		if a, b := w.rtt("ann", server)+2*w.rtt("bob", server), w.rtt("ann", best)+2*w.rtt("bob", best); a < b-20*time.Millisecond {
			t.Fatalf("chosen is %d, and %d is better: %v, %v", best, server, a, b)
		}
	}
	if w.asked["ann"] > wire.SearchBudget || w.asked["bob"]+w.asked["cat"] > wire.SearchBudget || w.asked["ann"] < 20 {
		t.Errorf("asked by player: %v", w.asked)
	}
	note, isDry := w.Outcome(w.groups)
	if isDry || note.IsZero() || !w.IsTimeUp(Longest+5, 5) || w.IsWorthMore() || w.View(selection.Mean).GainMS == nil {
		t.Errorf("%v: %+v", note, w.View(selection.Mean))
	}
	// Ann got no answer from the first server, and nobody else asked it. Dan and ann got none from
	// the second.
	table := selection.NewTable([]string{"ann", "bob", "cat", "dan"}, len(w.setup.Servers.List))
	table.Set(0, 0, discovery.Lost, 0)
	table.Set(1, 1, discovery.Answered, time.Millisecond)
	table.Set(0, 1, discovery.Lost, 0)
	table.Set(3, 1, discovery.Lost, 0)
	predicted := w.Predict(table)
	if len(predicted) != 2 || len(predicted["bob"]) != 1 || len(predicted["cat"]) != 1 || predicted["cat"][0] <= 0 ||
		len(w.Forecast(best)) != 3 {
		t.Errorf("predicted: %v, forecast: %v", predicted, w.Forecast(best))
	}
	w.Behind(w.now)
	if w.IsDue(w.players, w.now.Add(behindEvery-1)) || !w.IsDue(w.players, w.now.Add(behindEvery)) || !w.IsDue(w.players[:1], w.now) {
		t.Error("behind a vote the search is due at another time")
	}
	allowed := map[people.ID]int{}
	for range 100 {
		asks, own := w.NextBehind(w.groups, w.now)
		for _, own := range own {
			allowed[own.Player] += own.Servers
		}
		w.answers(asks)
	}
	if want := map[people.ID]int{"ann": ownBudget, "bob": ownBudget}; !maps.Equal(allowed, want) {
		t.Errorf("their own discovery may ask %v, want %v", allowed, want)
	}
}

// TestLateAnswers checks that the first rounds overlap, and that the search waits for the last
// answers, but not for long.
func TestLateAnswers(t *testing.T) {
	w := newWorld(t, 1000, members("ann"), members("bob"))
	w.setup.Options = coordinate.Options{Budget: 100, Enough: -1}
	w.Search = New(w.groups, nil, w.setup)
	w.silent = func(player people.ID, server int) bool { return player == "bob" && server >= 800 }
	w.goes()
	if waited := w.now.Sub(w.Search.asked); waited < lateAnswers || waited > longestWait || w.expected() == 0 {
		t.Errorf("it ends %v after the last questions, without %d answers", waited, w.expected())
	}
}

// TestMore checks that a search for more asks for so many in addition, and says when there are no
// more.
func TestMore(t *testing.T) {
	for _, tt := range []struct {
		servers, more int
		isDry         bool
		text          string
	}{
		{1000, 50, false, ""},
		{30, 200, true, "up to 30 more servers each; at most 2 ms better could be found, as far as we know"},
	} {
		t.Run(fmt.Sprint(tt.more, " of ", tt.servers), func(t *testing.T) {
			w := newWorld(t, tt.servers, members("ann"), members("bob"))
			w.setup.More = tt.more
			w.Search = New(w.groups, nil, w.setup)
			w.goes()
			for i, group := range w.groups {
				w.groups[i][0].More = w.asked[group[0].ID]
				if w.asked[group[0].ID] > tt.more {
					t.Errorf("%s was asked for %d", group[0].ID, w.asked[group[0].ID])
				}
			}
			note, isDry := w.Outcome(w.groups)
			if isDry != tt.isDry || tt.text != "" && catalogue.InEnglish().Say(note) != tt.text {
				t.Errorf("%v, dry: %v", note, isDry)
			}
		})
	}
}

// FuzzGroups checks that a server is out with only one player of a group, and no player is asked
// for anything twice, whatever is reported and whoever leaves.
func FuzzGroups(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 40, 41, 42, 80, 81, 120, 160, 200})
	f.Fuzz(func(t *testing.T, script []byte) {
		groups := [][]Member{members("ann", "bob", "cat"), members("dan")}
		players := []people.ID{"ann", "bob", "cat", "dan"}
		g := Form(groups, nil)
		states := map[people.ID]map[int]discovery.State{"ann": {}, "bob": {}, "cat": {}, "dan": {}}
		for _, ask := range g.Deal(0, groups[0], []int{0, 1, 2, 3, 4, 5, 6, 7}) {
			for _, server := range ask.Servers {
				if !g.IsOut(0, server) {
					t.Fatalf("%v is not out", ask)
				}
			}
		}
		for _, b := range script {
			player, server := players[b%4], int(b/4)%8
			if b >= 240 {
				g.Release(player)
				g = Form(groups, g.Out())
				continue
			}
			state := []discovery.State{discovery.Answered, discovery.Lost, discovery.Forbidden}[int(b/32)%3]
			states[player][server] = state
			result := discovery.Result{Server: server, State: state}
			var mates []NATMate
			for _, mate := range g.NATMates(player, result) {
				mates = append(mates, NATMate{mate, states[mate][server], true})
			}
			_, instead := g.Heard(player, result, mates)
			for _, ask := range instead {
				if ask.Player == player || states[ask.Player][server] != discovery.Unprobed {
					t.Fatalf("%v is asked instead of %s", ask, player)
				}
			}
			seen := map[int]bool{}
			for _, ask := range g.Out() {
				for _, server := range ask.Servers {
					if seen[server] && ask.Player != "dan" {
						t.Fatalf("%d is out twice: %v", server, g.Out())
					}
					seen[server] = true
				}
			}
		}
	})
}

// TestOpponents checks that members of a NAT group count on the sides they are on, though one of them
// measures for all.
func TestOpponents(t *testing.T) {
	const a, b = selection.SideA, selection.SideB
	for _, tt := range []struct {
		players []people.ID
		sides   map[string]selection.Side
		guests  string
		weights map[string]float64
	}{
		{[]people.ID{"ann"}, nil, "[]", map[string]float64{"ann": 1}},
		{[]people.ID{"ann", "bob"}, nil, "[]", map[string]float64{"ann": 2}},
		{[]people.ID{"ann", "bob", "cat"}, map[string]selection.Side{"ann": a, "bob": a, "cat": a}, "[]", map[string]float64{"ann": 3}},
		{[]people.ID{"ann", "bob", "cat", "dan", "eve"}, map[string]selection.Side{"ann": a, "bob": b, "cat": b, "dan": a}, "[bob eve]",
			map[string]float64{"ann": 2, "bob": 2, "eve": 1}},
	} {
		weights, guests := map[string]float64{}, []string{}
		for _, guest := range opponents(1, members(tt.players...), tt.sides, weights) {
			guests = append(guests, guest.Name)
			if got := guest.RTT("", []time.Duration{10, 20, 30}); got != 20 {
				t.Errorf("%v: %s has %v, and not the RTT of the group", tt.players, guest.Name, got)
			}
		}
		if got := fmt.Sprint(guests); got != tt.guests || !maps.Equal(weights, tt.weights) {
			t.Errorf("%v on sides %v: guests %s, weights %v, want %s and %v", tt.players, tt.sides, got, weights, tt.guests, tt.weights)
		}
	}
}

// TestSearchForSides checks that a search finds a server that is even for two sides, also where
// opponents live behind one address.
func TestSearchForSides(t *testing.T) {
	for _, tt := range []struct {
		groups [][]Member
		apart  float64
	}{
		{[][]Member{members("ann"), members("eve"), members("bob"), members("hal")}, 0},
		{[][]Member{members("ann", "eve"), members("bob"), members("hal")}, 30}, // eve has ann's pings
	} {
		w := newWorld(t, 400, tt.groups...)
		w.setup.Criteria.By = selection.EvenSides
		w.setup.Criteria.Sides = map[string]selection.Side{"ann": selection.SideA, "bob": selection.SideA, "eve": selection.SideB, "hal": selection.SideB}
		w.Search = New(tt.groups, nil, w.setup)
		w.goes()
		found := w.View(selection.EvenSides)
		if !found.Found || found.FigureMS != tt.apart {
			t.Errorf("%v: found %+v, want %v ms between the sides", tt.groups, found, tt.apart)
		}
	}
}
