package room_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

func TestSecondLookCounts(t *testing.T) {
	look := func(server int, state discovery.State, rtts ...float64) wire.Finalist {
		return wire.Finalist{Server: server, State: state, RTTs: rtts, Sent: 3}
	}
	tests := []struct {
		name string
		ann  []wire.Finalist
		goes int
		note string
	}{
		{"slower than before: the lowest RTT is the path's", []wire.Finalist{look(0, discovery.Answered, 90, 80)}, 0,
			"everyone to 192.0.2.0:27960: 10 ms on average, 10 at worst"},
		{"another is faster now", []wire.Finalist{look(1, discovery.Answered, 5, 1, 9)}, 0,
			"everyone to 192.0.2.0:27960: 10 ms on average, 10 at worst"},
		{"another is much faster now", []wire.Finalist{look(2, discovery.Answered, 0.1)}, 0,
			"everyone to 192.0.2.0:27960: 10 ms on average, 10 at worst"},
		{"silent now", []wire.Finalist{look(0, discovery.Lost), look(1, discovery.Answered, 10)}, 1,
			"192.0.2.0:27960 turned out to be unreachable: 192.0.2.1:27960 takes its place"},
		{"refused now", []wire.Finalist{look(0, discovery.Refused)}, 1,
			"192.0.2.0:27960 turned out to be unreachable: 192.0.2.1:27960 takes its place"},
		{"not looked at", []wire.Finalist{look(0, discovery.Unprobed)}, 0, "everyone to 192.0.2.0:27960: 10 ms on average, 10 at worst"},
		{"answered, but no RTT", []wire.Finalist{look(1, discovery.Answered)}, 0, "everyone to 192.0.2.0:27960: 10 ms on average, 10 at worst"},
		{"nothing", nil, 0, "everyone to 192.0.2.0:27960: 10 ms on average, 10 at worst"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := choosing(t, 3)
			for _, name := range []string{"ann", "bob"} {
				v := wire.Verified{Round: 1, Attempt: 1}
				if name == "ann" {
					v.Servers = tt.ann
				}
				n.Says(name, v)
			}
			n.GoesTo(tt.goes)
			n.Noted(tt.note)
		})
	}
}

// TestGamePort checks that players connect to the game's port, even if another port answers
// queries.
func TestGamePort(t *testing.T) {
	n := choosing(t, 2)
	for _, name := range []string{"ann", "bob"} {
		n.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 0, Info: discovery.Info{MaxPlayers: 16, GamePort: 27015}}}})
	}
	n.Says("ann", wire.Verified{Round: 1, Attempt: 1})
	n.Says("bob", wire.Verified{Round: 1, Attempt: 1})
	if launch := got[wire.Launch](n, "ann"); launch.Address != "192.0.2.0:27015" || launch.QueryPort != 27960 {
		t.Errorf("everyone goes to %s, asked at %d", launch.Address, launch.QueryPort)
	}
	if way := n.View().Way; way.Connect != "192.0.2.0:27015" || way.QueryPort != 27960 {
		t.Errorf("the page shows %+v", way)
	}
}

// TestNames checks that servers which are listed by name stay apart from the list to the launch, also in a
// room that was saved.
func TestNames(t *testing.T) {
	n := newSession(t, settings(2))
	n.Join("ann", "bob")
	anna, ben := hostport.Of("anna.example.org", 25565), hostport.Of("ben.example.org", 25565)
	n.Gets([]discovery.Server{{Addr: anna}, {Addr: ben}})
	list := got[wire.List](n, "bob").Servers
	if len(list) != 2 {
		t.Fatalf("of two names players get %v", list)
	}
	n.Informs("ann", 12, 12)
	pings := []int{40, 20}
	if list[0].Addr == ben {
		pings = []int{20, 40}
	}
	for _, name := range []string{"ann", "bob"} {
		n.Measures(name, pings...)
	}
	n.Done("ann", "bob")
	same(t, n.Room, restored(t, n.Room))
	for _, name := range []string{"ann", "bob"} {
		n.Says(name, wire.Verified{Round: 1, Attempt: 1})
	}
	if launch := got[wire.Launch](n, "bob"); launch.Address != "ben.example.org:25565" || launch.QueryPort != 0 {
		t.Errorf("everyone goes to %+v", launch)
	}
	view := n.View()
	if view.Way == nil || view.Way.Connect != "ben.example.org:25565" || view.Choice.Target != "ben.example.org:25565" {
		t.Errorf("the page shows %+v, %s", view.Way, view.Choice.Target)
	}
	if text, err := json.Marshal(view.Choice.Selection.Ranking); err != nil || !strings.Contains(string(text), `"addr":"anna.example.org:25565"`) {
		t.Errorf("programs read %s, %v", text, err)
	}
}

