package host

import (
	"context"
	"errors"
	"testing"

	"muster/host/access"
	"muster/host/operating"
	"muster/host/wire"
)

// TestOperated checks what an operator sees of a host without others, and does to its rooms.
func TestOperated(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	code, _, err := h.Open(wire.Settings{Game: "openarena", Players: 4})
	if err != nil {
		t.Fatal(err)
	}
	id := access.PublicID(h.Keys(code).Link)
	rooms := h.Desk(nil).Rooms
	if all := rooms.List(); len(all) != 1 || all[0].ID != id || all[0].Wanted != 4 || all[0].Opened.IsZero() {
		t.Errorf("%+v", all)
	}
	if host, err := rooms.Where(id); host != "" || err != nil {
		t.Errorf("%q, %v", host, err)
	}
	if e, err := rooms.Explain(id); err != nil || e.Room.ID != id || len(e.Waits) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if err := rooms.Move(context.Background(), id, "two"); !errors.Is(err, operating.ErrAlone) {
		t.Error(err)
	}
	a := h.actor(code)
	if err := rooms.Close(context.Background(), id, operating.Rules); err != nil {
		t.Fatal(err)
	}
	if why := a.tooLate(); why.Says != operating.Closing(operating.Rules).Says {
		t.Errorf("people read %v", why)
	}
	for name, err := range map[string]error{
		"close": rooms.Close(context.Background(), id, operating.Rules), "move": rooms.Move(context.Background(), "", "x"),
	} {
		if !errors.Is(err, operating.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rooms.Where(id); !errors.Is(err, operating.ErrUnknown) || len(rooms.List()) != 0 {
		t.Errorf("%v, %v", err, rooms.List())
	}
}
