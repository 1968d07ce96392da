package room_test

import (
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/wire"
)

// gone lets looks find a server gone.
func gone(server int) func(*wire.Finalist) {
	return func(look *wire.Finalist) {
		if look.Server == server {
			look.State, look.RTTs, look.Info = discovery.Lost, nil, nil
		}
	}
}

// TestGoneBeforeLaunch checks that nobody goes to a server that the last look found gone.
func TestGoneBeforeLaunch(t *testing.T) {
	n := inVoting(t)
	n.Wait(time.Minute)
	n.Goes()
	n.Wait(revealTime + time.Second)
	n.Adjust = gone(0)
	n.Verifies("ann")
	n.Verifies("bob")
	n.Wait(countdownTime)
	n.GoesTo(1)
	n.Noted("server 0 (192.0.2.0:27960) turned out to be unreachable: server 1 (192.0.2.1:27960) takes its place")

	n = inMatch(t)
	for n.View().Match.Turn != nil {
		n.Wait(time.Second)
	}
	to := n.View().Match.Server
	n.Wait(time.Second)
	server := 0
	for addrOf(server).String() != to {
		server++
	}
	n.Adjust = gone(server)
	for _, name := range []string{"ann", "ben", "emil", "fay"} {
		n.Verifies(name)
	}
	n.Wait(countdownTime)
	if n.InStage(wire.Launching); n.View().Way.Connect == to {
		t.Errorf("the match goes to %s, which is gone; the log:\n%s", to, n.Story())
	}
}

// threeVote returns a room of three who vote on six servers. Server 1 is the best for all, then 2.
// Cat is far from server 0, which is the best without her.
func threeVote(t *testing.T) *session {
	t.Helper()
	s := settings(3)
	s.Agree = wire.Yes
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "bob", "cat")
	n.Listed(6)
	n.Informs("ann", 12, 12, 12, 12, 12, 12)
	n.Measures("ann", 10, 20, 30, 40, 50, 60)
	n.Measures("bob", 10, 20, 30, 40, 50, 60)
	n.Measures("cat", 200, 20, 30, 40, 50, 60)
	n.Done("ann", "bob", "cat")
	for _, name := range []string{"ann", "bob", "cat"} {
		n.Verifies(name)
		n.Step(room.PageOpened{Token: n.PageOf(name)})
	}
	if !n.IsVoting() || n.View().Choice.Target != addrOf(1).String() {
		t.Fatalf("nobody is asked about server 1; the log:\n%s", n.Story())
	}
	return n
}

// TestFollowed checks that one who is back to vote wins time for the others.
func TestFollowed(t *testing.T) {
	n := threeVote(t)
	n.Gone("bob")
	n.Gone("cat")
	n.Wait(attendance.LeftAfter + time.Second)
	n.Join("cat")
	n.Wait(attendance.LeftAfter - time.Second)
	n.Noted("cat is back")
	if strings.Contains(n.Story(), "left.") {
		t.Errorf("bob has no time:\n%s", n.Story())
	}
}

// TestShown checks that the log tells once that a server is hidden no more.
func TestShown(t *testing.T) {
	n := inVoting(t)
	if err := n.Orders(room.Hide{Addr: hostport.At(addrOf(5)), Hidden: true}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := n.Orders(room.Hide{Addr: hostport.At(addrOf(5))}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(n.Story(), "isn’t hidden any more") != 1 {
		t.Errorf("the log:\n%s", n.Story())
	}
}

// TestOnTheWayAgain checks that a player who was on the way is sent to another server that is chosen
// since.
func TestOnTheWayAgain(t *testing.T) {
	s := settings(2)
	s.Agree = wire.No
	n := newSession(t, s)
	n.Join("ann", "bob")
	n.Listed(2)
	n.Informs("ann", 12, 12)
	n.Measures("ann", 10, 50)
	n.Measures("bob", 60, 52)
	n.Done("ann", "bob")
	n.LookAgain()
	n.GoesTo(0)
	n.Says("bob", wire.Launched{Round: 1, State: wire.LaunchStarted})
	if err := n.Orders(room.WhatIf(`{"by":"fairness"}`)); err != nil {
		t.Fatal(err)
	}
	if err := n.Orders(room.Apply{}); err != nil {
		t.Fatal(err)
	}
	n.GoesTo(1)
	n.Gone("bob")
	n.Took("bob")
	n.Join("bob")
	if _, is := newestOf[wire.Launch](n, "bob"); !is {
		t.Errorf("bob, who was on the way to the first server, is not sent to the second; the log:\n%s", n.Story())
	}
}

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
