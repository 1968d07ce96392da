package room

import (
	"net/netip"
	"testing"

	"muster/discovery"
	"muster/host/wire"
)

// spreadOut is a list of servers each in a network of its own, in the order of
// addresses.
func spreadOut(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(i), 0, 1}), 27960)
	}
	return list
}

// inVoting is a room whose people agree on one of six servers; ann and bob
// play, zoe and yan have the page. By the mean, server 0 is the best, then 1 …
func inVoting(t *testing.T) *session {
	t.Helper()
	n := newSession(t, settings(2))
	n.room.settings.Agree, n.room.settings.GuestsVote = wire.Yes, true
	for _, name := range []string{"zoe", "yan"} {
		if err := n.enters(name, ""); err != nil {
			t.Fatal(err)
		}
		n.step(PageOpened{name + "'s token"})
	}
	n.join("ann", "bob")
	n.listed(6)
	n.informs("ann", 12, 12, 12, 12, 12, 12)
	n.measures("ann", 10, 20, 30, 40, 50, 60)
	n.measures("bob", 20, 30, 40, 50, 60, 70)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.inStage(wire.Chosen)
	if !n.room.isVoting() {
		t.Fatalf("nobody is asked; the log:\n%s", n.log())
	}
	return n
}

// enters gives somebody with the page a nickname.
func (n *session) enters(name, secret string) error {
	return n.entersFrom(name, secret, netip.AddrFrom4([4]byte{198, 51, 100, name[0]}))
}

func (n *session) entersFrom(name, secret string, from netip.Addr) error {
	return n.step(Order{Credential: secret, Action: Enter{Name: name, Token: name + "'s token", From: from}})
}

// pageOf is the credential of a player's pages.
func (n *session) pageOf(name string) string { return n.room.roster.PageOf(name) }

// tokenOf is that of a player's program.
func (n *session) tokenOf(name string) string {
	for _, p := range n.room.roster.Save().Players {
		if p.Name == name {
			return p.Token
		}
	}
	return ""
}

// choosing is a room of two whose players have measured the same; the nearest
// servers come first.
func choosing(t *testing.T, servers int) *session {
	n := measuring(t, servers, "ann", "bob")
	ms := make([]int, servers)
	for i := range ms {
		ms[i] = 10 * (i + 1)
	}
	for _, name := range []string{"ann", "bob"} {
		n.measures(name, ms...)
	}
	n.done("ann", "bob")
	n.inStage(wire.Chosen)
	return n
}
