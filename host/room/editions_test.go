package room_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

// edition56 is the edition of a version 5.6, in any game.
var edition56 = map[string]discovery.Edition{"": {Version: "5.6"}, "openarena": {Version: "5.6", Protocol: 41}}

// versioned returns a room of two with three servers. The nearest let in only versions newer than
// ben's. All have looked.
func versioned(t *testing.T, s wire.Settings, ben map[string]discovery.Edition, newer int) *session {
	n := newSession(t, s)
	n.Join("ann")
	n.JoinAs(wire.Hello{Name: "ben", Editions: ben, Program: "BENS"})
	n.Listed(3)
	for _, name := range []string{"ann", "ben"} {
		infos := wire.Infos{Round: 1}
		for server := range 3 {
			info := discovery.Info{Players: 2, MaxPlayers: 16, Version: "5.6.1", Protocol: 41, OldestProtocol: 37}
			if server < newer {
				info.Version, info.Protocol, info.OldestProtocol = "5.14.0", 49, 44
			}
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: info})
		}
		n.Says(name, infos)
		n.Measures(name, 10, 20, 30)
	}
	n.Done("ann", "ben")
	return n
}

// TestOtherVersions checks that a server that would refuse a player is left out, and that people
// are told before the choice, whatever the setting.
func TestOtherVersions(t *testing.T) {
	chosen := func(n *session) string {
		if c := n.View().Choice; c != nil && c.Selection.Chosen != nil {
			return c.Selection.Chosen.Addr.String()
		}
		return "none"
	}
	const told = "ben has version 5.6, which doesn’t get into 2 servers (5.14.0): "

	n := versioned(t, settings(2), edition56, 2)
	n.InStage(wire.Chosen)
	n.Noted("ben is here", told+"left out", "everyone takes another look at the best 1")
	if got := chosen(n); got != addrOf(2).String() {
		t.Errorf("%s is chosen", got)
	}
	culled := n.Room.View().Record.Culled()[selection.WrongVersion]
	if culled.Cause != "version" || culled.Total != 2 || !slices.Equal(culled.Servers[0].Players, []string{"ben"}) {
		t.Errorf("left out: %+v", culled)
	}
	if ben := n.View().People[1]; ben.Name != "ben" || ben.Version != "5.6" {
		t.Errorf("%+v", ben)
	}

	any := settings(2)
	any.AnyVersion = true
	n = versioned(t, any, edition56, 2)
	n.Noted(told+"not left out, as the organiser wants", "the best servers run different versions: 5.14.0 and 5.6.1")
	if got := chosen(n); got != addrOf(0).String() {
		t.Errorf("%s is chosen, whatever the version", got)
	}
	if card := n.View().Choice.Servers[addrOf(0).String()]; card.Version != "5.14.0" ||
		!slices.Equal(card.Shut, []string{"ben"}) || !slices.Equal(card.Other, []string{"ben"}) {
		t.Errorf("%+v", card)
	}
	if card := n.View().Choice.Servers[addrOf(2).String()]; card.Version != "5.6.1" || card.Shut != nil || card.Other != nil {
		t.Errorf("%+v", card)
	}

	// A version's name alone leaves nothing out.
	n = versioned(t, settings(2), map[string]discovery.Edition{"": {Version: "5.2"}}, 2)
	if got := chosen(n); got != addrOf(0).String() {
		t.Errorf("%s is chosen", got)
	}
	if card := n.View().Choice.Servers[addrOf(0).String()]; card.Shut != nil || !slices.Equal(card.Other, []string{"ben"}) {
		t.Errorf("%+v", card)
	}

	// Another game's version proves nothing.
	n = versioned(t, settings(2), map[string]discovery.Edition{"luanti": {Version: "5.6", Protocol: 41}}, 2)
	if got := chosen(n); got != addrOf(0).String() || strings.Contains(n.Story(), "has version") {
		t.Errorf("%s is chosen; the log:\n%s", got, n.Story())
	}

	n = versioned(t, settings(2), edition56, 3)
	n.InStage(wire.Failed)
	n.Noted(strings.Replace(told, "2 servers", "3 servers", 1)+"left out", "no server suits everyone: 3 with another version than ben has")
	if why := strings.Join(catalogue.InEnglish().SayAll(n.View().Choice.Explain), " "); !strings.Contains(why, "Without ben, 3 servers would do") {
		t.Errorf("why: %s", why)
	}
}

