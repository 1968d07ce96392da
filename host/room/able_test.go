package room_test

import (
	"testing"

	"muster/discovery/sentence"
	"muster/host/wire"
)

// TestAble checks that the room names the players who cannot start its game, once and only while it
// plays that game.
func TestAble(t *testing.T) {
	n := newSession(t, settings(0))
	n.Join("ann", "bob")
	if p := n.Person("bob"); p.Able || !p.Unable.IsZero() {
		t.Errorf("before bob's program has said anything: %+v", p)
	}
	game := n.View().Room.Game
	cannot := wire.Able{Game: game, Why: sentence.Plain("there is no program openarena")}
	n.Says("ann", wire.Able{Game: game})
	n.Says("bob", cannot)
	n.Says("bob", cannot)
	if p := n.Person("ann"); !p.Able || !p.Unable.IsZero() {
		t.Errorf("ann can: %+v", p)
	}
	if p := n.Person("bob"); p.Able || p.Unable != cannot.Why {
		t.Errorf("bob cannot: %+v", p)
	}
	noted := 0
	for _, note := range n.View().Log {
		if note.String() == "bob can’t start openarena: there is no program openarena" {
			noted++
		}
	}
	if noted != 1 {
		t.Errorf("noted %d times", noted)
	}
	n.Says("bob", wire.Able{Game: "another", Why: sentence.Plain("no")})
	if p := n.Person("bob"); p.Able || !p.Unable.IsZero() {
		t.Errorf("of another game nothing is shown: %+v", p)
	}
}
