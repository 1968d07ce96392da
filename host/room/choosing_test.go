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
	"muster/host/wire"
	"muster/selection"
)

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
