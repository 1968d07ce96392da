package moving

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/memory"
)

const ms = time.Millisecond

// basis returns a basis of three players: each row has their pings to a server in ms, 0 for none.
func basis(c selection.Criteria, rows ...[3]int) selection.Basis {
	players := []string{"ann", "ben", "cat"}
	b := selection.Basis{Table: selection.NewTable(players, len(rows)), Criteria: c}
	b.Servers.Infos = map[int]*discovery.Info{}
	var list []discovery.Server
	for i := range rows {
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(i % 2), byte(i), 1}), 27960), Country: []string{"DE", "US"}[i%2]})
		b.Servers.Infos[i] = &discovery.Info{MaxPlayers: 4}
	}
	b.Servers.List = list
	for server, row := range rows {
		for player, ping := range row {
			if ping > 0 {
				b.Table.Set(player, server, discovery.Answered, time.Duration(ping)*ms)
			}
		}
	}
	return b
}

// TestWeigh checks what is worth a move: a real gain by the rule or a broken limit, and seats there.
func TestWeigh(t *testing.T) {
	full := func(b selection.Basis, server, players int) selection.Basis {
		b.Servers.Infos[server] = &discovery.Info{Players: players, MaxPlayers: 4}
		b.Criteria.Seats = 3
		return b
	}
	mean, limit := selection.Criteria{By: selection.Mean}, selection.Criteria{By: selection.Mean, Limits: []time.Duration{100 * ms}}
	for _, tt := range []struct {
		name  string
		b     selection.Basis
		is    bool
		gain  float64
		wins  int
		mends bool
	}{
		{"a gain", basis(mean, [3]int{40, 40, 90}, [3]int{45, 45, 20}), true, 20, 1, false},
		{"just too little", basis(mean, [3]int{40, 40, 90}, [3]int{45, 45, 36}), false, 0, 0, false},
		{"not all have asked it", basis(mean, [3]int{40, 40, 90}, [3]int{45, 45, 0}), false, 0, 0, false},
		{"somebody is over the limit", basis(limit, [3]int{90, 90, 101}, [3]int{99, 99, 99}), true, 0, 0, true},
		{"there, too", basis(limit, [3]int{90, 90, 101}, [3]int{20, 20, 102}), false, 0, 0, false},
		{"no seats there", full(basis(mean, [3]int{40, 40, 90}, [3]int{10, 10, 10}), 1, 2), false, 0, 0, false},
		{"their own seats here are no reason", full(basis(mean, [3]int{40, 40, 40}, [3]int{39, 39, 39}), 0, 4), false, 0, 0, false},
	} {
		better, is := Weigh(tt.b, 0, -1)
		if is != tt.is || is && (better.Server != 1 || better.Gain != tt.gain || len(better.Winners) != tt.wins || better.Mends != tt.mends) {
			t.Errorf("%s: %v, %+v", tt.name, is, better)
		}
	}
}

// TestHope checks that a server that was hoped for stays the best until another is noticeably better.
func TestHope(t *testing.T) {
	for other, best := range map[int]int{40: 1, 36: 1, 35: 2} {
		b := basis(selection.Criteria{By: selection.Mean}, [3]int{90, 90, 90}, [3]int{40, 40, 40}, [3]int{other, other, other})
		if better, is := Weigh(b, 0, 1); !is || better.Server != best {
			t.Errorf("beside %d ms: %+v", other, better)
		}
	}
}

// TestSuggest checks that what a newcomer knows of a server's country, or remembers, stands in for
// pings, that a country of which nothing is known is worth a question, and that a full server is not.
func TestSuggest(t *testing.T) {
	b := basis(selection.Criteria{By: selection.Mean, Seats: 3}, [3]int{40, 40, 0}, [3]int{30, 30, 0}, [3]int{20, 20, 15}, [3]int{10, 10, 0})
	b.Servers.Infos[3] = &discovery.Info{Players: 4, MaxPlayers: 4}
	tree := topology.New(b.Servers.List)
	b.Servers.List = tree.List()
	if got := Suggest(b, tree, nil); !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("by neighbours it suggests %v", got)
	}
	us := tree.Above(tree.Of(1), topology.Country)
	forecasts := [][]memory.Forecast{nil, nil, {{Node: us, MS: 200, IsVague: true}}}
	if got := Suggest(b, tree, forecasts); !slices.Equal(got, []int{2, 0, 1}) {
		t.Errorf("by a forecast it suggests %v", got)
	}
}