// TestHasVersion checks that a version that a player gave on the page survives a return of the
// program and a restart of the host.
func TestHasVersion(t *testing.T) {
	n := versioned(t, settings(2), nil, 2)
	version := func() string { return n.View().People[1].Version }
	if err := n.Step(room.Order{Credential: n.PageOf("ben"), Action: room.Has{Version: "5.6", Editions: edition56}}); err != nil {
		t.Fatal(err)
	}
	shut := n.View().Choice.Servers[addrOf(0).String()].Shut
	if version() != "5.6" || !slices.Equal(shut, []string{"ben"}) {
		t.Errorf("ben has version %s, and a newer server is shut for %v", version(), shut)
	}
	again := wire.Hello{
		Name:     "ben",
		Token:    n.Welcomes["ben"].Token,
		Program:  "BENS",
		Line:     2,
		Editions: map[string]discovery.Edition{"": {Version: "4"}},
	}
	if err := n.Step(room.Join{Hello: again}); err != nil || version() != "5.6" {
		t.Errorf("%v, %s", err, version())
	}
	n.Revive()
	if version() != "5.6" {
		t.Errorf("after a restart %s", version())
	}
	again.Program = "ANOTHER"
	if err := n.Step(room.Join{Hello: again}); err != nil || version() != "4" {
		t.Errorf("%v, %s", err, version())
	}
	if err := n.Step(room.Order{Credential: n.PageOf("ben"), Action: room.Has{}}); err != nil || version() != "" {
		t.Errorf("%v, %s", err, version())
	}
	n.Step(room.Order{Action: room.Enter{Name: "zoe", Token: "zoe's token"}})
	if err := n.OnPage("zoe", room.Has{Version: "1"}); err == nil {
		t.Error("a guest has a version")
	}
}

// TestRoomWantsVersion checks that servers are left out by the organiser's settings for version,
// mod and tags.
func TestRoomWantsVersion(t *testing.T) {
	for patch, want := range map[string]int{`{"version":"5.6"}`: 2, `{"version":"49"}`: 0, `{"version":"5.14"}`: 0,
		`{"mod":"x"}`: -1, `{"tags":"-mod"}`: 0, `{"tags":"mod"}`: -1} {
		s, err := settings(2).Patched([]byte(patch), wire.OnPage)
		if err != nil {
			t.Fatal(err)
		}
		n := versioned(t, s, nil, 2)
		if chosen := n.View().Choice.Selection.Chosen; (chosen == nil) != (want < 0) || chosen != nil && chosen.Addr.AddrPort != addrOf(want) {
			t.Errorf("%s: %+v; the log:\n%s", patch, chosen, n.Story())
		}
	}
}

// TestListedVersions checks that the room takes versions from Luanti's list, because its servers
// report none. A list that is too old leaves nothing out, and people are told so.
func TestListedVersions(t *testing.T) {
	const told = "ben has version 5.6, which doesn’t get into 1 server (5.14.0): "
	for _, c := range []struct {
		age   time.Duration
		heard discovery.Info // from the server that refuses ben
		note  string
		want  int
	}{
		{0, discovery.Info{}, "left out", 1},
		{10 * time.Minute, discovery.Info{}, "not left out, because only an old list says so", 0},
		{10 * time.Minute, discovery.Info{Version: "5.14.0", Protocol: 49, OldestProtocol: 44}, "left out", 1},
	} {
		n := newSession(t, settings(2))
		n.Join("ann")
		n.JoinAs(wire.Hello{Name: "ben", Editions: edition56})
		said := discovery.Said{At: n.Now.Add(-c.age), Infos: map[netip.AddrPort]*discovery.Info{
			addrOf(0): {Name: "New", Version: "5.14.0", Protocol: 49, OldestProtocol: 44, AsListed: true},
			addrOf(1): {Name: "Old", Version: "5.9.0", Protocol: 44, OldestProtocol: 37, AsListed: true},
		}}
		n.Step(room.Listed{List: topology.New(room.Shared(listOf(2), nil)), Said: said})
		for _, name := range []string{"ann", "ben"} {
			n.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 0, Info: c.heard}, {Server: 1}}})
			n.Measures(name, 10, 20)
			n.Done(name)
		}
		n.Noted(told + c.note)
		if chosen := n.View().Choice.Selection.Chosen; chosen == nil || chosen.Addr.AddrPort != addrOf(c.want) {
			t.Errorf("%s: %+v; the log:\n%s", c.note, chosen, n.Story())
		}
	}
}

// TestVersionGoesWithPlayer checks that a player's version follows the player to a new name, and is
// not passed on with the free name of a player who left.
func TestVersionGoesWithPlayer(t *testing.T) {
	n := newSession(t, settings(3))
	n.JoinAs(wire.Hello{Name: "ben", Editions: edition56, Program: "BENS"})
	if err := n.Acts(n.PageOf("ben"), room.Rename{Name: "eve"}); err != nil {
		t.Fatal(err)
	}
	if eve := n.View().People[0]; eve.Name != "eve" || eve.Version != "5.6" {
		t.Errorf("renamed it is %+v", eve)
	}
	if err := n.Acts(n.PageOf("eve"), room.Quit{}); err != nil {
		t.Fatal(err)
	}
	n.Join("eve")
	if eve := n.View().People[0]; eve.Name != "eve" || eve.Version != "" {
		t.Errorf("somebody else of that name is %+v", eve)
	}
}
