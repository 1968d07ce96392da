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
	n.Join("ann", "bob")
	n.Listed(2)
	n.Informs("ann", 12, 12)
	n.Measures("ann", 10, 50)
	n.Measures("bob", 60, 52)
	n.Done("ann", "bob")
	n.Verifies("ann")
	n.Verifies("bob")
	n.GoesTo(0)
	launched := func() wire.Launch {
		t.Helper()
		launch, is := n.Sent["bob"][len(n.Sent["bob"])-1].(wire.Launch)
		if !is {
			t.Fatalf("bob is sent a %T; the log:\n%s", n.Sent["bob"][len(n.Sent["bob"])-1], n.Story())
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
			n.Revive()
			n.Now = n.Now.Add(-time.Hour)
			n.Step(room.Resume{})
			n.Join("ann", "bob")
		}, 0, true},
	} {
		tt.before()
		if err := n.Orders(room.WhatIf(tt.settings)); err != nil {
			t.Fatal(err)
		}
		if err := n.Orders(room.Apply{}); err != nil {
			t.Fatal(err)
		}
		n.GoesTo(tt.server)
		if again := launched().Again; again > opened != tt.opens {
			t.Errorf("%s: bob's program is told %d after %d", tt.name, again, opened)
		}
		opened = launched().Again
	}
}

// TestReopen checks that players can open their own game once more, and nobody else's.
func TestReopen(t *testing.T) {
	n := choosing(t, 3)
	ask := func(name string) error { return n.Step(room.Order{Credential: n.PageOf(name), Action: room.Reopen{}}) }
	if err := ask("ann"); err == nil {
		t.Error("a game is opened before there is a choice")
	}
	n.Verifies("ann")
	n.Verifies("bob")
	n.InStage(wire.Launching)
	n.Says("ann", wire.Launched{Round: 1, State: wire.LaunchAsking})
	if err := ask("ann"); err == nil {
		t.Error("who is being asked is asked again")
	}
	n.Says("ann", wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: sentence.Plain("no such program")})
	n.Took("ann")
	n.Took("bob")
	n.Wait(time.Second)
	if err := ask("ann"); err != nil {
		t.Fatal(err)
	}
	last := n.Sent["ann"][len(n.Sent["ann"])-1]
	if l, is := last.(wire.Launch); !is || l.Again <= 0 {
		t.Errorf("ann is told %+v", last)
	}
	for _, m := range n.Sent["bob"] {
		if _, is := m.(wire.Launch); is {
			t.Error("bob's game is opened as well")
		}
	}
	if err := n.Orders(room.Reopen{}); err == nil {
		t.Error("whoever has no program has a game opened")
	}
}
