package room_test

import (
	"errors"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/wire"
)

// TestGuests: a nickname is kept for a while, an organiser's for good.
func TestGuests(t *testing.T) {
	n := newSession(t, settings(3))
	for name, secret := range map[string]string{"zoe": "", "yan": "secret"} {
		if err := n.enters(name, secret); err != nil {
			t.Fatal(err)
		}
	}
	n.now = n.now.Add(guestStays + time.Second)
	n.step(room.Tick{})
	if n.hasGuest("zoe") || !n.hasGuest("yan") {
		t.Errorf("the guests are %+v", n.guests())
	}
	n.join("ann")
	if n.person("ann").Organiser {
		t.Error("the first player is the organiser, though there is one")
	}
}

// TestLocked: only those who were there can come back to a locked room. Names are no keys to it.
func TestLocked(t *testing.T) {
	n := inVoting(t)
	n.orders(room.Lock{Locked: true})
	if refusal := n.tryJoin("zoe", ""); refusal == nil || refusal.Reason != wire.ReasonLocked {
		t.Errorf("a player comes in by the name of a page: %v", refusal)
	}
	var refusal *wire.Refusal
	if err := n.enters("ann", ""); !errors.As(err, &refusal) || refusal.Reason != wire.ReasonLocked {
		t.Errorf("a page comes in by the name of a player: %v", err)
	}
	n.gone("ann")
	if refusal := n.tryJoin("ann", n.tokens["ann"]); refusal != nil {
		t.Errorf("ann cannot come back: %v", refusal)
	}
	if err := n.enters("anna", n.room.Keys().Secret); err != nil {
		t.Errorf("the organiser cannot open the page: %v", err)
	}
}
