package room_test

import (
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
)

// TestGoesElsewhere checks that programs take their players to the same server only once a round.
// They do open another server that the room goes to in the same round, whatever the clock says and
// whichever host has the room.
func TestGoesElsewhere(t *testing.T) {
	s := settings(2)
	s.Agree = wire.No
	n := newSession(t, s)
	n.join("ann", "bob")
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 50)
	n.measures("bob", 60, 52)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.goesTo(0)
	launched := func() wire.Launch {
		t.Helper()
		launch, is := n.sent["bob"][len(n.sent["bob"])-1].(wire.Launch)
		if !is {
			t.Fatalf("bob is sent a %T; the log:\n%s", n.sent["bob"][len(n.sent["bob"])-1], n.log())
		}
		return launch
	}
	opened := launched().Again
	for _, tt := range []struct {
		name, settings string
		before         func()
		server         int
		opens          bool
	}{
		{"another rule", `{"by":"fairness"}`, func() {}, 1, true},
		{"a third, by which it is the same", `{"by":"fair-threshold","limits_ms":[100]}`, func() {}, 1, false},
		{"back again, at a host whose clock is slow", `{"by":"mean","limits_ms":[]}`, func() {
			n.revive()
			n.now = n.now.Add(-time.Hour)
			n.step(room.Resume{})
			n.join("ann", "bob")
		}, 0, true},
	} {
		tt.before()
		if err := n.orders(room.WhatIf(tt.settings)); err != nil {
			t.Fatal(err)
		}
		if err := n.orders(room.Apply{}); err != nil {
			t.Fatal(err)
		}
		n.goesTo(tt.server)
		if again := launched().Again; again > opened != tt.opens {
			t.Errorf("%s: bob's program is told %d after %d", tt.name, again, opened)
		}
		opened = launched().Again
	}
}

// TestReopen checks that players can open their own game once more, and nobody else's.
func TestReopen(t *testing.T) {
	n := choosing(t, 3)
	ask := func(name string) error { return n.step(room.Order{Credential: n.pageOf(name), Action: room.Reopen{}}) }
	if err := ask("ann"); err == nil {
		t.Error("a game is opened before there is a choice")
	}
	n.verifies("ann")
	n.verifies("bob")
	n.inStage(wire.Launching)
	n.says("ann", wire.Launched{Round: 1, State: wire.LaunchAsking})
	if err := ask("ann"); err == nil {
		t.Error("who is being asked is asked again")
	}
	n.says("ann", wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: sentence.Plain("no such program")})
	n.took("ann")
	n.took("bob")
	n.wait(time.Second)
	if err := ask("ann"); err != nil {
		t.Fatal(err)
	}
	last := n.sent["ann"][len(n.sent["ann"])-1]
	if l, is := last.(wire.Launch); !is || l.Again != n.now.UnixMilli() {
		t.Errorf("ann is told %+v", last)
	}
	for _, m := range n.sent["bob"] {
		if _, is := m.(wire.Launch); is {
			t.Error("bob's game is opened as well")
		}
	}
	if err := n.orders(room.Reopen{}); err == nil {
		t.Error("whoever has no program has a game opened")
	}
}