// TestAsking checks how a program that plays is asked: seldom, its own server first, and nothing
// while that answers late.
func TestAsking(t *testing.T) {
	b := basis(selection.Criteria{By: selection.Mean}, [3]int{40, 40, 0}, [3]int{30, 30, 0})
	w := Watch{For: []people.ID{"ann", "ben"}}
	s := Scene{
		Now: roomtime.Opening, Here: []people.ID{"ann", "ben", "cat"}, Tree: topology.New(b.Servers.List),
		Basis: func([]people.ID) selection.Basis { return b }, Forecasts: func([]people.ID) [][]memory.Forecast { return nil },
	}
	var asked []roomtime.Time
	var servers []int
	late := time.Duration(0)
	for range 1800 {
		s.Now = s.Now.Add(time.Second)
		asks, _ := w.Tick(s)
		for _, ask := range asks {
			if ask.Player != "cat" {
				t.Fatalf("%s is asked, who has asked all", ask.Player)
			}
			asked, servers = append(asked, s.Now), append(servers, ask.Server)
			if late = 0; len(servers) == 2 {
				late = 90 * ms // a download begins
			}
			r := discovery.Result{Server: ask.Server, State: discovery.Answered, RTT: 50*ms + late}
			if r, counts, _ := w.Heard("cat", ask.Server == 0, r, nil, s.Now); counts {
				b.Table.Set(2, ask.Server, r.State, r.RTT)
			}
		}
	}
	for i := range asked[1:] {
		if asked[i+1].Sub(asked[i]) < 5*time.Second {
			t.Errorf("asked at %v and %v", asked[i], asked[i+1])
		}
	}
	if len(servers) == 0 || servers[0] != 0 {
		t.Errorf("asked %v", servers)
	}
	if _, counts, _ := w.Heard("cat", false, discovery.Result{Server: 1, State: discovery.Answered, RTT: ms}, nil, s.Now); counts {
		t.Error("an answer counts that nobody asked for")
	}
	a := w.of("cat")
	a.least, a.server, a.waits = 50*ms, 0, true
	if _, counts, _ := w.Heard("cat", true, discovery.Result{State: discovery.Answered, RTT: 120 * ms}, nil, s.Now); counts || w.mayAsk("cat", s.Now.Add(30*time.Second)) || !w.mayAsk("cat", s.Now.Add(busyFor)) {
		t.Error("a program is asked although its line is busy, or never again")
	}
	for _, s.Here = range [][]people.ID{{"ann", "ben"}, {"ann", "ben", "cat"}} { // meanwhile the room may have moved
		w.Tick(s)
	}
	a.server, a.waits = 0, true
	if _, counts, _ := w.Heard("cat", true, discovery.Result{State: discovery.Answered, RTT: 120 * ms}, nil, s.Now); !counts {
		t.Error("the line of somebody who comes back is busy by what was usual before")
	}
}

// TestProposals checks that a proposal stands for ten minutes even if its gain goes, that there is
// one an hour, and that nobody moves who did not say so.
func TestProposals(t *testing.T) {
	b := basis(selection.Criteria{By: selection.Mean}, [3]int{40, 40, 150}, [3]int{45, 45, 20})
	w := Watch{For: []people.ID{"ann", "ben"}}
	here := []people.ID{"ann", "ben", "cat"}
	s := Scene{
		Now: roomtime.Opening, Here: here, Tree: topology.New(b.Servers.List),
		Basis: func([]people.ID) selection.Basis { return b }, Forecasts: func([]people.ID) [][]memory.Forecast { return nil },
	}
	run := func(d time.Duration, until Event) (took time.Duration, is bool) {
		for ; took < d; took += time.Second {
			s.Now = s.Now.Add(time.Second)
			asks, event := w.Tick(s)
			for _, ask := range asks {
				_, rtt := b.Table.At(slices.Index(here, ask.Player), ask.Server)
				w.Heard(ask.Player, ask.Server == s.Server, discovery.Result{Server: ask.Server, State: discovery.Answered, RTT: rtt}, nil, s.Now)
			}
			if event == until {
				return took, true
			}
		}
		return took, false
	}
	if took, is := run(20*time.Minute, Proposed); !is || took < lasts {
		t.Fatalf("a proposal comes after %v: %v", took, is)
	}
	b.Table.Set(2, 0, discovery.Answered, 20*ms) // cat's way here is short after all
	if took, is := run(time.Hour, Withdrawn); !is || took < stands-time.Second {
		t.Errorf("it is taken back after %v: %v", took, is)
	}
	b.Table.Set(2, 0, discovery.Answered, 150*ms)
	w.For = []people.ID{"ann", "ben"}
	w.isNews = true
	if took, is := run(2*time.Hour, Proposed); !is || took < rests-stands-time.Minute {
		t.Fatalf("the next comes after %v: %v", took, is)
	}
	w.Answer("ann", wire.MoveNo)
	if w.Answer("ben", wire.MoveAfterMap) || w.Place("ben", 0) != 0 {
		t.Error("ben is moved before the map is over")
	}
	if server := w.Move("cat", s); server != 0 || w.Place("cat", 0) != 1 || w.Place("ann", 0) != 0 {
		t.Errorf("the room is at %d, %v are elsewhere", server, w.Elsewhere)
	}
	if server := w.Move("ben", s); server != 1 || w.Place("ann", 1) != 0 || w.Place("ben", 1) != 1 {
		t.Errorf("most are there, the room is at %d, %v are elsewhere", server, w.Elsewhere)
	}
	if w.Elsewhere["ann"] = 2; w.Validate(2) == nil {
		t.Error("a server outside the list is valid")
	}
}
