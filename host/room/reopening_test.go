package room

import (
	"testing"
	"time"

	"muster/host/wire"
)

// TestReopen: whose game did not open has it opened once more from their own page, and
// nobody else's is.
func TestReopen(t *testing.T) {
	n := choosing(t, 3)
	ask := func(name string) error { return n.step(Order{Credential: n.pageOf(name), Action: Reopen{}}) }
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
	n.says("ann", wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: "no such program"})
	n.took("ann")
	n.took("bob")
	n.wait(time.Second)
	if err := ask("ann"); err != nil {
		t.Fatal(err)
	}
	last := n.sent["ann"][len(n.sent["ann"])-1]
	if l, is := last.(wire.Launch); !is || l.Again != n.room.now.UnixMilli() {
		t.Errorf("ann is told %+v", last)
	}
	for _, m := range n.sent["bob"] {
		if _, is := m.(wire.Launch); is {
			t.Error("bob's game is opened as well")
		}
	}
	if err := n.orders(Reopen{}); err == nil {
		t.Error("whoever has no program has a game opened")
	}
}
