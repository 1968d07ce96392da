package host_test

import (
	"context"
	"testing"
	"time"

	"muster/host"
	"muster/host/store"
	"muster/host/wire"
)

// TestTakenOver: who plays at a host that has lost the room hears nothing of it any more
// but that it has moved, comes back with the token, and is welcomed under a greater
// epoch.
func TestTakenOver(t *testing.T) {
	first := host.NewFakeStore()
	one, at := serve(t, host.Config{List: listOf(2), Store: first})
	two, elsewhere := serveToo(t, host.Config{List: listOf(2), Store: first.On("two")})
	code, _, err := one.Open(friday(2))
	if err != nil {
		t.Fatal(err)
	}
	ann := dial(t, at)
	ann.conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: "ann"})
	was := expect[wire.Welcome](ann)
	if was.Epoch != 1 {
		t.Errorf("the first epoch is %d", was.Epoch)
	}
	first.Dies()
	waitFor(t, "the room at the other host", func() bool { return len(two.Rooms()) == 1 })
	one.Go(code) // which would be the round
	for m := range ann.heard {
		switch m := m.(type) {
		case wire.List, wire.Measure:
			t.Errorf("ann is told %T by a host that has lost the room", m)
		case wire.Refusal:
			if m.Reason != wire.ReasonMoved {
				t.Errorf("ann is told %+v", m)
			}
		}
	}
	again := dial(t, elsewhere)
	again.conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: "ann", Token: was.Token})
	if now := expect[wire.Welcome](again); now.Epoch != 2 || now.Name != "ann" {
		t.Errorf("ann comes back as %+v", now)
	}
}

// TestDrain: a host that ends saves its rooms, leaves them to others, and sends people
// back; a store that takes nothing holds it up no longer than it is given.
func TestDrain(t *testing.T) {
	kept := host.NewFakeStore()
	one, at := serve(t, host.Config{List: listOf(2), Store: kept})
	const rooms = 100
	for range rooms - 1 {
		if _, _, err := one.Open(friday(2)); err != nil {
			t.Fatal(err)
		}
	}
	code, _, _ := one.Open(friday(2))
	ann := join(t, at, code, "ann")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	one.Drain(ctx)
	if ctx.Err() != nil {
		t.Error("it took too long")
	}
	if refusal := expect[wire.Refusal](ann); refusal.Reason != wire.ReasonMoved {
		t.Errorf("ann is told %+v", refusal)
	}
	two, _ := serveToo(t, host.Config{List: listOf(2), Store: kept.On("two")})
	if n := len(two.Rooms()); n != rooms {
		t.Errorf("the next host has %d rooms of %d", n, rooms)
	}
	if s, _ := two.Room(code); len(s.People) != 1 || s.People[0].Name != "ann" {
		t.Errorf("ann's room has %+v", s.People)
	}
	if _, _, err := one.Open(friday(2)); err == nil {
		t.Error("a host that has ended opens a room")
	}
	kept.On("two").Away(true)
	hurry, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	two.Drain(hurry)
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("with a store out of reach it took %v", took)
	}
	if place := kept.Find(code); place.State == store.Unknown {
		t.Error("the room is gone")
	}
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}