// TestSecondRound checks that a second round starts clean, with the members of the first.
func TestSecondRound(t *testing.T) {
	n := choosing(t, 2)
	n.Verifies("ann")
	n.Verifies("bob")
	n.Says("ann", wire.Launched{Round: 1, State: wire.LaunchStarted})
	n.Took("ann")
	n.Goes()
	n.InStage(wire.Listing)
	v := n.View()
	if v.Room.Round != 2 || v.Choice != nil || v.Way != nil || v.Room.Listed != 0 || v.People[0].Launch != "" ||
		v.People[0].Done || v.People[0].Probed != 0 {
		t.Errorf("the second round begins with %+v", v)
	}
	same(t, n.Room, restored(t, n.Room))
	// This report was still on its way.
	n.Says("bob", wire.Report{Round: 1, Results: []discovery.Result{{State: discovery.Answered, RTT: 5 * time.Millisecond}}})
	n.Listed(1)
	if got := n.Took("ann"); got != "list measure" {
		t.Errorf("ann is sent %q", got)
	}
	n.Says("bob", wire.Done{Round: 1})
	n.Informs("ann", 12)
	n.Measures("ann", 10)
	n.Measures("bob", 10)
	n.Done("ann", "bob")
	n.Verifies("ann")
	n.Verifies("bob")
	n.GoesTo(0)
	if launch := got[wire.Launch](n, "ann"); launch.Round != 2 {
		t.Errorf("the launch is of round %d", launch.Round)
	}
}

func TestWishes(t *testing.T) {
	s := settings(2)
	s.Limits = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond}
	s.By, s.Map, s.Password = selection.Threshold, "oa_dm1", "club"
	n := newSession(t, s)
	n.Join("ann", "bob")
	n.Listed(4)
	measure := n.Sent["ann"][2].(wire.Measure)
	if time.Duration(measure.MaxRTT) != 100*time.Millisecond || measure.Game != "openarena" ||
		measure.Strategy != "conventional" || measure.Round != 1 {
		t.Errorf("ann is asked for %+v", measure)
	}
	for _, name := range []string{"ann", "bob"} {
		n.Informs(name, 12, 12, 1, 12)
		n.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 0, Info: discovery.Info{Map: "oa_dm2", MaxPlayers: 16}}}})
	}
	n.Measures("ann", 1, 60, 2, 120)
	n.Measures("bob", 1, 60, 2, 120)
	n.Done("ann", "bob")
	n.Verifies("ann")
	n.Verifies("bob")
	n.GoesTo(1)
	if got[wire.Launch](n, "ann").Password != "club" || strings.Contains(fmt.Sprint(n.View()), "club") {
		t.Error("the password is for the launch only")
	}
	want := selection.Culled{Full: 1, Filtered: 1, OverThreshold: 1}
	if got := n.Choice().Culled; got != want {
		t.Errorf("culled are %+v, want %+v", got, want)
	}
}

// TestSharedList checks that everyone indexes the same list, whatever the master sent.
func TestSharedList(t *testing.T) {
	list := []discovery.Server{
		{Addr: addrOf(9), Country: "US", ASN: 7}, {Addr: addrOf(3), Country: "DE", ASN: 9},
		{Addr: addrOf(3), Country: "DE", ASN: 9}, {}, {Addr: addrOf(1), Country: "Germany", ASN: 0xffdeca00},
		{Addr: addrOf(2), Country: "DE", ASN: 4}, {Addr: addrOf(4), Country: "de"},
	}
	got := room.Shared(slices.Clone(list), nil)
	want := []discovery.Server{{Addr: addrOf(1)}, {Addr: addrOf(4)}, {Addr: addrOf(2), Country: "DE", ASN: 4},
		{Addr: addrOf(3), Country: "DE", ASN: 9}, {Addr: addrOf(9), Country: "US", ASN: 7}}
	if !slices.Equal(got, want) {
		t.Errorf("shared are %v, want %v", got, want)
	}
	back, err := wire.Unmarshal(wire.BinaryFrame(wire.AppendList(nil, wire.List{Servers: got})))
	if err != nil || !slices.Equal(back.(wire.List).Servers, got) {
		t.Errorf("the peers get %v, %v", back, err)
	}
	if n := len(room.Shared(listOf(discovery.MaxServers/8+9), nil)); n != discovery.MaxServers/8+9 {
		t.Errorf("%d servers are left", n)
	}
}

// TestRoomFitsAMessage checks that the room does not send the servers of a long list that it ruled
// out one by one.
func TestRoomFitsAMessage(t *testing.T) {
	const servers = 20_000
	n := measuring(t, servers, "ann", "bob")
	ms := slices.Repeat([]int{lost}, servers)
	ms[0] = 10
	n.Measures("ann", ms...)
	n.Measures("bob", ms...)
	n.Done("ann", "bob")
	data, err := json.Marshal(n.View())
	if err != nil || len(data) > 32<<10 {
		t.Errorf("the room takes %d bytes, error %v", len(data), err)
	}
}
