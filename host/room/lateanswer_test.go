package room_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// lateRoom returns a room that searches two servers. Ben's version does not get into the nearer one.
func lateRoom(t *testing.T, origins map[string]room.Origin) *session {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Origins = origins
	n.Join("ann")
	n.JoinAs(wire.Hello{Name: "ben", Editions: edition56, Program: "BENS"})
	n.Gets(far()[:2])
	n.InStage(wire.Refining)
	n.Wait(200 * time.Millisecond)
	return n
}

// findsLate lets a player report a server. If the server answered, the report has its facts.
func (n *session) findsLate(name string, state discovery.State, server int) {
	n.Helper()
	info := discovery.Info{Version: "5.14.0", Protocol: 49, OldestProtocol: 44, MaxPlayers: 16}
	if server == 1 {
		info = discovery.Info{Version: "5.6.1", Protocol: 41, OldestProtocol: 37, MaxPlayers: 16}
	}
	result := discovery.Result{Server: server, State: state}
	if state == discovery.Answered {
		result.RTT = 20 * time.Millisecond
		n.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: server, Info: info}}})
	}
	n.Says(name, wire.Report{Round: 1, Results: []discovery.Result{result}})
}

// TestLastAnswer checks that a search waits for the last answer if no server suits everyone without
// it, although everybody has measured one.
func TestLastAnswer(t *testing.T) {
	n := lateRoom(t, map[string]room.Origin{"ann": public("192.0.2.1"), "ben": public("192.0.2.3")})
	for _, name := range []string{"ann", "ben"} {
		n.findsLate(name, discovery.Answered, 0)
	}
	n.findsLate("ann", discovery.Answered, 1)
	n.Wait(8 * time.Second)
	n.InStage(wire.Refining)
	n.findsLate("ben", discovery.Answered, 1)
	n.Wait(300 * time.Millisecond)
	n.InStage(wire.Chosen)
	if got := n.Chosen().Server; got != 1 {
		t.Errorf("server %d is chosen; the log:\n%s", got, n.Story())
	}
}

// TestLastAnswerInstead checks that a search waits as long for a player who was asked in place of
// another at the same address, who has heard nothing.
func TestLastAnswerInstead(t *testing.T) {
	n := lateRoom(t, map[string]room.Origin{"ann": public("192.0.2.1"), "ben": public("192.0.2.1")})
	isAsked := func(name string, server int) bool {
		return slices.ContainsFunc(n.takes(name), func(ask wire.Ask) bool { return slices.Contains(ask.Servers, server) })
	}
	first, second := "ann", "ben"
	for _, name := range []string{"ann", "ben"} {
		n.findsLate(name, discovery.Answered, 0)
	}
	if isAsked("ben", 1) {
		first, second = "ben", "ann"
	}
	n.Wait(7 * time.Second)
	n.findsLate(first, discovery.Lost, 1)
	if !isAsked(second, 1) {
		t.Fatalf("%s is not asked; the log:\n%s", second, n.Story())
	}
	n.Wait(8 * time.Second)
	n.InStage(wire.Refining)
	n.findsLate(second, discovery.Answered, 1)
	n.Wait(300 * time.Millisecond)
	if stage := n.Room.Stage(); stage == wire.Failed {
		t.Errorf("nothing suits; the log:\n%s", n.Story())
	}
}
