package room_test

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// repeats reports everything that a player measured, as a program does whose connection is new.
func (n *session) repeats(player int, name string, servers int) {
	n.Helper()
	infos, report := wire.Infos{Round: n.Round()}, wire.Report{Round: n.Round()}
	for server := range servers {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: farRTT(player, server)})
	}
	n.Says(name, infos)
	n.Says(name, report)
}

// TestReturnsLast checks that a player who returns after a restart of the host is not judged by
// results that the restored room has not asked for.
func TestReturnsLast(t *testing.T) {
	s := settings(4)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	names := []string{"ann", "bob", "dan", "cat"}
	n.Join(names...)
	n.Gets(far()[:120])
	n.InStage(wire.Refining)
	n.Restarts(time.Second)
	for player, name := range names {
		n.Join(name)
		n.repeats(player, name, 120)
	}
	n.searchesOn(names...)
	n.InStage(wire.Chosen)
	for _, name := range names {
		if n.IsOut(name) {
			t.Errorf("%s is left out; the log:\n%s", name, n.Story())
		}
	}
}

// TestDownForAMoment checks that a player whose line is down when the search begins still counts.
func TestDownForAMoment(t *testing.T) {
	n := searchingFor(t, room.Tuning{}, settings(4), "ann", "bob", "cat", "dan")
	var unanswered []int
	for n.Now.Sub(eight) < 3*time.Second { // a question gets no answer for two seconds, and is given up
		n.Wait(200 * time.Millisecond)
		for player, name := range []string{"ann", "bob", "cat"} {
			n.answers(player, name)
		}
		for _, ask := range n.takes("dan") {
			unanswered = append(unanswered, ask.Servers...)
		}
	}
	n.denies("dan", discovery.Lost, unanswered[:len(unanswered)/2]...)
	n.Wait(200 * time.Millisecond)
	for _, server := range unanswered[len(unanswered)/2:] {
		n.Finds("dan", discovery.Answered, farRTT(3, server), server)
	}
	n.searchesOn("ann", "bob", "cat", "dan")
	n.InStage(wire.Chosen)
	if n.IsOut("dan") {
		t.Errorf("dan is left out; the log:\n%s", n.Story())
	}
}
