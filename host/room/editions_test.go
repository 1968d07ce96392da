package room_test

import (
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/wire"
)

// edition56 is the edition of a version 5.6, in any game.
var edition56 = map[string]discovery.Edition{"": {Version: "5.6"}, "openarena": {Version: "5.6", Protocol: 41}}

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
